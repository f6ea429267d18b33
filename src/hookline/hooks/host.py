"""The only way out of an action: tools, programs, scripts, a model, people, time.

A conversation that a hook's code may read and write, through its host.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import isawaitable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

from hookline.errors import UnavailableError
from hookline.hooks.event import Event

if TYPE_CHECKING:
    from hookline.hooks.hook import Hook


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
class ProgramResult:
    """A program that ended by itself. One that could not start, was killed or ran out of time raises Failed."""

    exit_code: int
    stdout: str
    stderr: str
    dropped: int = 0  # bytes of output past what is kept
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PostRequest:
    """JSON for a URL. In the headers, `$NAME` and `${NAME}` stand for the variables of the environment in `variables`."""

    url: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()  # any other name stands for nothing
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class PostResponse:
    """What came back. A URL that cannot be reached, or does not answer in time, raises Failed."""

    status: int
    text: str
    dropped: int = 0  # bytes of the answer past what is kept


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """JavaScript: the body of an async function, with these names defined."""

    source: str
    variables: Mapping[str, Any]
    timeout: timedelta = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class FunctionCall:
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
    was_called: bool = True  # False: nothing was called, and this stands for what would have come back


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


class FireLimiter(Protocol):
    """Who fired how often, by hook and session. All three are atomic."""

    def claim(self, hook: Hook, event: Event, now: float) -> Callable[[], None] | None:
        """None if the hook may not fire now; else what gives the claim back."""

    def allows(self, hook: Hook, event: Event, now: float) -> bool: ...

    def fires(self, hook: Hook, session: str) -> tuple[int, float | None]:
        """How often it fired, and when last."""


class Host(Protocol):
    @property
    def limits(self) -> FireLimiter: ...
    @property
    def clock(self) -> Clock: ...
    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult: ...
    async def run_program(self, command: Command) -> ProgramResult: ...
    async def run_script(self, script: ScriptCall) -> Any: ...
    async def run_function(self, call: FunctionCall) -> Any: ...
    async def post(self, request: PostRequest) -> PostResponse: ...
    async def complete(self, prompt: str) -> str: ...
    async def publish(self, notice: Notice) -> None: ...
    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        """Runs `work` in the background, in order per session; a host drains it at the session's end."""

    def thread(self, id: str) -> Thread: ...


@dataclass(frozen=True, slots=True)
class CurrentHook:
    """Who is being asked right now, for what an action does through its host."""

    hook: str
    is_recheck: bool = False  # asked once more about an event that a later hook changed
    callers: tuple[str, ...] = ()  # hooks whose own tool calls led here, outermost first, each as its `one` says it
    key: str = ""  # this very hook: ids are unique within one file only

    @property
    def stack(self) -> tuple[str, ...]:
        return (*self.callers, self.key or self.hook)


current_hook: Final[ContextVar[CurrentHook | None]] = ContextVar("asking", default=None)


class NullHost:
    """A host that has nothing: each thing asked of it is Unavailable. Hosts inherit it and add what they have.

    Only a function is called: it is part of this process already.
    """

    clock: Clock = SystemClock()

    @property
    def limits(self) -> FireLimiter:
        raise UnavailableError("this host keeps no counts")

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        raise UnavailableError(f"there is no tool {name!r} here")

    async def run_program(self, command: Command) -> ProgramResult:
        raise UnavailableError("programs cannot be run here")

    async def run_script(self, script: ScriptCall) -> Any:
        raise UnavailableError("scripts cannot be run here")

    async def run_function(self, call: FunctionCall) -> Any:
        returned = call.function(*call.arguments)
        return await returned if isawaitable(returned) else returned

    async def post(self, request: PostRequest) -> PostResponse:
        raise UnavailableError("nothing can be posted from here")

    async def complete(self, prompt: str) -> str:
        raise UnavailableError("there is no model here")

    async def publish(self, notice: Notice) -> None:
        raise UnavailableError("nobody is watching here")

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        raise UnavailableError("nothing can be run in the background here")

    def thread(self, id: str) -> Thread:
        raise UnavailableError("there are no threads here")


NO_HOST: Final[Host] = NullHost()
NOBODY: Final[Host] = NO_HOST  # deprecated: use NO_HOST


class Abort:
    """Whether somebody wants what is going on to end; whoever waits for it may do so in any loop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._aborted = False
        self._reason: str | None = None
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def aborted(self) -> bool:
        return self._aborted

    @property
    def reason(self) -> str | None:
        return self._reason

    def abort(self, reason: str = "aborted") -> None:
        """The first one counts."""
        with self._lock:
            if self._aborted:
                return
            self._aborted, self._reason = True, reason
            waiting, self._waiting = self._waiting, []
        for loop, signal in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(signal.set)

    async def wait(self) -> None:
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            if self._aborted:
                return
            self._waiting.append(waiter)
        try:
            await waiter[1].wait()
        finally:
            with self._lock:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)


class Thread(Protocol):
    """Messages and files are plain data with the keys that the host stores."""

    @property
    def abort(self) -> Abort: ...
    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """As stored, oldest first; with a limit, the last so many before the last `offset`."""

    async def inject_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """Stores a message as any other is stored, hooks included, and returns it as it was stored."""

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]: ...
    async def read_file(self, path: str) -> bytes | None:
        """None if there is no such file."""

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        """Returns a reference to the stored file."""

    async def list_files(self, path: str = "") -> list[dict[str, Any]]: ...
    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Now; the call is decided like any other."""

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        """After what is going on."""
