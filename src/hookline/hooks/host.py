"""The only way out of an action: tools, programs, scripts, a model, people, time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, Protocol

from hookline.errors import Unavailable
from hookline.hooks.event import Event

if TYPE_CHECKING:
    from hookline.hooks.hook import Hook
    from hookline.hooks.thread import Thread


@dataclass(frozen=True, slots=True)
class Command:
    """One program to run: shell text that a template made safe, or an argv."""

    text: str = ""
    argv: tuple[str, ...] = ()  # if not empty, run as it is, without a shell
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)  # added to, or instead of, ours
    inherit_env: bool | tuple[str, ...] = True  # all of ours, none, or just these names
    without_env: tuple[str, ...] = ()  # names of ours that the program must not see
    cwd: str | None = None
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended by itself. One that could not start, was killed or ran out of time raises Failed."""

    exit_code: int
    stdout: str
    stderr: str
    dropped: int = 0  # bytes of output past what is kept
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Post:
    """JSON for a URL. In the headers, `$NAME` and `${NAME}` stand for the variables of the environment in `variables`."""

    url: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()  # any other name stands for nothing
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Posted:
    """What came back. A URL that cannot be reached, or does not answer in time, raises Failed."""

    status: int
    text: str
    dropped: int = 0  # bytes of the answer past what is kept


@dataclass(frozen=True, slots=True)
class Script:
    """JavaScript: the body of an async function, with these names defined."""

    source: str
    variables: Mapping[str, Any]
    timeout: timedelta = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function, with what it is called with. It may be anybody's code."""

    name: str  # as messages show it
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    content: Any
    ok: bool = True
    error: str = ""
    attachments: tuple[dict[str, Any], ...] = ()  # files that came with it: data to store, or references
    made: bool = True  # False: nothing was called, and this stands for what would have come back


@dataclass(frozen=True, slots=True)
class Notice:
    """Something for the people who watch: a notification, or data on a channel."""

    channel: str
    message: str
    title: str = ""
    level: str = "info"
    tag: str = ""
    hook: str = ""
    data: Any = None


class Clock(Protocol):
    def now(self) -> float:
        """Seconds on a clock that never goes back."""

    def wall(self) -> float:
        """Seconds since 1970, UTC."""


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()


class Limits(Protocol):
    """Who fired how often, by hook and session. All three are atomic."""

    def claim(self, hook: Hook, event: Event, now: float) -> Callable[[], None] | None:
        """None if the hook may not fire now; else what gives the claim back."""

    def allows(self, hook: Hook, event: Event, now: float) -> bool: ...

    def fires(self, hook: Hook, session: str) -> tuple[int, float | None]:
        """How often it fired, and when last."""


class Host(Protocol):
    @property
    def limits(self) -> Limits: ...
    @property
    def clock(self) -> Clock: ...
    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult: ...
    async def run_program(self, command: Command) -> Finished: ...
    async def run_script(self, script: Script) -> Any: ...
    async def run_function(self, call: Function) -> Any: ...
    async def post(self, request: Post) -> Posted: ...
    async def complete(self, prompt: str) -> str: ...
    async def publish(self, notice: Notice) -> None: ...
    def later(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        """Runs `work` in the background, in order per session; a host drains it at the session's end."""

    def thread(self, id: str) -> Thread: ...


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is being asked right now, for what an action does through its host."""

    hook: str
    again: bool = False  # asked once more about an event that a later hook changed
    above: tuple[str, ...] = ()  # hooks whose own tool calls led here, outermost first, each as its `one` says it
    one: str = ""  # this very hook: ids are unique within one file only

    @property
    def stack(self) -> tuple[str, ...]:
        return (*self.above, self.one or self.hook)


asking: Final[ContextVar[Asking | None]] = ContextVar("asking", default=None)


class Nobody:
    """A host that has nothing: each thing asked of it is Unavailable. Hosts inherit it and add what they have.

    Only a function is called: it is part of this process already.
    """

    clock: Clock = SystemClock()

    @property
    def limits(self) -> Limits:
        raise Unavailable("this host keeps no counts")

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        raise Unavailable(f"there is no tool {name!r} here")

    async def run_program(self, command: Command) -> Finished:
        raise Unavailable("programs cannot be run here")

    async def run_script(self, script: Script) -> Any:
        raise Unavailable("scripts cannot be run here")

    async def run_function(self, call: Function) -> Any:
        returned = call.function(*call.arguments)
        return await returned if isawaitable(returned) else returned

    async def post(self, request: Post) -> Posted:
        raise Unavailable("nothing can be posted from here")

    async def complete(self, prompt: str) -> str:
        raise Unavailable("there is no model here")

    async def publish(self, notice: Notice) -> None:
        raise Unavailable("nobody is watching here")

    def later(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        raise Unavailable("nothing can be run in the background here")

    def thread(self, id: str) -> Thread:
        raise Unavailable("there are no threads here")


NOBODY: Final[Host] = Nobody()
