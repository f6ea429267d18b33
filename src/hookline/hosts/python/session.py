"""Hooks around any Python agent: a session fires the events and guards the tools."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import inspect
import os
import threading
import time
import uuid
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from hookline.config.problem import OnProblem, refuse_errors
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.engine.limits import FireCounts
from hookline.engine.nested_calls import call_tool_from_hook
from hookline.errors import Denied, Halted, HooklineError, InvalidEvent, MustWait, UnavailableError
from hookline.hooks.event import MISSING, Event
from hookline.hooks.events import DRAIN_TIMEOUT, ENDING_EVENTS, EVENTS, canonical_event, lacks_tool
from hookline.hooks.host import Thread, ToolResult
from hookline.hooks.outcome import NOBODY_HERE, AskTerms, Audience, Note, Verdict
from hookline.hooks.session_facts import SessionInfo, base_facts
from hookline.hosts.call_decision import decide_with_inner_calls
from hookline.hosts.denied_stops import add_stop_active, denies_stop, lacks_stop_active, limit_denied_stops
from hookline.hosts.hub.hub_approval import settle_ask, should_ask_hub
from hookline.hosts.hub.running_hubs import find_hub
from hookline.lazy_dataclasses import dataclass
from hookline.project import load_file, load_for_directory, own_record_settings
from hookline.project.private_file import config_home, state_directory
from hookline.project.script_lint import script_problems
from hookline.project.trust_store import Trust, trust_file_path
from hookline.record.recorder import RecordedBook, recorder_of
from hookline.runners.local_host import LocalHost

T = TypeVar("T")

NOBODY_ANSWERED: Final = "nobody answered"
_HUB_PATIENCE: Final = timedelta(minutes=10)
_WAIT_AT_EXIT: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked before a tool may run."""

    reason: str
    tool: str
    input: dict[str, Any]
    hook: str | None


AskCallback = Callable[[Question], "bool | Awaitable[bool]"]
ToolCallback = Callable[[dict[str, Any]], Awaitable[Any]]

_current_session: Final[ContextVar[Session | None]] = ContextVar("session", default=None)
_open_sessions: Final[list[Session]] = []


def current_session() -> Session:
    """The session in which this code runs, or the only one that is open. Raises HooklineError."""
    found = _current_session.get()
    if found is not None and found in _open_sessions:
        return found
    own = [each for each in _open_sessions if not each._is_inherited] or _open_sessions
    if len(own) == 1:
        return own[0]
    how = "Call it inside of `async with hookline.session(…)`."
    raise HooklineError(
        f"a guarded tool was called {'in one of several sessions' if _open_sessions else 'without a session'}. {how}"
    )


class Session:
    """Entered with `async with` or `with`. One session may serve several loops and threads."""

    def __init__(self, book: Book, directory: Path, host_name: str, ask: AskCallback | None, id: str | None) -> None:
        self.book = book
        self.id = id or f"{host_name}-{uuid.uuid4().hex[:12]}"
        self.notes: list[Note] = []  # what hooks said, oldest first
        self.tools: dict[str, ToolCallback] = {}  # tools that hooks may call, by name
        self.tool_calls = 0
        self.threads: dict[str, Thread] = {}  # conversations that hook code may read, by id
        self._directory = directory
        self._host_name = host_name
        self._ask = ask
        self._host = _SessionHost(self)
        self._recorder = recorder_of(state_directory())
        self._recorder.use_environment(os.environ)  # of the user's own program
        self._own_loop = _LoopThread()
        self._outer: Session | None = None
        self._process: int | None = None  # in which it fired its first event
        self._denied_stops = 0  # in a row
        self._halt: Decision | None = None  # after which no guarded tool runs until the next prompt

    @property
    def recorded_book(self) -> RecordedBook:
        return RecordedBook(self.book, self._recorder)

    def _refuse_in_fork(self, work: Coroutine[Any, Any, Any] | None = None) -> None:
        """Threads stay with the parent process, and two processes cannot share what a hook's running programs answer."""
        if self._is_inherited:
            if work is not None:
                work.close()
            raise HooklineError(
                f"the session {self.id} belongs to process {self._process}, from which this one was forked. "
                "Start a session in the child process: `with hookline.session(…)`."
            )

    @property
    def _is_inherited(self) -> bool:
        return self._process is not None and self._process != os.getpid()

    async def decide(self, event: str, **facts: Any) -> Decision:
        """Fires one event and keeps its notes in `notes`. The caller obeys the decision."""
        decision = await self.fire(event, facts)
        self.notes += decision.notes
        if decision.halt:
            self._halt = decision
        return decision

    def raise_if_halted(self, tool: dict[str, Any]) -> None:
        """A program may have taken the exception of a halt for that of a tool, as most frameworks do."""
        if self._halt is not None:
            self.record_after_halt({"tool": tool}, self._halt.reason)
            raise_if_denied(self._halt)

    def record_after_halt(self, facts: dict[str, Any], reason: str) -> None:
        """A call that is refused because a hook has stopped the agent: no hook is asked about it."""
        asked = Event("tool.before", {**self.facts(), **facts})
        denial = Decision(asked, Verdict.DENY, f"A hook has stopped the agent: {reason}")
        self._recorder.write_repeated(self.book, asked, denial)

    async def fire(self, event: str, facts: dict[str, Any]) -> Decision:
        """Like `decide`, for a caller that delivers the notes itself. `facts` win over those of the session."""
        self._refuse_in_fork()
        self._process = os.getpid()
        name = canonical_event(event) if isinstance(event, str) else None
        if name is None:
            raise HooklineError(f"{event!r} is not an event; the events are {', '.join(EVENTS)}")
        fired = Event(name, {**self.facts(), **facts} if isinstance(facts, dict) else facts)
        if lacks_tool(fired):
            raise InvalidEvent(f'{name} needs a tool. Write {{"tool": {{"name": "bash", "input": {{…}}}}}}')
        if name == "tool.before" and fired.read(("tool", "input")) is MISSING:
            raise InvalidEvent(f'{name} needs the input of its tool. Write "input": {{}} if it has none')
        if name in ("session.start", "prompt.submit"):
            self._denied_stops, self._halt = 0, None
        if name == "tool.before":
            return await decide_with_inner_calls(self.book, fired, self._decide_event)
        if name not in ENDING_EVENTS:
            return await self._decide_event(fired)
        if lacks_stop_active(fired):
            fired = add_stop_active(fired, self._denied_stops)
        decision = limit_denied_stops(await self._decide_event(fired), self._denied_stops)
        self._denied_stops = self._denied_stops + 1 if denies_stop(decision) else 0
        return decision

    async def _decide_event(self, event: Event) -> Decision:
        if not _is_run_in_place.get():
            return await self._recorder.decide(self.book, event, self._host)
        try:
            decision = self._recorder.decide_now(self.book, event, self._host)
        except MustWait:
            await _MoveToLoop()
            return await self._recorder.decide(self.book, event, self._host)
        if decision.verdict is Verdict.ASK:  # whoever is asked takes their time
            await _MoveToLoop()
        return decision

    def record_outcome(self, decision: Decision, result: ToolResult) -> None:
        """What came of a call about which no hook is asked afterwards."""
        self._recorder.write_outcome(self.book, decision.event, result)

    async def prompt(self, text: str) -> str:
        """Returns the prompt as the hooks left it. Raises Denied."""
        decision = await self.decide("prompt.submit", prompt=text)
        raise_if_denied(decision)
        left = decision.event.facts.get("prompt")
        return left if isinstance(left, str) else text

    async def agree(self, decision: Decision) -> None:
        """Raises Denied unless the tool may run. If hooks ask for it, a person is asked."""
        raise_if_denied(decision)
        if decision.verdict is not Verdict.ASK:
            return
        tool = decision.event.facts["tool"]
        asked = await self.decide("approval.request", tool=tool, approval={"reason": decision.reason})
        raise_if_denied(asked)
        if asked.verdict is Verdict.ALLOW or await self._is_approved_at_hub(decision):
            return
        question = Question(decision.full_reason, tool["name"], tool["input"], decision.by)
        if not await self.ask_person(question, decision):
            raise Denied(decision.reason or f"{tool['name']} was not approved", decision.by, decision.source)

    @property
    def can_ask(self) -> bool:
        return self._ask is not None

    def record_answer(self, decision: Decision, approved: bool) -> None:
        """What a person answered to the question of a decision."""
        self._recorder.write_answer(self.book, decision.event, approved)

    async def _is_approved_at_hub(self, decision: Decision) -> bool:
        """Asks at the hub if the program has nobody to ask. Raises Denied if the person there says no."""
        hub = find_hub(state_directory()) if self._ask is None else None
        if hub is None or not should_ask_hub(hub, decision.event, can_ask=False):
            return False
        settled = await settle_ask(hub, decision, decision.ask_terms.within or _HUB_PATIENCE, False, self._decide_again)
        if settled is None:
            return False
        self._recorder.write_answer(self.book, decision.event, settled.answer.approved, settled.answer.by or "hub")
        raise_if_denied(settled.decision)
        return True

    async def _decide_again(self, event: Event) -> Decision:
        return await decide_with_inner_calls(
            self.book, event, lambda each: self._recorder.decide(self.book, each, self._host)
        )

    async def ask_person(self, question: Question, decision: Decision) -> bool:
        """Records the answer. Anything but True is a no. Without an answer in time, the default of the ask counts."""
        approved, by = await self._answer(question, decision.ask_terms)
        self._recorder.write_answer(self.book, decision.event, approved, by)
        return approved

    async def _answer(self, question: Question, terms: AskTerms) -> tuple[bool, str]:
        """The answer, and whose it is."""
        if self._ask is None:
            return False, NOBODY_HERE
        await _MoveToLoop()
        within = None if terms.within is None else terms.within.total_seconds()
        started = time.monotonic()
        answer = self._ask(question)
        if not inspect.isawaitable(answer):
            if answer is True and within is not None and time.monotonic() - started > within:  # nobody could stop it
                return terms.default is Verdict.ALLOW, NOBODY_ANSWERED
            return answer is True, "user"
        try:
            async with asyncio.timeout(within) as limit:
                return await answer is True, "user"
        except TimeoutError:
            if not limit.expired():
                raise
            return terms.default is Verdict.ALLOW, NOBODY_ANSWERED

    def take_notes(self, audience: str = "agent") -> str:
        """Returns and clears the notes for the agent (or the user)."""
        wanted = [note for note in self.notes if note.audience is Audience(audience)]
        self.notes = [note for note in self.notes if note not in wanted]
        return "\n\n".join(dict.fromkeys(note.text for note in wanted))

    def guard(self, tool: Any = None, **options: Any) -> Any:
        """Like `hookline.guard`, for this session. Hooks may call the tool too."""
        from hookline.hosts.python.guard import guard

        return guard(tool, session=self, **options)

    def facts(self) -> dict[str, Any]:
        """The facts of every event of this session."""
        return base_facts(
            SessionInfo(self.id, None, self._directory, time.time(), host=self._host_name, tool_calls=self.tool_calls)
        )

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Calls one of `tools` for a hook. Hooks decide the call like any other."""
        return await self._host.call_tool(name, input)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for `work` from sync code, on the session's own event loop."""
        self._refuse_in_fork(work)
        return self._own_loop.run(work)

    def run_in_place(self, work: Coroutine[Any, Any, T]) -> T:
        """Like `run`, but as long as nobody waits, `work` runs in this thread: to wake another one takes longer than to decide.

        `work` may wait only for methods of this session.
        """
        self._refuse_in_fork(work)
        return self._own_loop.run_in_place(work)

    async def __aenter__(self) -> Session:
        self._begin()
        try:
            raise_if_denied(await self.decide("session.start"))
            raise_if_denied(await self.decide("session.first_turn"))
        except BaseException:
            self._end()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if self._is_inherited:
            self._end()
            return
        is_discarded = kind is GeneratorExit  # so is the coroutine around it: nothing can be awaited any more
        try:
            if not is_discarded:
                await asyncio.gather(self._host.drain(DRAIN_TIMEOUT), asyncio.to_thread(self._drain_own_loop))
                await self.decide("session.end")
                await self._host.drain(DRAIN_TIMEOUT)
        except GeneratorExit:
            is_discarded = True
            raise
        finally:
            self._end()
            if is_discarded:
                self._own_loop.close()
            else:
                await asyncio.to_thread(self._close)

    def __enter__(self) -> Session:
        self._begin()
        try:
            raise_if_denied(self.run(self.decide("session.start")))
            raise_if_denied(self.run(self.decide("session.first_turn")))
        except BaseException:
            self._end()
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_inherited:  # the parent ends it
            self._end()
            return
        try:
            self._drain_own_loop()
            self.run(self.decide("session.end"))
        finally:
            self._end()
            self._close()

    async def drain(self) -> None:
        """Waits for background hooks of this event loop."""
        await _MoveToLoop()
        await self._host.drain(DRAIN_TIMEOUT)

    async def wait_for_background(self, session: str) -> None:
        """Waits for background hooks of one conversation on this event loop, and lets those that are late go on."""
        await _MoveToLoop()
        await self._host.wait_for_background(DRAIN_TIMEOUT, session)

    def close(self) -> None:
        """Waits for background hooks of sync code and ends its event loop. For a session that was not entered."""
        self._close()

    def _begin(self) -> None:
        self._outer = _current_session.get()
        _open_sessions.append(self)
        _current_session.set(self)

    def _end(self) -> None:
        if self in _open_sessions:
            _open_sessions.remove(self)
        if _current_session.get() is self:
            _current_session.set(self._outer)

    def _close(self) -> None:
        if self._is_inherited:
            return
        try:
            self._drain_own_loop()
        finally:
            self._own_loop.close()

    def _drain_own_loop(self) -> None:
        """Waits for background hooks of tools that are not async."""
        if self._own_loop.is_started:
            self.run(self._host.drain(DRAIN_TIMEOUT))


def session(
    directory: str | Path = ".",
    *,
    config: str | Path | None = None,
    host_name: str = "python",
    ask: AskCallback | None = None,
    id: str | None = None,
    on_problem: OnProblem = "raise",
) -> Session:
    """Opens a session with the hooks of the current directory, or of one file, which is trusted.

    Raises ConfigError if a file has errors; with `on_problem="warn"` they are logged, and the session goes on without
    the hooks that cannot be used.

    `ask` is called with a Question if hooks want a person to decide. Without `ask`, or unless it returns True, the answer
    is no.
    """
    place = Path(directory).absolute()
    if not place.is_dir():
        raise HooklineError(f"the directory {directory} does not exist")
    book = _user_book(place) if config is None else _named_book(config)
    refuse_errors((*book.problems, *script_problems(book.hooks)), on_problem)
    return Session(book, place, host_name, ask, id)


def _user_book(place: Path) -> Book:
    """As `hookline` in a terminal finds hooks and what is trusted."""
    trust = Trust(trust_file_path(Path.home(), state_directory().parent))
    return load_for_directory(place, Path.home(), trust, config_home())


def _named_book(config: str | Path) -> Book:
    own = own_record_settings(Path.home(), config_home(), state_directory())
    return load_file(config, own_record=own)


def new_call_id() -> str:
    """Links what was decided about a call to what came of it."""
    return f"call_{uuid.uuid4().hex[:12]}"


def raise_if_denied(decision: Decision) -> None:
    """Raises Denied, or Halted if the agent must stop."""
    if decision.halt:
        raise Halted(decision.reason or "Stopped by a hook", decision.by, decision.source)
    if decision.denied:
        raise Denied(decision.reason, decision.by, decision.source)


class _SessionHost(LocalHost):
    """This machine, plus the session's guarded tools."""

    def __init__(self, around: Session) -> None:
        super().__init__(FireCounts())
        self._session = around

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        if name not in self._session.tools:
            raise UnavailableError(f"there is no tool {name!r} here")
        facts = {**self._session.facts(), "tool": {"id": new_call_id()}}
        return await call_tool_from_hook(self._session.recorded_book, self, facts, (name, input), self._run_tool)

    def thread(self, id: str) -> Thread:
        return self._session.threads[id] if id in self._session.threads else super().thread(id)

    async def _run_tool(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        try:
            result = ToolResult(await self._session.tools[name](input))
        except Exception as error:  # a tool may run any code; its error is its answer
            result = ToolResult(None, False, f"{type(error).__name__}: {error}"[:500])
        self._session.record_outcome(decision, result)
        return result


_is_run_in_place: Final[ContextVar[bool]] = ContextVar("is_run_in_place", default=False)
"""True in a coroutine that sync code runs in its own thread, outside of a task."""


class _MoveToLoop:
    """Awaited before anything that needs an event loop: a coroutine that was run in place goes on as a task of the loop."""

    def __await__(self) -> Generator[None, None, None]:
        if _is_run_in_place.get():
            yield


class _LoopThread:
    """An event loop in a thread, started when it is first needed, and stopped when the program ends.

    A program that ends in the middle of RE2's search in another thread aborts, because Python unwinds that thread through C++.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_started(self) -> bool:
        return self._loop is not None

    def run(self, work: Coroutine[Any, Any, T], context: contextvars.Context | None = None) -> T:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="hookline", daemon=True)
                self._thread.start()
                _running_loops.add(self)
        if threading.current_thread() is self._thread:
            work.close()
            raise HooklineError("a guarded tool that is not async was called by a hook's own loop")
        started = _run_in_context(work, context or contextvars.copy_context())
        return asyncio.run_coroutine_threadsafe(started, self._loop).result()

    def run_in_place(self, work: Coroutine[Any, Any, T]) -> T:
        if threading.current_thread() is self._thread:
            return self.run(work)  # which refuses it
        context = contextvars.copy_context()
        context.run(_is_run_in_place.set, True)
        try:
            awaited = context.run(work.send, None)
        except StopIteration as done:
            answer: T = done.value
            return answer
        if awaited is not None:
            work.close()
            raise RuntimeError(f"awaited outside of an event loop: {awaited!r}")
        context.run(_is_run_in_place.set, False)
        return self.run(work, context)  # it stands at a _MoveToLoop

    def close(self, wait: timedelta | None = None) -> None:
        """Stops the loop. After `wait`, a thread that is still busy is left alone."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(None if wait is None else wait.total_seconds())
            if not thread.is_alive():
                loop.close()


_running_loops: Final[weakref.WeakSet[_LoopThread]] = weakref.WeakSet()


@atexit.register
def _stop_loops() -> None:
    for each in list(_running_loops):
        each.close(_WAIT_AT_EXIT)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_running_loops.clear)  # closing a copy would stop the loop of the parent


async def _run_in_context(work: Coroutine[Any, Any, T], context: contextvars.Context) -> T:
    """Keeps the context variables, so that the work knows which hook it belongs to."""
    return await asyncio.get_running_loop().create_task(work, context=context)
