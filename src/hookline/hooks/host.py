"""What actions reach through their host: tools, programs, scripts, a model, people, threads and the clock."""

from __future__ import annotations

import time
from _thread import allocate_lock as Lock  # `threading` takes a millisecond to import
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from datetime import timedelta
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from hookline.errors import UnavailableError
from hookline.formatting import format_seconds
from hookline.hooks.event import Event
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import asyncio, inspect

if TYPE_CHECKING:
    from hookline.hooks.hook import Hook
    from hookline.hooks.protocols import Need
    from hookline.hooks.wording import Wording

Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])


@dataclass(frozen=True, slots=True)
class Command:
    """One program to run: shell text with quoted values, or an argv."""

    text: str = ""
    argv: tuple[str, ...] = ()  # if not empty, runs without a shell
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)  # set in addition to the inherited variables
    inherit_env: bool | tuple[str, ...] = True  # all variables, none, or just these
    without_env: tuple[str, ...] = ()  # variables that are not inherited
    cwd: str | None = None
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """A program that ended by itself. One that cannot start, is killed or times out raises ActionError."""

    exit_code: int
    stdout: str
    stderr: str
    dropped: int = 0  # bytes of output beyond the limit
    seconds: float = 0.0
    is_cut: bool = False  # whether some of them belong to stdout


@dataclass(frozen=True, slots=True)
class PostRequest:
    """A POST of JSON. In the headers, `$NAME` and `${NAME}` are replaced by environment variables listed in `variables`."""

    url: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()  # any other name becomes empty text
    timeout: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class PostResponse:
    """The response. A URL that cannot be reached or does not answer in time raises ActionError."""

    status: int
    text: str
    dropped: int = 0  # bytes of the response beyond the limit


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """JavaScript: the body of an async function, with these variables defined."""

    source: str
    variables: Mapping[str, Any]
    timeout: timedelta = timedelta(seconds=5)
    may_run_in_page: bool = True  # False: whoever has the page of a browser agent must not get around it


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A Python function and its arguments. It may be third-party code."""

    name: str  # as messages show it
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    content: Any
    ok: bool = True
    error: str = ""
    attachments: tuple[dict[str, Any], ...] = ()  # files of the result: data to store, or references
    was_called: bool = True  # False: nothing was called; this replaces the result
    more: Mapping[str, Any] = field(default_factory=dict)  # what else the tool returned, such as `stack`


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification, or data on a channel, for the people who watch."""

    channel: str
    message: str
    title: str = ""
    level: str = "info"
    tag: str = ""
    hook: str = ""
    data: Any = None


class Clock(Protocol):
    def now(self) -> float:
        """Seconds on a monotonic clock."""

    def wall(self) -> float:
        """Seconds since 1970, UTC."""


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()


class FireLimiter(Protocol):
    """Counts the fires of each hook in each session, and remembers what conditions need. All methods are atomic."""

    def claim(self, hook: Hook, event: Event, now: float) -> Callable[[], None] | None:
        """None if the hook may not fire now; otherwise a function that takes the fire back."""

    def allows(self, hook: Hook, event: Event, now: float) -> bool: ...

    def fires(self, hook: Hook, session: str) -> tuple[int, float | None]:
        """How often it fired, and when it last did."""

    def remember(self, event: Event, what: str, happened: bool) -> None:
        """Keeps for the event's session whether something has happened in it."""

    def recalls(self, event: Event, what: str) -> bool: ...


def starts_without_task(run_script: Method) -> Method:
    """Marks a host's `run_script` that does not depend on the task that runs it before it first waits.

    One that begins with `asyncio.timeout` does. A script that ends by then needs no task of its own. A method that
    overrides a marked one has no mark.
    """
    vars(run_script)["starts_without_task"] = True
    return run_script


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
    async def investigate(self, prompt: str, event: Event) -> str:
        """Like `complete`, but the model may read files first. Hooks decide each of its calls, in the event's session."""

    async def publish(self, notice: Notice) -> None: ...
    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        """Runs `work` in the background, in order per session. The host waits for it at the end of the session."""

    def thread(self, id: str) -> Thread: ...
    def tool_names(self) -> tuple[str, ...]:
        """The tools that `call_tool` finds, as far as the host can list them."""


@dataclass(frozen=True, slots=True)
class CurrentHook:
    """The hook that runs now, for what its action does through the host."""

    hook: str
    is_recheck: bool = False  # it runs again because a later hook changed the event
    callers: tuple[str, ...] = ()  # keys of the hooks whose tool calls or messages led here, outermost first
    key: str = ""  # ids are unique within one file only
    tool_matchers: tuple[Need, ...] = ()  # of its condition: templates show the name that one of them matched
    wording: Wording | None = None  # of its dialect
    event_name: str = ""  # as its file calls the event

    @property
    def stack(self) -> tuple[str, ...]:
        return (*self.callers, self.key or self.hook)

    @property
    def caused_itself(self) -> bool:
        """What this hook did led to the event that it is called for."""
        return (self.key or self.hook) in self.callers


current_hook: Final[ContextVar[CurrentHook | None]] = ContextVar("current_hook", default=None)


inherited_environment: Final[ContextVar[Mapping[bytes, bytes] | None]] = ContextVar("inherited", default=None)
"""What programs inherit if it is not this process's environment: the engine decides for another process."""

bytecode_directory: Final[ContextVar[str | None]] = ContextVar("bytecode_directory", default=None)
"""Where Python programs that are started now keep compiled modules, so that nobody else can replace them."""


def format_duration(time: timedelta) -> str:
    """In the unit in which the current hook's file counts."""
    who = current_hook.get()
    words = None if who is None else who.wording
    return format_seconds(time.total_seconds()) if words is None else words.duration(time)


class NullHost:
    """A host that can do nothing: every method raises UnavailableError. Inherit it and add what your host can do.

    Only functions run, because they are part of this process already.
    """

    clock: Clock = SystemClock()

    @property
    def limits(self) -> FireLimiter:
        raise UnavailableError("this host does not count fires")

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        raise UnavailableError(f"there is no tool {name!r} here")

    def tool_names(self) -> tuple[str, ...]:
        return ()

    async def run_program(self, command: Command) -> ProgramResult:
        raise UnavailableError("programs cannot be run here")

    async def run_script(self, script: ScriptCall) -> Any:
        raise UnavailableError("scripts cannot be run here")

    async def run_function(self, call: FunctionCall) -> Any:
        returned = call.function(*call.arguments)
        if type(returned) is CoroutineType or inspect.isawaitable(returned):
            return await returned
        return returned

    async def post(self, request: PostRequest) -> PostResponse:
        raise UnavailableError("HTTP requests cannot be sent here")

    async def complete(self, prompt: str) -> str:
        raise UnavailableError("needs a model, and there is none here")

    async def investigate(self, prompt: str, event: Event) -> str:
        raise UnavailableError("needs a model that can read files, and there is none here")

    async def publish(self, notice: Notice) -> None:
        raise UnavailableError("notifications cannot be published here")

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        raise UnavailableError("background work is not possible here")

    def thread(self, id: str) -> Thread:
        raise UnavailableError("there are no threads here")


NO_HOST: Final[Host] = NullHost()
NOBODY: Final[Host] = NO_HOST  # deprecated: use NO_HOST


class Abort:
    """A request to end the current work. You can wait for it in any event loop."""

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
        """The first call counts."""
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
    """A conversation that hook code may read and write. Messages and files are plain data, as the host stores them."""

    @property
    def abort(self) -> Abort: ...
    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """The stored messages, oldest first. With a limit: the last ones before the last `offset`."""

    async def inject_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """Stores a message like any other, hooks included, and returns it as stored."""

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]: ...
    async def read_file(self, path: str) -> bytes | None:
        """None if the file does not exist."""

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        """Returns a reference to the stored file."""

    async def list_files(self, path: str = "") -> list[dict[str, Any]]: ...
    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Calls the tool now. Hooks decide the call like any other."""

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        """Calls the tool after the current work."""
