"""A turn: one model call and the tool calls that it asks for."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.runtime.answer import answer_in
from hookline.runtime.calls import Done, ToolCalls
from hookline.runtime.children import children_of, leave_children
from hookline.runtime.happenings import Ending
from hookline.runtime.history import messages_left, written_calls
from hookline.runtime.interrupted import last_answer, open_calls
from hookline.runtime.models.model import Wants
from hookline.runtime.notes import take_notes
from hookline.runtime.obeying import obey, obey_requests
from hookline.runtime.storage.rows import CallRow
from hookline.runtime.threads import StoredThread

_NONE: Final[Mapping[str, CallRow]] = {}
_LONGEST_ID: Final = 200  # characters; a call of a longer one gets an id of ours


@dataclass(frozen=True, slots=True)
class Turned:
    text: str = ""
    called: tuple[str, ...] = ()  # the tools that the model asked for
    queued: bool = False  # tools that hooks had queued have answered
    ending: Ending | None = None  # why there is no next turn


class Turn:
    def __init__(self, thread: StoredThread) -> None:
        self.thread = thread
        self.session = thread.session

    async def run(self) -> Turned:
        await self._begin()
        return await self._to_its_end(self._made())

    async def _made(self) -> Turned:
        stored = await self.thread.history()
        facts = {"prompt": self.thread.progress.prompt, "messages": stored}
        started = await self.session.decide(self.thread, "turn.start", facts)
        halted = await obey(self.thread, started)
        if halted is not None:
            return Turned(halted, ending=Ending.HALTED)
        left = messages_left(self.thread, started, stored, "messages")
        answer = await answer_in(self.thread, left if left is not stored else None)
        calls = distinct(answer.calls, await self.thread.call_ids()) if answer.calls else []
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if calls:
            message["tool_calls"] = written_calls(calls)
        await self.thread.inject_message(message | self.thread.spoken_by)
        called = tuple(self._name(wants) for wants in calls)
        return await self._call_all(calls) or Turned(answer.text, called)

    async def finish(self) -> Turned | None:
        """What was cut off, if anything: calls of the last answer, and the turn's end."""
        found = await open_calls(self.thread)
        if not found and not self.thread.progress.in_turn:
            return None
        return await self._to_its_end(self._finished(found))

    async def leave(self) -> None:
        """Nobody goes on with what was cut off: its end comes, and nothing is run."""
        if self.thread.progress.in_turn:
            await self._end()

    async def _finished(self, found: list[tuple[Wants, CallRow | None]]) -> Turned:
        begun = {wants.id: row for wants, row in found if row is not None and not self._goes_on(row)}
        stopped = await self._call_all([wants for wants, _ in found], begun)
        await leave_children(self.thread)
        if stopped is not None or not found:
            return stopped or Turned()
        text, calls = await last_answer(self.thread)
        return Turned(text, tuple(self._name(wants) for wants in calls))

    def _goes_on(self, row: CallRow) -> bool:
        """True if it started agents and did not hear of the end of each: they are not started a second time."""
        started = [child for child in children_of(self.thread) if child.errand.call == row.call]
        return any(child.cut_off for child in started) or (bool(started) and row.ended is None)

    async def _begin(self) -> None:
        """It is stored before anybody hears of it, so that no other turn has its number after a crash."""
        progress = self.thread.progress
        progress.turn, progress.in_turn, progress.metadata = self.session.turns, True, {}
        self.session.turns += 1
        progress.step += 1
        try:
            await self.session.save(self.thread)
        except HooklineError:  # there is no turn
            progress.in_turn = False
            raise

    async def _to_its_end(self, work: Awaitable[Turned]) -> Turned:
        """The turn's last event comes whatever the turn came to; then run the tools that wait for their turn."""
        try:
            turned = await work
        except HooklineError:
            await self._end()
            raise
        halted = await self._end()
        if halted is not None:
            return Turned(halted, ending=Ending.HALTED)
        return turned if turned.ending is not None else await self.run_queued(turned)

    async def _end(self) -> str | None:
        """Why the agent is to stop, if it is."""
        ended = await self.session.decide(self.thread, "turn.end", {})
        self.thread.progress.in_turn = False
        await take_notes(self.thread, ended)
        await obey_requests(self.thread, *self.thread.take_requests(), ended)
        await self.session.save(self.thread)
        return self.thread.take_halt(ended)

    async def run_queued(self, turned: Turned) -> Turned:
        """The same turn, with the tools that waited for its end; those after one that ends it are not run."""
        waiting = await self.thread.queued()
        for at, row in enumerate(waiting, 1):
            stopped = self._stopped_by(await ToolCalls(self.thread).queued(row))
            if stopped is not None:
                await self.session.store.unqueue(self.thread.id, waiting[at:])
                return stopped
            turned = replace(turned, queued=True)
        return turned

    def _name(self, wants: Wants) -> str:
        tool = self.thread.toolbox.find(wants.name)
        return wants.name if tool is None else tool.name

    async def _call_all(self, calls: list[Wants], begun: Mapping[str, CallRow] = _NONE) -> Turned | None:
        """One after the other; what remains after a stop is answered with that, so that each call has its result."""
        calling, stopped = ToolCalls(self.thread), None
        for wants in calls:
            if wants.id in begun:
                stopped = self._stopped_by(await calling.cut_off(wants, begun[wants.id])) or stopped
                continue
            if stopped is not None:
                await calling.not_run(wants, "not run: the agent was stopped")
                continue
            done = await calling.wanted(wants)
            stopped = self._stopped_by(done)
        return stopped

    def _stopped_by(self, done: Done) -> Turned | None:
        side = self.thread.side
        if done.halted is not None:
            return Turned(done.halted, ending=Ending.HALTED)
        if done.ok and done.name == side.session_stop:
            return Turned(done.text, ending=Ending.SESSION_STOP)
        if done.ok and done.name == side.session_fail:
            return Turned(done.text, ending=Ending.SESSION_FAIL)
        return None


def distinct(calls: list[Wants], taken: set[str]) -> list[Wants]:
    """Some servers number the calls of each answer anew; a result, and a person's answer, must belong to one call.

    What is returned is taken from now on.
    """
    named = []
    for wants in calls:
        own = wants.id and len(wants.id) <= _LONGEST_ID and wants.id not in taken
        named.append(wants if own else replace(wants, id=f"call_{uuid.uuid4().hex[:12]}"))
        taken.add(named[-1].id)
    return named
