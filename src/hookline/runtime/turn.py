"""A turn: one model call and the tool calls that it asks for."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.effects import apply_effects, apply_requests
from hookline.runtime.history import format_calls, messages_after_hooks
from hookline.runtime.model_call import call_model
from hookline.runtime.models.model import RequestedCall
from hookline.runtime.notes import inject_notes
from hookline.runtime.recovery import last_answer, open_calls
from hookline.runtime.storage.tables import CallRow
from hookline.runtime.subagent import abandon_subagents, subagents_of
from hookline.runtime.thread import StoredThread
from hookline.runtime.tool_calls import CompletedCall, ToolCalls
from hookline.runtime.updates import Ending

_NO_CALLS: Final[Mapping[str, CallRow]] = {}
_MAX_ID_LENGTH: Final = 200  # characters; longer ids are replaced


@dataclass(frozen=True, slots=True)
class TurnResult:
    text: str = ""
    called: tuple[str, ...] = ()  # the tools that the model asked for
    queued: bool = False  # tools queued by hooks have run
    ending: Ending | None = None  # why there is no next turn


class Turn:
    def __init__(self, thread: StoredThread) -> None:
        self.thread = thread
        self.session = thread.session

    async def run(self) -> TurnResult:
        await self._begin()
        return await self._run_to_end(self._call_model_and_tools())

    async def _call_model_and_tools(self) -> TurnResult:
        stored = await self.thread.history()
        facts = {"prompt": self.thread.progress.prompt, "messages": stored}
        if self.thread.parent is None and self.thread.progress.turn == 0:
            first = await self.session.decide(self.thread, "session.first_turn", facts)
            halted = await apply_effects(self.thread, first)
            if halted is not None:
                return TurnResult(halted, ending=Ending.HALTED)
        started = await self.session.decide(self.thread, "turn.start", facts)
        halted = await apply_effects(self.thread, started)
        if halted is not None:
            return TurnResult(halted, ending=Ending.HALTED)
        left = messages_after_hooks(self.thread, started, stored, "messages")
        answer = await call_model(self.thread, left if left is not stored else None)
        calls = with_unique_ids(answer.calls, await self.thread.call_ids()) if answer.calls else []
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if calls:
            message["tool_calls"] = format_calls(calls)
        labels = self.session.interception.take_labels(self.thread)
        await self.thread.inject_message(message | self.thread.speaker_fields | labels)
        called = tuple(self._tool_name(requested) for requested in calls)
        return await self._run_calls(calls) or TurnResult(answer.text, called)

    async def finish(self) -> TurnResult | None:
        """Completes an interrupted turn: open calls of the last answer, and the turn's end. None if there was none."""
        found = await open_calls(self.thread)
        if not found and not self.thread.progress.in_turn:
            return None
        return await self._run_to_end(self._finish_calls(found))

    async def abandon(self) -> None:
        """Ends an interrupted turn without running anything."""
        if self.thread.progress.in_turn:
            await self._end()

    async def _finish_calls(self, found: list[tuple[RequestedCall, CallRow | None]]) -> TurnResult:
        begun = {requested.id: row for requested, row in found if row is not None and not self._has_open_subagents(row)}
        stopped = await self._run_calls([requested for requested, _ in found], begun)
        await abandon_subagents(self.thread)
        if stopped is not None or not found:
            return stopped or TurnResult()
        text, calls = await last_answer(self.thread)
        return TurnResult(text, tuple(self._tool_name(requested) for requested in calls))

    def _has_open_subagents(self, row: CallRow) -> bool:
        """True if the call started sub-agents whose end is missing: they are not started again."""
        started = [child for child in subagents_of(self.thread) if child.subagent_task.call == row.call]
        return any(child.is_interrupted for child in started) or (bool(started) and row.ended is None)

    async def _begin(self) -> None:
        """Stores the turn before its first event, so that its number is never used again after a crash."""
        progress = self.thread.progress
        progress.turns, progress.in_turn, progress.metadata = progress.turns + 1, True, {}
        self.session.turns += 1
        progress.step += 1
        try:
            await self.session.save(self.thread)
        except HooklineError:  # the turn did not start
            progress.in_turn = False
            raise

    async def _run_to_end(self, work: Awaitable[TurnResult]) -> TurnResult:
        """Fires turn.end however the turn ended, then runs queued tools."""
        try:
            turned = await work
        except HooklineError:
            await self._end()
            raise
        halted = await self._end(saves=turned.ending is not None or not turned.called)
        if halted is not None:
            return TurnResult(halted, ending=Ending.HALTED)
        return turned if turned.ending is not None else await self.run_queued(turned)

    async def _end(self, *, saves: bool = True) -> str | None:
        """Returns why the agent has to stop, if so.

        saves: False if the next turn begins at once: it is stored together with this turn's end. If there is no next
        turn after all, the exchange stores it.
        """
        ended = await self.session.decide(self.thread, "turn.end", {})
        self.thread.progress.in_turn = False
        await inject_notes(self.thread, ended)
        await apply_requests(self.thread, *self.thread.take_requests(), ended)
        self.thread.progress.is_unsaved = True
        if saves:
            await self.session.save(self.thread)
        return self.thread.take_halt(ended)

    async def run_queued(self, turned: TurnResult) -> TurnResult:
        """Runs the queued tools. A tool that ends the exchange drops the ones after it."""
        waiting = await self.thread.queued_tools()
        if waiting:
            await self.session.save_if_changed(self.thread)
        for at, row in enumerate(waiting, 1):
            stopped = self._stop_result(await ToolCalls(self.thread).run_queued(row))
            if stopped is not None:
                await self.session.store.unqueue_tools(self.thread.id, waiting[at:])
                return stopped
            turned = replace(turned, queued=True)
        return turned

    def _tool_name(self, requested: RequestedCall) -> str:
        tool = self.thread.toolbox.find(requested.name)
        return requested.name if tool is None else tool.name

    async def _run_calls(
        self, calls: list[RequestedCall], begun: Mapping[str, CallRow] = _NO_CALLS
    ) -> TurnResult | None:
        """Runs the calls one after another. After a stop the rest are rejected, so that every call has a result."""
        calling, stopped = ToolCalls(self.thread), None
        for requested in calls:
            if requested.id in begun:
                stopped = self._stop_result(await calling.recover(requested, begun[requested.id])) or stopped
                continue
            if stopped is not None:
                await calling.reject(requested, "not run: the agent was stopped")
                continue
            done = await calling.run(requested)
            stopped = self._stop_result(done)
        return stopped

    def _stop_result(self, done: CompletedCall) -> TurnResult | None:
        side = self.thread.side
        if done.halted is not None:
            return TurnResult(done.halted, ending=Ending.HALTED)
        if done.ok and done.name == side.session_stop:
            return TurnResult(done.text, ending=Ending.SESSION_STOP)
        if done.ok and done.name == side.session_fail:
            return TurnResult(done.text, ending=Ending.SESSION_FAIL)
        return None


def with_unique_ids(calls: list[RequestedCall], taken: set[str]) -> list[RequestedCall]:
    """Replaces ids that are empty, too long or taken: some servers number the calls of each answer from zero.

    Adds the returned ids to `taken`.
    """
    named = []
    for requested in calls:
        own = requested.id and len(requested.id) <= _MAX_ID_LENGTH and requested.id not in taken
        named.append(requested if own else replace(requested, id=f"call_{uuid.uuid4().hex[:12]}"))
        taken.add(named[-1].id)
    return named
