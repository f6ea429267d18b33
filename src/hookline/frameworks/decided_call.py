"""A call between the decision of hooks and its tool.

Code of the program may run in between, such as another middleware, and change the call. An adapter looks here at the last
point before the tool: a call that hooks have not decided about is decided there.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from hookline.frameworks.agent_run import AgentRun, CallAnswer, FrameworkCall
from hookline.frameworks.question_id import question_id
from hookline.hosts.python.session import Question
from hookline.lazy_dataclasses import dataclass, replace


class DecidedCall:
    """A call that hooks allowed. `call` has the input that they left."""

    def __init__(
        self,
        run: AgentRun,
        call: FrameworkCall,
        input: dict[str, Any],
        ask: Callable[[Question], bool] = lambda question: False,
    ) -> None:
        """ask: asks a person in the framework's own way, on the way to the tool."""
        self.run = run
        self._ask = ask
        self.call = replace(call, input=copy.deepcopy(input))  # the framework's own is changed in place
        self.refusal: str | None = None
        self.has_run = False
        self._running = 0

    @property
    def was_stopped(self) -> bool:
        """Hooks refused what the call had become, and no tool ran."""
        return self.refusal is not None and not self.has_run

    @property
    def is_running(self) -> bool:
        return self._running > 0

    @property
    def was_reached(self) -> bool:
        """A tool ran, or hooks refused what reached it."""
        return self.has_run or self.refusal is not None

    async def answer(self, call: FrameworkCall) -> CallAnswer:
        """What to do with a call that reaches a tool: `input` or `refusal`."""
        answer = await self._decide(call)
        if answer.question is None:
            return answer
        return await self._decide(call, approved=self._ask(answer.question), answered=question_id(answer.question))

    def answer_sync(self, call: FrameworkCall) -> CallAnswer:
        answer = self.run.hooks.run_sync(self._decide(call))
        if answer.question is None:
            return answer
        approved = self._ask(answer.question)
        return self.run.hooks.run_sync(self._decide(call, approved=approved, answered=question_id(answer.question)))

    async def _decide(
        self, call: FrameworkCall, *, approved: bool | None = None, answered: str | None = None
    ) -> CallAnswer:
        """The same call as before needs no new decision."""
        is_same = call.name == self.call.name and call.has_input_of(self.call)
        if is_same and self.run.halted is None:
            return CallAnswer(call.input)
        answer = await self.run.before_tool(call, approved=approved, answered=answered)
        if answer.refusal is not None:
            self.refusal = answer.refusal
        return answer

    def mark_running(self, call: FrameworkCall, input: dict[str, Any]) -> None:
        """The tool begins to run with this input."""
        self.has_run = True
        is_undecided = not self.call.name
        if is_undecided or call.name == self.call.name or call.id == self.call.id:
            self.call = replace(call, id=self.call.id or call.id, input=copy.deepcopy(input))

    @contextmanager
    def pending(self, key: object, tools: Iterable[object] = ()) -> Iterator[None]:
        """Around code that runs after the decision and may change the call.

        key: an object that the framework hands on to the tool, or a text that names the call
        tools: those that the code could run itself
        """
        waiting, place = _PendingCall(self, threading.get_ident(), tuple(tools)), _identity(key)
        with _lock:
            _calls[place] = (*_calls.get(place, ()), waiting)
            _waiting.append(waiting)
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)
            with _lock:
                _waiting.remove(waiting)
                left = tuple(each for each in _calls.pop(place) if each is not waiting)
                if left:
                    _calls[place] = left

    @contextmanager
    def running(self, call: FrameworkCall, input: dict[str, Any]) -> Iterator[None]:
        """Around the tool's own code. Hooks do not decide here about calls that it makes itself."""
        self.mark_running(call, input)
        token = _current.set(_INSIDE_TOOL)
        with _lock:
            self._running += 1
        try:
            yield
        finally:
            _current.reset(token)
            with _lock:
                self._running -= 1


def new_undecided_call(run: AgentRun, id: str | None) -> DecidedCall:
    """Around code that may run the tool before hooks are asked. It is empty, so that it differs from every call of a tool."""
    return DecidedCall(run, FrameworkCall("", {}, id or ""), {})


@dataclass(frozen=True, slots=True, eq=False)
class _PendingCall:
    decided: DecidedCall
    thread: int  # which waits for it
    tools: tuple[object, ...]  # that the code around it could run itself


_INSIDE_TOOL: Final = "inside a tool"
_WITHOUT_HOOKS: Final = "in an agent without hooks"
_current: Final[ContextVar[DecidedCall | str | None]] = ContextVar("decided_call", default=None)
_calls: Final[dict[int | str, tuple[_PendingCall, ...]]] = {}
"""By what `_identity` returns of a key, for threads without the context; the innermost is the last."""
_waiting: Final[list[_PendingCall]] = []  # all of them
_lock: Final = threading.Lock()


def _identity(key: object) -> int | str:
    return key if isinstance(key, str) else id(key)


def find_decided_call(key: object = None, *, tool: object = None) -> DecidedCall | None:
    """The call that was decided and has not reached its tool yet. None for an agent without hooks, and inside of a tool.

    tool: what is about to run. In a thread without the context, that is by code around a pending call which could run it.
    """
    current = _current.get()
    if isinstance(current, str):
        return None
    waiting = _calls.get(_identity(key))
    if waiting:
        return waiting[-1].decided
    return current or (None if tool is None else _waiting_elsewhere(tool))


def _waiting_elsewhere(tool: object) -> DecidedCall | None:
    """The innermost call that another thread waits for: in its own thread, the context says which one it is.

    A tool that runs may start threads, too. What these call is part of it.
    """
    with _lock:
        calls = [each for each in reversed(_waiting) if any(one is tool for one in each.tools)]
    running = {each.decided.call.id for each in calls if each.decided.is_running} - {""}
    this = threading.get_ident()
    free = [each.decided for each in calls if each.thread != this and not each.decided.is_running]
    return next((each for each in free if each.call.id not in running), None)


@contextmanager
def without_hooks() -> Iterator[None]:
    """Around a call of an agent without hooks, whose tools other agents may have, too."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(_WITHOUT_HOOKS)
    try:
        yield
    finally:
        _current.reset(token)
