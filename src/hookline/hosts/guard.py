"""Puts hooks around a tool: they decide before it runs, and see what came of it."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hookline.engine.account import Decision
from hookline.errors import Denied, Halted, HooklineError, ToolFailed
from hookline.hooks.event import MISSING, same
from hookline.hooks.tools import Kind, kind_of
from hookline.hosts.answer import text_of
from hookline.hosts.arguments import Arguments, arguments
from hookline.hosts.plain import plain
from hookline.hosts.session import Session, current, obey

OnDeny = Literal["raise", "return"]


def guard(
    tool: Any = None,
    *,
    name: str | None = None,
    kind: str | None = None,
    on_deny: OnDeny = "raise",
    session: Session | None = None,
) -> Any:
    """The tool with hooks around it, as a decorator or a call; it may be async or not.

    A denied call raises Denied, or with `on_deny="return"` returns the reason as the tool's result. `name` and `kind`
    are what hooks know the tool by; without a session, the one counts in which it is called.
    """
    if tool is None:
        return functools.partial(guard, name=name, kind=kind, on_deny=on_deny, session=session)
    if on_deny not in ("raise", "return"):
        raise HooklineError(f"on_deny is 'raise' or 'return', not {on_deny!r}")
    called = name or getattr(tool, "__name__", "") or type(tool).__name__
    guarded = _Guarded(tool, called, _kind(kind, called), on_deny, session)
    if session is not None:
        session.tools[called] = guarded.called_by_hook
    return guarded.as_function()


def _kind(kind: str | None, name: str) -> str:
    if kind is not None and kind not in {str(each) for each in Kind}:
        raise HooklineError(f"there is no kind of tool {kind!r}; the kinds are {', '.join(Kind)}")
    return kind or str(kind_of(name))


@dataclass(frozen=True)
class _Guarded:
    tool: Callable[..., Any]
    name: str
    kind: str
    on_deny: OnDeny
    session: Session | None

    def as_function(self) -> Callable[..., Any]:
        function = self._waiting() if inspect.iscoroutinefunction(self._code) else self._plain()
        return functools.update_wrapper(function, self.tool)

    @property
    def _code(self) -> Any:
        return self.tool if inspect.isroutine(self.tool) else getattr(self.tool, "__call__", self.tool)  # noqa: B004

    def _waiting(self) -> Callable[..., Any]:
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            around = self.session or current()
            asked = arguments(self.tool, args, kwargs)
            try:
                given = await self._before(around, asked)
            except Denied as denied:
                return self._denied(denied)
            try:
                result = await self.tool(*given.args, **given.kwargs)
            except Exception as error:
                return await self._after(around, given, error=error)
            return await self._after(around, given, result)

        return guarded

    def _plain(self) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            around = self.session or current()
            asked = arguments(self.tool, args, kwargs)
            try:
                given = around.run(self._before(around, asked))
            except Denied as denied:
                return self._denied(denied)
            try:
                result = self.tool(*given.args, **given.kwargs)
            except Exception as error:
                return around.run(self._after(around, given, error=error))
            return around.run(self._after(around, given, result))

        return guarded

    def _denied(self, denied: Denied) -> str:
        if self.on_deny == "raise" or isinstance(denied, Halted):
            raise denied
        return str(denied)

    async def _before(self, around: Session, asked: Arguments) -> Arguments:
        """The arguments as the hooks left them. Raises Denied."""
        tool = {"name": self.name, "kind": self.kind, "input": asked.input}
        decision = await around.decide("tool.before", tool=tool)
        await around.agree(decision)
        left = decision.event.read(("tool", "input"))
        return asked if same(left, asked.input) else asked.changed(left)

    async def _after(
        self, around: Session, given: Arguments, result: Any = None, error: Exception | None = None
    ) -> Any:
        """What the tool returned, or raises what it raised, unless a hook changed that."""
        around.tool_calls += 1
        ended: dict[str, Any] = {"ok": True, "result": plain(result)}
        if error is not None:
            ended = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        tool = {"name": self.name, "kind": self.kind, "input": given.input, **ended}
        decision = await around.decide("tool.after", tool=tool)
        obey(decision)
        if error is not None and decision.event.read(("tool", "ok")) is not True:
            left = _left_of(decision, ended["error"])
            if left is None:
                raise error
            raise ToolFailed(left) from None
        return _result(decision, ended, result)

    async def called_by_hook(self, input: dict[str, Any]) -> Any:
        """Hooks decided this call already."""
        given = arguments(self.tool, (), input)
        if inspect.iscoroutinefunction(self._code):
            return plain(await self.tool(*given.args, **given.kwargs))
        return plain(await asyncio.to_thread(self.tool, *given.args, **given.kwargs))


def _left_of(decision: Decision, told: str) -> str | None:
    """What hooks left of a failure's words; None if all of them."""
    result, error = (decision.event.read(("tool", name)) for name in ("result", "error"))
    if result is MISSING and error == told:
        return None
    said = next((each for each in (result, error) if each not in (MISSING, None, told)), "Withheld by a hook")
    return text_of(said)


def _result(decision: Decision, ended: dict[str, Any], result: Any) -> Any:
    left = decision.event.read(("tool", "result"))
    if left is MISSING or same(left, ended.get("result", MISSING)):
        return result
    return left
