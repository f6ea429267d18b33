"""One session of an agent: its threads and hooks, from the first event to the last."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.errors import Denied, HooklineError
from hookline.hooks.event import Event
from hookline.hooks.events import DRAIN_TIMEOUT
from hookline.hooks.hook import GLOBAL_SCOPE
from hookline.hooks.host import Abort, Clock
from hookline.hooks.outcome import Audience
from hookline.hooks.path_spellings import ResolvedPaths, ResolvingOnce
from hookline.hosts.call_decision import decide_with_inner_calls
from hookline.lazy_dataclasses import replace
from hookline.record.entry import is_recorded
from hookline.runtime.apps.app import Agent
from hookline.runtime.effects import apply_effects
from hookline.runtime.event_facts import describe_session, shared_facts
from hookline.runtime.exchange import Exchange
from hookline.runtime.interception import Interception
from hookline.runtime.models.model import Model
from hookline.runtime.notes import inject_notes
from hookline.runtime.recovery import is_unfinished
from hookline.runtime.runtime_host import ThreadHost
from hookline.runtime.session_environment import SessionEnvironment
from hookline.runtime.session_hooks import (
    StoredCounts,
    StoredHooksFile,
    dump_session_hooks,
    is_agent_file,
    load_session_hooks,
    parse_stored_files,
)
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow, ThreadRow
from hookline.runtime.subagent import abandon_subagents
from hookline.runtime.thread import Progress, StoredThread, SubagentTask
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.runtime.tools.workspace import resolve_input_path
from hookline.runtime.transcript import Transcript
from hookline.runtime.updates import DecisionMade, Ending, ExchangeEnded, StatusMessage, Update

if TYPE_CHECKING:
    from hookline.runtime.runtime import Runtime

_SESSION_LAYER: Final = "session"  # hooks of invoked skills, and of the agent's files when the session was stored
_NOT_BEGUN: Final = "interrupted at its start"  # until hooks have allowed the start
_MAX_JUDGED_CALLS: Final = 1_000


class AgentSession:
    """Create it with Runtime.start or Runtime.resume. It runs one exchange at a time."""

    def __init__(self, runtime: Runtime, row: SessionRow, agent: Agent) -> None:
        self.runtime = runtime
        self.id = row.id
        self.agent = agent
        self.row = row
        self.turns = row.turns
        self.tool_calls = row.tool_calls
        self.counts = StoredCounts(runtime.clock)
        self.last_used = row.last_used
        self.last: Decision | None = None  # the last decision in which a hook applied or failed
        self._threads: dict[str, StoredThread] = {}
        self._hosts: dict[str, ThreadHost] = {}
        self._saved: list[dict[str, Any]] = []  # how often hooks fired, as stored
        self._counted = (row.turns, row.tool_calls)  # as stored
        self._parts: list[StoredHooksFile] = []  # hooks of the session: its agent's files, invoked skills
        self._remembered: Book | None = None  # hooks of the files when those of the agent were stored
        self._judged_paths: dict[tuple[str, str], ResolvedPaths] = {}  # by thread and call
        self._last_file_hooks: Book | None = None  # hooks of the files at the last event
        self._joined: tuple[Book, Book] | None = None  # hooks of the files, without and with those of the session
        self._listeners: list[Callable[[Update], None]] = [runtime.watch] if runtime.watch is not None else []
        self.on_end: Callable[[str], None] | None = None  # called with the reason once it has ended and is stored
        self._exchange = asyncio.Lock()
        self._running: asyncio.Task[ExchangeEnded] | None = None
        self._ending = asyncio.Lock()
        self.environment = SessionEnvironment()
        self.interception = Interception(self, runtime.interceptors)
        self.transcript = Transcript(self, runtime.state_directory / "transcripts")

    @property
    def store(self) -> Store:
        return self.runtime.store

    @property
    def clock(self) -> Clock:
        return self.runtime.clock

    @property
    def book(self) -> Book:
        """The active hooks: those of the files as they are now, and those of the session."""
        base = self.runtime.book
        if not self._parts:
            return base
        if self._joined is None or self._joined[0] is not base:
            parts = [part for part in self._parts if not self._is_file_present(part, base)]
            own = self.runtime.verify_stored_hooks(load_session_hooks(dump_session_hooks(parts)).hooks)
            files = [part.as_hook_file(_SESSION_LAYER, self.runtime.workspace) for part in parts]
            self._joined = (base, base.with_layer(Layer(_SESSION_LAYER, own), files) if own else base)
        return self._joined[1]

    def _is_file_present(self, part: StoredHooksFile, base: Book) -> bool:
        """True for a file of the agent that exists: its present text counts, not the stored one."""
        if part.scope != GLOBAL_SCOPE or not is_agent_file(part.file):
            return False
        return os.path.lexists(self.runtime.workspace / part.file) or any(
            hook.origin.file == part.file for hook in base.hooks
        )

    @property
    def main(self) -> StoredThread:
        """The thread of the agent that you talk to."""
        return self._threads[self.id]

    @property
    def threads(self) -> tuple[StoredThread, ...]:
        return tuple(self._threads.values())

    def thread(self, id: str) -> StoredThread:
        found = self._threads.get(id)
        if found is None:
            raise HooklineError(f"there is no thread {id!r} in this session")
        return found

    async def say(self, prompt: str) -> AsyncIterator[Update]:
        """Yields every update; the last one is ExchangeEnded. Leaving the loop early cancels the exchange."""
        async with aclosing(self._stream_updates(lambda: Exchange(self.main).start(prompt))) as updates:
            async for update in updates:
                yield update

    async def go_on(self) -> AsyncIterator[Update]:
        """Continues an exchange that was interrupted in an earlier process."""
        async with aclosing(self._stream_updates(lambda: Exchange(self.main).resume())) as updates:
            async for update in updates:
                yield update

    async def ask(self, prompt: str) -> str:
        """Returns the answer. Raises Denied if hooks refuse the prompt or stop the agent, HooklineError if there is no answer."""
        async with self._run_exchange(lambda: Exchange(self.main).start(prompt)) as task:  # nobody reads its updates
            await asyncio.wait([task])
        ended = self._cancelled_end() if task.cancelled() else task.result()
        if ended.ending in (Ending.REFUSED, Ending.HALTED):
            raise Denied(ended.text)
        if ended.ending in (Ending.FAILED, Ending.CANCELLED):
            raise HooklineError(ended.text)
        if ended.ending is Ending.STEPS and self.agent.side_b is None:  # for two AIs the last answer counts
            raise HooklineError(ended.text)
        return ended.text

    def cancel(self, reason: str = "cancelled") -> None:
        """Ends the running model call, or the tool and its processes."""
        for thread in self._threads.values():
            thread.abort.abort(reason)
        if self._running is not None:
            self._running.cancel()

    def watch(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Calls the listener with every update. Call the returned function to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def is_unfinished(self) -> bool:
        """True if an earlier process was interrupted in the middle of an exchange."""
        return await is_unfinished(self.main)

    async def end(self, reason: str = "exit") -> None:
        """Fires the last events and waits for background hooks. Only the first call has an effect."""
        async with self._ending:
            if self.row.ended is not None:
                return
            self.row = replace(self.row, ended=reason)
            self.cancel(reason)
            await self._wait_for_exchange()
            is_lost = await self._is_lost()
            if not is_lost:
                await self._abandon_interrupted()
                await self._fire_last_event("agent.end", {})
                await self._drain_background()  # the last event is the last: hooks in the background come before it
                await self._fire_last_event(
                    "session.end", {"session": {**describe_session(self.main), "reason": reason}}
                )
            await self._drain_background()
            if not is_lost:
                await self.interception.end(self.main, "error" if reason == Ending.SESSION_FAIL else "completed")
            try:
                if not is_lost:
                    await self.save(self.main, ended=reason)
                self._parts = []
            finally:
                await self.runtime.forget(self)
            if self.on_end is not None and not is_lost:
                self.on_end(reason)

    async def _is_lost(self) -> bool:
        """True if another process has taken over the session: it continues there."""
        try:
            return not await self.store.holds_claim(self.id)
        except HooklineError:  # the next access to the store reports it
            return False

    @property
    def is_busy(self) -> bool:
        return self._running is not None

    async def wait_until_stopped(self) -> None:
        """Waits for the cancelled exchange and for background hooks. The session can be resumed."""
        await self._wait_for_exchange()
        await self._drain_background()

    async def _drain_background(self) -> None:
        """All threads at once, so that they share one time limit."""
        await asyncio.gather(*(host.drain(DRAIN_TIMEOUT) for host in self._hosts.values()))

    async def _wait_for_exchange(self) -> None:
        if self._running is not None and self._running is not asyncio.current_task():
            await asyncio.wait([self._running])

    async def begin(self) -> None:
        """Fires the first events. Raises Denied, and deletes the session, if the agent may not start."""
        main = await self.open_thread(self.agent, None, self.id)
        try:
            decisions = await self._fire_start_events("startup")
        except Denied:
            await self.store.delete_session(self.id)
            raise
        await self.decide(main, "thread.created", {})
        for decision in decisions:
            await inject_notes(main, decision)
        self._remember_agent_files()
        await self.store.update_session(self.id, ended=None, hooks=self.row.hooks)

    async def reopen(self) -> None:
        """Fires the first events of a session that had ended. Raises Denied if the agent may not start."""
        for decision in await self._fire_start_events("resume"):
            halted = await apply_effects(self.main, decision)
            if halted is not None:
                raise Denied(halted)

    async def _fire_start_events(self, source: str) -> tuple[Decision, Decision]:
        facts = {"session": {**describe_session(self.main), "source": source}}
        with self.environment.starting():
            started = await self.decide(self.main, "session.start", facts)
        agent = await self.decide(self.main, "agent.start", {})
        if agent.denied or agent.halt or started.halt:
            refused = agent if agent.denied or agent.halt else started
            raise Denied(refused.reason or "hooks denied the start of the agent", refused.by, refused.source)
        await self.interception.start(self.main)
        return started, agent

    async def open_thread(self, agent: Agent, parent: StoredThread | None, id: str | None = None) -> StoredThread:
        depth = 0 if parent is None else parent.depth + 1
        thread = StoredThread(
            id or f"thread_{uuid.uuid4().hex[:16]}", self, agent, parent.id if parent else None, depth
        )
        now = self.clock.wall()
        row = ThreadRow(thread.id, self.id, agent.id, thread.parent, depth, now, thread.progress.flow)
        new = None if parent is not None else replace(self.row, ended=_NOT_BEGUN)
        await self.store.add_thread(row, new)
        thread.set_empty()
        self._threads[thread.id] = thread
        if parent is not None:
            await self._hand_down_hooks(parent.agent.id, agent.id)
        return thread

    async def restore(self) -> None:
        """Loads threads, counts and the hooks of skills from the store."""
        for row in await self.store.threads(self.id):
            agent = self.runtime.app.agent(row.agent) or self.agent
            thread = StoredThread(row.id, self, agent, row.parent, row.depth)
            thread.subagent_task = None if row.task is None else SubagentTask(row.call or "", row.task, row.result)
            thread.progress = Progress(row.flow, row.side, row.step, *self._stored_turns(row))
            self._threads[row.id] = thread
        self._saved = await self.store.counts(self.id)
        self.counts.restore(self.id, self._saved)
        self.interception.resume()
        self._parts, self._joined = parse_stored_files(self.row.hooks), None

    def _stored_turns(self, row: ThreadRow) -> tuple[int, bool]:
        """How many turns of the thread have begun, and whether the last one is unfinished."""
        if row.turn is None:  # it never had one, or an earlier version stored it between two turns
            return (self.row.turns, False) if row.parent is None else (0, False)
        return (~row.turn, False) if row.turn < 0 else (row.turn + 1, True)

    async def decide(self, thread: StoredThread, event: str, facts: dict[str, Any]) -> Decision:
        """Fires an event. Every event of a session comes through here, and the caller obeys the decision."""
        files = self.runtime.book
        if files is not self._last_file_hooks:
            self._warn_about_removed_hooks(thread, files)
        book = files if not self._parts else self.book
        if not book.hears(event) and not (book.record.enabled and is_recorded(event)):
            return Decision(Event(event, facts))
        whole = Event(event, {**await shared_facts(thread, event), **facts})

        async def fire(fired: Event) -> Decision:
            return await self.runtime.recorder.decide(book, fired, self.host_of(thread), self.runtime.explain)

        with ResolvingOnce() as resolved:
            if event == "tool.before":
                self._resolve_input_path(thread, facts["tool"], resolved)
            decision = await decide_with_inner_calls(book, whole, fire)
        metadata = decision.event.facts.get("metadata")
        thread.progress.metadata = metadata if isinstance(metadata, dict) else {}
        self._report_decision(thread, decision)
        return decision

    def _resolve_input_path(self, thread: StoredThread, tool: dict[str, Any], resolved: ResolvedPaths) -> None:
        """Before hooks see the call, so that its tool acts on the file that they judged."""
        resolve_input_path(tool.get("input"), self.runtime.workspace)
        self._judged_paths[thread.id, str(tool.get("id"))] = resolved
        while len(self._judged_paths) > _MAX_JUDGED_CALLS:  # calls that were denied
            del self._judged_paths[next(iter(self._judged_paths))]

    def _warn_about_removed_hooks(self, thread: StoredThread, now: Book) -> None:
        """Makes it visible when a hook disappears from the files, also if the agent itself removed it."""
        before, self._last_file_hooks = self._last_file_hooks, now
        if before is None:
            return
        gone = {hook.key: hook.id for hook in before.hooks}
        for hook in now.hooks:
            gone.pop(hook.key, None)
        if gone:
            self.emit_status(thread, f"no longer active: {', '.join(gone.values())}", "warning")

    def host_of(self, thread: StoredThread) -> ThreadHost:
        if thread.id not in self._hosts:
            self._hosts[thread.id] = self.runtime.host_for(self, thread)
        return self._hosts[thread.id]

    def tool_context_of(self, thread: StoredThread, call: str = "") -> ToolContext:
        return ToolContext(
            self.runtime.workspace,
            self.id,
            thread.agent.id,
            thread,
            thread.id,
            self.store,
            self.runtime.slots,
            thread.progress.facts,
            self.runtime.env,
            shell_prefix=self.environment.shell_prefix(),
            judged_paths=self._judged_paths.pop((thread.id, call), {}),
        )

    async def model_of(self, thread: StoredThread) -> Model:
        return await self.runtime.model(thread.model, self.id)

    def emit(self, update: Update) -> None:
        thread = self._threads.get(update.thread)
        if thread is not None and thread.speaker:
            update = replace(update, speaker=thread.speaker)
        for listener in tuple(self._listeners):
            listener(update)

    def emit_status(self, thread: StoredThread, text: str, level: str = "info", hook: str = "") -> None:
        """Shows a line to the user."""
        self.emit(StatusMessage(thread.id, thread.agent.id, text, level, hook))

    async def save(self, thread: StoredThread | None = None, **changed: Any) -> None:
        """Stores the progress of the session and the thread, and how often hooks fired."""
        self.last_used = self.clock.wall()
        counts = self.counts.snapshot(self.id)
        if self._remember_agent_files():
            changed["hooks"] = self.row.hooks
        progress = {"last_used": self.last_used, "turns": self.turns, "tool_calls": self.tool_calls, **changed}
        moved = None if thread is None else (thread.id, thread.progress.columns)
        await self.store.save_progress(self.id, progress, None if counts == self._saved else counts, moved)
        self._saved, self._counted = counts, (progress["turns"], progress["tool_calls"])
        if thread is not None:
            thread.progress.is_unsaved = False

    async def save_if_changed(self, thread: StoredThread) -> None:
        """Saves if a turn has ended or a count changed since the last save."""
        is_counted = self._counted == (self.turns, self.tool_calls) and self.counts.snapshot(self.id) == self._saved
        if thread.progress.is_unsaved or not is_counted:
            await self.save(thread)

    async def add_hooks(self, parts: tuple[StoredHooksFile, ...]) -> None:
        """Activates hooks for this session: a skill's, or rules that were set for the agent. They are stored with it."""
        self._set_parts([*self._parts, *(part for part in parts if part not in self._parts)])
        await self.store.update_session(self.id, hooks=self.row.hooks)

    def _remember_agent_files(self) -> bool:
        """Takes over the present text of the agent's files. A file that is gone keeps its last text. True if it changed."""
        book = self.runtime.book
        if self._remembered is book:
            return False
        self._remembered = book
        files = {part.file: part for part in self.runtime.agent_files()}
        others = [part for part in self._parts if part.scope != GLOBAL_SCOPE or part.file not in files]
        parts = [*files.values(), *others]
        if parts == self._parts:
            return False
        self._set_parts(parts)
        return True

    def _set_parts(self, parts: list[StoredHooksFile]) -> None:
        self._parts, self._joined = parts, None
        self.row = replace(self.row, hooks=dump_session_hooks(parts))

    async def _hand_down_hooks(self, parent: str, child: str) -> None:
        """A sub-agent gets the hooks that skills gave its parent, so that it cannot be used to get around them."""
        mine = (part for part in self._parts if part.scope.agent == parent)
        parts = tuple(replace(part, scope=replace(part.scope, agent=child)) for part in mine)
        if any(part not in self._parts for part in parts):
            await self.add_hooks(parts)

    def _report_decision(self, thread: StoredThread, decision: Decision) -> None:
        if not (decision.trace or decision.failures or decision.notes):  # nearly every event
            return
        if decision.failures or any(account.applied for account in decision.trace):
            self.last = decision
            self.emit(DecisionMade(thread.id, thread.agent.id, decision))
        for failure in decision.failures:
            named = f"hook {failure.hook}" in failure.text
            text = failure.text if named else f"hook {failure.hook} failed: {failure.text}"
            self.emit_status(thread, text, "warning", failure.hook)
        shown = {failure.text for failure in decision.failures}
        for note in decision.notes:
            if note.audience is Audience.USER and note.text not in shown:
                self.emit_status(thread, note.text)

    async def _abandon_interrupted(self) -> None:
        """Ends what was interrupted and will not be resumed."""
        try:
            await abandon_subagents(self.main)
        except HooklineError as error:
            self.emit_status(self.main, str(error), "error")
        if self.main.progress.in_turn:
            await self._fire_last_event("turn.end", {})
            self.main.progress.in_turn = False

    async def _fire_last_event(self, event: str, facts: dict[str, Any]) -> None:
        try:
            decision = await self.decide(self.main, event, facts)
            await inject_notes(self.main, decision)
        except HooklineError as error:  # the session ends even if its hooks or its store fail
            self.emit_status(self.main, str(error), "error")

    async def _stream_updates(
        self, exchange: Callable[[], Coroutine[Any, Any, ExchangeEnded]]
    ) -> AsyncGenerator[Update, None]:
        queue: asyncio.Queue[Update | None] = asyncio.Queue()
        async with self._run_exchange(exchange) as task:
            forget, ended = self.watch(queue.put_nowait), False
            task.add_done_callback(lambda _: queue.put_nowait(None))
            try:
                while (update := await queue.get()) is not None:
                    ended = ended or (isinstance(update, ExchangeEnded) and update.thread == self.main.id)
                    yield update
                if not task.cancelled():
                    task.result()
                elif not ended:  # cancelled before it started
                    yield self._cancelled_end()
            finally:
                forget()

    @asynccontextmanager
    async def _run_exchange(
        self, exchange: Callable[[], Coroutine[Any, Any, ExchangeEnded]]
    ) -> AsyncIterator[asyncio.Task[ExchangeEnded]]:
        """Yields its task, which has not begun, and cancels it at the end."""
        async with self._exchange:
            if self.row.ended is not None:
                raise HooklineError(f"the session {self.id} has ended ({self.row.ended})")
            self.last_used = self.clock.wall()
            self.main.abort = Abort()
            self._running = task = asyncio.ensure_future(exchange())
            try:
                yield task
            finally:
                await cancel_and_wait(task)
                self._running = None
                self.last_used = self.clock.wall()
                if (over := _session_end_reason(task)) is not None:
                    await self.end(over)

    def _cancelled_end(self) -> ExchangeEnded:
        return ExchangeEnded(self.main.id, self.agent.id, Ending.CANCELLED, self.main.abort.reason or "cancelled")


async def cancel_and_wait(task: asyncio.Future[Any]) -> None:
    """Cancels the task unless it is done, and waits until it has cleaned up."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _session_end_reason(task: asyncio.Task[ExchangeEnded]) -> str | None:
    """Set if a tool that ends the session succeeded."""
    if task.cancelled() or task.exception() is not None:
        return None
    ending = task.result().ending
    return str(ending) if ending in (Ending.SESSION_STOP, Ending.SESSION_FAIL) else None
