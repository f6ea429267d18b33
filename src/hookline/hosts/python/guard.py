"""Guards a Python tool: hooks decide before it runs and see its result.

The tool's arguments become facts by parameter name, and changed facts become arguments again.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import inspect
import operator
import os
from collections import UserString
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from enum import Enum
from inspect import Parameter
from io import BytesIO, IOBase, StringIO
from itertools import islice
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, Final, Literal

from hookline.engine.decision import Decision
from hookline.errors import Denied, Halted, HooklineError, ToolFailed
from hookline.hooks.event import MISSING, deep_equal
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind, kind_of_name
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.session import Session, current_session, new_call_id, raise_if_denied
from hookline.lazy_dataclasses import dataclass, field

_MAX_DEPTH: Final = 50
_MAX_ITEMS: Final = 100_000  # of an iterator
# A subclass may say something else than it holds, so these copy what it holds.
_PLAIN_COPIES: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
)


def to_plain_value(value: Any, depth: int = 0) -> Any:
    """Plain text, numbers, lists and mappings. A path becomes its text; a value without a plain form, the name of its type."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if depth > _MAX_DEPTH:
        return "…"
    for plain, copy in _PLAIN_COPIES:
        if isinstance(value, plain):
            return copy(value)
    if isinstance(value, Enum):
        return to_plain_value(value.value, depth + 1)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(memoryview(value)).decode("utf-8", "replace")
    if isinstance(value, os.PathLike):
        return to_plain_value(os.fspath(value), depth + 1)
    return _plain_parts(value, depth)


def _plain_parts(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {str(to_plain_value(key, depth + 1)): to_plain_value(held, depth + 1) for key, held in value.items()}
    if isinstance(value, JudgedIterator):
        return to_plain_value(value.items, depth + 1)
    if isinstance(value, UserString):
        return to_plain_value(value.data, depth + 1)
    if isinstance(value, (Sequence, Set, ValuesView)):
        return [to_plain_value(held, depth + 1) for held in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: to_plain_value(getattr(value, each.name, None), depth + 1) for each in dataclasses.fields(value)
        }
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return to_plain_value(value.model_dump(), depth + 1)
    if isinstance(value, SimpleNamespace):
        return to_plain_value(vars(value), depth + 1)
    if isinstance(value, (StringIO, BytesIO)):
        return to_plain_value(value.getvalue(), depth + 1)
    if isinstance(value, IOBase):
        return to_plain_value(getattr(value, "name", None), depth + 1)
    return _read_object(value, depth)


def _read_object(value: Any, depth: int) -> Any:
    """The items of what can be gone over more than once, or the text of an object that has one, such as a URL."""
    kind, unknown = type(value), f"<{type(value).__name__}>"
    if isinstance(value, (type, Iterator)):
        return unknown
    try:
        if callable(getattr(kind, "tolist", None)):  # an array
            return to_plain_value(value.tolist(), depth + 1)
        if hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"):
            return [to_plain_value(held, depth + 1) for held in value]
        has_text = kind.__str__ is not object.__str__  # type: ignore[comparison-overlap]
        return str(value) if has_text else unknown
    except Exception:  # the object's own code
        return unknown


def to_judged_value(value: Any, depth: int = 0) -> Any:
    """The value without classes that could say one thing to hooks and another to the tool. Other values are unchanged."""
    if depth > _MAX_DEPTH or isinstance(value, (Enum, PurePath)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, os.PathLike):
        return to_judged_value(os.fspath(value), depth + 1)
    if type(value) in (list, tuple):
        items = [to_judged_value(item, depth + 1) for item in value]
        return value if all(map(operator.is_, items, value)) else type(value)(items)
    if type(value) is dict:
        held = {key: to_judged_value(item, depth + 1) for key, item in value.items()}
        return value if all(held[key] is value[key] for key in value) else held
    if isinstance(value, Iterator) and not isinstance(value, IOBase):
        return JudgedIterator(map(to_judged_value, _read_items(value)))
    return value


class JudgedIterator(Iterator[Any]):
    """An iterator whose items hooks have seen: the tool goes over the same ones."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)
        self._left = iter(self.items)

    def __next__(self) -> Any:
        return next(self._left)


def _read_items(value: Iterator[Any]) -> list[Any]:
    items = list(islice(value, _MAX_ITEMS + 1))
    if len(items) > _MAX_ITEMS:
        raise Denied(f"an argument yields more than {_MAX_ITEMS:,} values, which hooks cannot check")
    return items


_SELF_NAMES = ("self", "cls")


@dataclass(frozen=True)
class ToolArguments:
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    input: dict[str, Any]
    bound: inspect.BoundArguments | None  # None: the function has no readable signature
    call: str = field(default_factory=new_call_id)  # the id of the call

    def with_input(self, left: Any) -> ToolArguments:
        """Replaces only what hooks changed; other arguments stay the same objects. Raises Denied.

        The input has the defaults in the place of what hooks removed.
        """
        if self.bound is None or not isinstance(left, dict):
            raise Denied("a hook changed the input to something the tool cannot accept")
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        rest = dict(left)
        for parameter in self.bound.signature.parameters.values():
            if parameter.kind is Parameter.VAR_POSITIONAL:
                args += self._restore_value(parameter.name, rest.pop(parameter.name, []))
            elif parameter.kind is Parameter.VAR_KEYWORD:
                kwargs |= {name: self._restore_value(name, rest.pop(name)) for name in list(rest)}
            elif parameter.kind is Parameter.KEYWORD_ONLY:
                kwargs[parameter.name] = self._take_value(parameter, rest)
            else:
                args.append(self._take_value(parameter, rest))
        if rest:
            raise Denied(f"a hook gave {next(iter(rest))}, which is not a parameter of the tool")
        bound = self.bound.signature.bind(*args, **kwargs)
        return ToolArguments(tuple(args), kwargs, {**self._defaults_missing_in(left), **left}, bound, self.call)

    def _defaults_missing_in(self, left: dict[str, Any]) -> dict[str, Any]:
        parameters = self.bound.signature.parameters.values() if self.bound is not None else ()
        missing = (each for each in parameters if each.name not in left and each.default is not Parameter.empty)
        return {each.name: to_plain_value(each.default) for each in missing if not _is_self(self.bound, each.name)}

    def _take_value(self, parameter: Parameter, rest: dict[str, Any]) -> Any:
        if _is_self(self.bound, parameter.name):
            return self._original_value(parameter.name)
        if parameter.name in rest:
            return self._restore_value(parameter.name, rest.pop(parameter.name))
        if parameter.default is Parameter.empty:
            raise Denied(f"a hook removed {parameter.name}, which the tool requires")
        return parameter.default

    def _restore_value(self, name: str, new: Any) -> Any:
        old = self._original_value(name)
        if old is not MISSING and deep_equal(to_plain_value(old), new):
            return old
        return type(old)(new) if isinstance(old, PurePath) and isinstance(new, str) else new

    def _original_value(self, name: str) -> Any:
        held = self.bound.arguments if self.bound is not None else {}
        if name in held:
            return held[name]
        named = self.bound.signature.parameters.values() if self.bound is not None else ()
        rest = next((each.name for each in named if each.kind is Parameter.VAR_KEYWORD), None)
        return held.get(rest, {}).get(name, MISSING) if rest is not None else MISSING


def bind_arguments(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolArguments:
    """Raises TypeError as the tool itself would."""
    args = tuple(to_judged_value(value) for value in args)
    kwargs = {name: to_judged_value(value) for name, value in kwargs.items()}
    try:
        signature = inspect.signature(tool)
    except ValueError:  # some functions written in C have no readable signature
        return ToolArguments(args, kwargs, to_plain_value({"args": list(args), **kwargs} if args else kwargs), None)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return ToolArguments(bound.args, bound.kwargs, _input_facts(bound), bound)


def _input_facts(bound: inspect.BoundArguments) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is Parameter.VAR_KEYWORD:
            facts |= to_plain_value(value)
        elif not _is_self(bound, name):
            facts[name] = to_plain_value(value)
    return facts


def _is_self(bound: inspect.BoundArguments | None, name: str) -> bool:
    """True for the parameter of a method's own object, which is not an input."""
    return bound is not None and name in _SELF_NAMES and name == next(iter(bound.signature.parameters), None)


OnDeny = Literal["raise", "return"]


def guard(
    tool: Any = None,
    *,
    name: str | None = None,
    kind: str | None = None,
    on_deny: OnDeny = "raise",
    session: Session | None = None,
) -> Any:
    """Returns the tool with hooks around it. Works as a decorator or a call, for sync and async tools.

    A denied call raises Denied, or with `on_deny="return"` returns the reason as the tool's result. Hooks see the tool under
    `name` and `kind`. Without `name`, it is the function's name, or the `name` of a tool object. Without a session, the
    current one is used.
    """
    if tool is None:
        return functools.partial(guard, name=name, kind=kind, on_deny=on_deny, session=session)
    if on_deny not in ("raise", "return"):
        raise HooklineError(f"on_deny must be 'raise' or 'return', not {on_deny!r}")
    _refuse_framework_tool(tool)
    if not callable(tool):
        raise HooklineError(f"{type(tool).__name__} cannot be called. Guard the function that it runs.")
    if inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool):
        raise HooklineError(f"guard cannot show hooks what {_tool_name(tool)} yields; return the values as a list")
    called = name or _tool_name(tool)
    guarded = _GuardedTool(tool, called, _tool_kind(kind, called), on_deny, session)
    if session is not None:
        session.tools[called] = guarded.call_from_hook
    return guarded.as_function()


_FRAMEWORK_PACKAGES: Final = {
    "agent_framework": ("Microsoft's Agent Framework", "agent_framework.hookline_middleware"),
    "agents": ("the OpenAI Agents SDK", "openai_agents.HooklineHooks"),
    "claude_agent_sdk": ("the Claude Agent SDK", "claude_agent_sdk.HooklineHooks"),
    "crewai": ("CrewAI", "crewai.HooklineHooks"),
    "google.adk": ("Google ADK", "google_adk.HooklinePlugin"),
    "haystack": ("Haystack", "haystack.hookline_hooks"),
    "langchain": ("LangChain", "langchain.HooklineMiddleware"),
    "langchain_core": ("LangChain", "langchain.HooklineMiddleware"),
    "llama_index": ("LlamaIndex", "llama_index.HooklineHooks"),
    "pydantic_ai": ("pydantic-ai", "pydantic_ai.HooklineCapability"),
    "smolagents": ("smolagents", "smolagents.HooklineHooks"),
    "strands": ("Strands Agents", "strands.HooklineHandler"),
}
"""Package → the framework, and its adapter in hookline.frameworks."""


def _refuse_framework_tool(tool: Any) -> None:
    """A framework would not recognise its own tool with a function around it."""
    kind = tool if isinstance(tool, type) else type(tool)
    packages = {".".join(each.__module__.split(".")[:count]) for each in kind.__mro__ for count in (1, 2)}
    package = next((name for name in _FRAMEWORK_PACKAGES if name in packages), None)
    if package is None:
        return
    framework, adapter = _FRAMEWORK_PACKAGES[package]
    raise HooklineError(
        f"{kind.__name__} is a tool of {framework}. "
        f"Use hookline.frameworks.{adapter}, or guard the function before you make a tool of it."
    )


def _tool_name(tool: Any) -> str:
    """Hooks match tools by their names, so an object's own name counts before that of its class."""
    while isinstance(tool, functools.partial):
        tool = tool.func
    for own in (getattr(tool, "__name__", None), getattr(tool, "name", None)):
        if isinstance(own, str) and own:
            return own
    return type(tool).__name__


def _tool_kind(kind: str | None, name: str) -> str:
    if kind is not None and kind not in {str(each) for each in ToolKind}:
        raise HooklineError(f"{kind!r} is not a kind of tool; the kinds are {', '.join(ToolKind)}")
    return kind or str(kind_of_name(name))


@dataclass(frozen=True)
class _GuardedTool:
    tool: Callable[..., Any]
    name: str
    kind: str
    on_deny: OnDeny
    session: Session | None

    def as_function(self) -> Callable[..., Any]:
        function = self._async_wrapper() if inspect.iscoroutinefunction(self._code_object) else self._sync_wrapper()
        return functools.update_wrapper(function, self.tool)

    @property
    def _code_object(self) -> Any:
        if inspect.isroutine(self.tool) or isinstance(self.tool, functools.partial):
            return self.tool
        return getattr(self.tool, "__call__", self.tool)  # noqa: B004

    def _async_wrapper(self) -> Callable[..., Any]:
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            around = self.session or current_session()
            try:
                asked = bind_arguments(self.tool, args, kwargs)
                given = await self._fire_before(around, asked)
            except Denied as denied:
                return self._raise_or_return(denied)
            return await self._finish(around, given, self.tool(*given.args, **given.kwargs))

        return guarded

    def _sync_wrapper(self) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            around = self.session or current_session()
            try:
                asked = bind_arguments(self.tool, args, kwargs)
                given = around.run(self._fire_before(around, asked))
            except Denied as denied:
                return self._raise_or_return(denied)
            try:
                result = self.tool(*given.args, **given.kwargs)
            except Exception as error:
                return around.run(self._fire_after(around, given, error=error))
            if inspect.isawaitable(result):  # the caller awaits it, and hooks must see what it returns
                return self._finish(around, given, result)
            return around.run(self._fire_after(around, given, result))

        return guarded

    def _raise_or_return(self, denied: Denied) -> str:
        if self.on_deny == "raise" or isinstance(denied, Halted):
            raise denied
        return str(denied)

    async def _fire_before(self, around: Session, asked: ToolArguments, is_again: bool = False) -> ToolArguments:
        """Returns the arguments as the hooks left them. Raises Denied.

        Hooks that remove an argument let its default apply, so they decide about the default, too.
        """
        tool = {"name": self.name, "kind": self.kind, "id": asked.call, "input": asked.input}
        around.raise_if_halted(tool)
        decision = await around.decide("tool.before", tool=tool)
        await around.agree(decision)
        left = decision.event.read(("tool", "input"))
        if deep_equal(left, asked.input):
            return asked
        try:
            given = asked.with_input(left)
            removed = [name for name in given.input if name not in left]
            if removed and is_again:
                raise Denied(f"a hook removed {', '.join(removed)}, which has a default")
        except Denied as denied:
            around.record_outcome(decision, ToolResult(None, False, str(denied)))
            raise
        return await self._fire_before(around, given, is_again=True) if removed else given

    async def _finish(self, around: Session, given: ToolArguments, running: Awaitable[Any]) -> Any:
        try:
            result = await running
        except Exception as error:
            return await self._fire_after(around, given, error=error)
        return await self._fire_after(around, given, result)

    async def _fire_after(
        self, around: Session, given: ToolArguments, result: Any = None, error: Exception | None = None
    ) -> Any:
        """Returns the tool's result, or raises its error, as the hooks left it."""
        around.tool_calls += 1
        ended: dict[str, Any] = {"ok": True, "result": to_plain_value(result)}
        if error is not None:
            ended = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        tool = {"name": self.name, "kind": self.kind, "id": given.call, "input": given.input, **ended}
        decision = await _decide_result(around, tool, "tool.succeeded" if error is None else "tool.failed")
        if error is not None and decision.event.read(("tool", "ok")) is not True:
            left = _changed_error(decision, ended["error"])
            if left is None:
                raise error
            raise ToolFailed(left) from None
        if decision.event.read(("tool", "ok")) is False:
            raise ToolFailed(_error_from_hooks(decision))
        return _result_after_hooks(decision, ended, result)

    async def call_from_hook(self, input: dict[str, Any]) -> Any:
        """Runs a call that hooks have already decided."""
        given = bind_arguments(self.tool, (), input)
        if inspect.iscoroutinefunction(self._code_object):
            return to_plain_value(await self.tool(*given.args, **given.kwargs))
        result = await asyncio.to_thread(self.tool, *given.args, **given.kwargs)
        return to_plain_value(await result if inspect.isawaitable(result) else result)


async def _decide_result(around: Session, tool: dict[str, Any], ended: str) -> Decision:
    """Each event gets the result that the one before it left, as in every other host. Raises Denied."""
    for event in (ended, "tool.after", "tool.store"):
        if event == "tool.after" or around.book.hears(event):
            decision = await around.decide(event, tool=tool)
            raise_if_denied(decision)
            tool = decision.event.facts["tool"]
    return decision


def _changed_error(decision: Decision, original: str) -> str | None:
    """The error text as hooks changed it; None if they did not."""
    result, error = (decision.event.read(("tool", name)) for name in ("result", "error"))
    if result is MISSING and error == original:
        return None
    changed = next((each for each in (result, error) if each not in (MISSING, None, original)), "Withheld by a hook")
    return value_text(changed)


def _error_from_hooks(decision: Decision) -> str:
    """Why a call that succeeded counts as failed."""
    tool = decision.event.facts["tool"]
    return value_text(tool.get("error") or tool.get("result") or "Withheld by a hook")


def _result_after_hooks(decision: Decision, ended: dict[str, Any], result: Any) -> Any:
    left = decision.event.read(("tool", "result"))
    if left is MISSING or deep_equal(left, ended.get("result", MISSING)):
        return result
    return left
