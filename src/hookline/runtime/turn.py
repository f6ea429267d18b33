"""A turn: one model call and the tool calls that it asks for."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from hookline.hooks.outcome import Compact
from hookline.runtime.calls import Done, ToolCalls
from hookline.runtime.happenings import Ending, Spoke, TryingAgain
from hookline.runtime.history import request_for
from hookline.runtime.interrupted import open_calls
from hookline.runtime.models.model import ErrorCode, ModelError, Piece, Request, Said, Spent, Wants
from hookline.runtime.models.tokens import message_tokens, request_tokens
from hookline.runtime.storage.rows import CallRow

if TYPE_CHECKING:
    from hookline.runtime.exchange import Exchange

MOST_TRIES: Final = 4
_FIRST_WAIT: Final = 1.0  # seconds before the second try; doubled for each one after it
_LONGEST_WAIT: Final = 60.0
_NONE: Final[Mapping[str, CallRow]] = {}


@dataclass(frozen=True, slots=True)
class Turned:
    text: str = ""
    called: tuple[str, ...] = ()  # the tools that the model asked for
    ending: Ending | None = None  # why there is no next turn


@dataclass(slots=True)
class _Answer:
    text: str
    calls: list[Wants]


class Turn:
    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.session = exchange.session
        self.thread = exchange.thread

    async def run(self) -> Turned:
        self._begin()
        stored = await self.thread.history()
        facts = {"prompt": self.thread.progress.prompt, "messages": stored}
        started = await self.session.decide(self.thread, "turn.start", facts)
        await self.exchange.take_notes(started)
        await self.exchange.obey_requests(started)
        halted = self.thread.take_halt(started)
        if halted is not None:
            return await self._over(Turned(halted, ending=Ending.HALTED))
        left = started.event.facts["messages"]
        answer = await self._asked(left if left is not stored and isinstance(left, list) else None)
        answer.calls = distinct(answer.calls, await self.thread.history())
        message = {"role": "assistant", "content": answer.text or None, **self._calls(answer)}
        if self.thread.agent.side_b is not None:
            message["side"] = self.thread.progress.side
        await self.thread.inject_message(message)
        called = tuple(self._name(wants) for wants in answer.calls)
        stopped = await self._call_all(answer.calls)
        if stopped is not None:
            return await self._over(stopped)
        return await self._over(Turned(answer.text, called))

    async def finish_calls(self) -> Turned | None:
        """Calls of the last answer that a process before us did not get to."""
        found = await open_calls(self.thread)
        begun = {wants.id: row for wants, row in found if row is not None}
        return await self._call_all([wants for wants, _ in found], begun)

    def _begin(self) -> None:
        self.thread.progress.turn = self.session.turns
        self.session.turns += 1
        self.thread.progress.step += 1
        self.thread.progress.metadata = {}

    async def _over(self, turned: Turned) -> Turned:
        """The turn's last event, whatever the turn came to; then the tools that wait for their turn."""
        ended = await self.session.decide(self.thread, "turn.end", {})
        await self.exchange.take_notes(ended)
        requested, self.exchange.requested = self.exchange.requested, ()
        await self.exchange.obey_requests(*requested, *self.thread.take_requests(), ended)
        await self.session.save(self.thread)
        halted = self.thread.take_halt(ended)
        if halted is not None:
            return Turned(halted, ending=Ending.HALTED)
        return turned if turned.ending is not None else await self._run_queued() or turned

    async def _run_queued(self) -> Turned | None:
        """None, unless one of them ends it; those after it are not run."""
        for name, input in await self.thread.take_queued():
            stopped = self._stopped_by(await ToolCalls(self.exchange).queued(name, input))
            if stopped is not None:
                return stopped
        return None

    def _calls(self, answer: _Answer) -> dict[str, Any]:
        if not answer.calls:
            return {}
        listed = [
            {"id": wants.id, "type": "function", "function": {"name": wants.name, "arguments": wants.arguments}}
            for wants in answer.calls
        ]
        return {"tool_calls": json.dumps(listed, ensure_ascii=False)}

    def _name(self, wants: Wants) -> str:
        tool = self.session.toolbox.find(wants.name)
        return wants.name if tool is None else tool.name

    async def _call_all(self, calls: list[Wants], begun: Mapping[str, CallRow] = _NONE) -> Turned | None:
        """One after the other; what remains after a stop is answered with that, so that each call has its result."""
        calling, stopped = ToolCalls(self.exchange), None
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

    # The model

    async def _asked(self, left: list[dict[str, Any]] | None) -> _Answer:
        """The model's answer, after as many tries as are worth it; `left` are the messages if a hook changed them.

        Raises ModelError.
        """
        compacted = False
        for attempt in range(1, MOST_TRIES + 1):
            messages = await self.thread.history() if left is None or compacted else left
            request = await request_for(self.session, self.thread, messages)
            try:
                return await self._streamed(request)
            except ModelError as error:
                overflow = error.code is ErrorCode.CONTEXT_OVERFLOW and not compacted
                halted = await self._told_of(error)
                if halted is not None:
                    raise halted from None
                if attempt == MOST_TRIES or not (error.passing or overflow):
                    raise
                if overflow:
                    compacted = True
                    await self._shortened()
                else:
                    await self._wait(error, attempt)
        raise AssertionError("every try returns or raises")

    async def _told_of(self, error: ModelError) -> Exception | None:
        from hookline.runtime.exchange import Halt

        facts = {"error": {"code": str(error.code), "message": str(error)}}
        decision = await self.session.decide(self.thread, "model.error", facts)
        await self.exchange.take_notes(decision)
        await self.exchange.obey_requests(decision)
        halted = self.thread.take_halt(decision)
        return None if halted is None else Halt(halted or str(error))

    async def _wait(self, error: ModelError, attempt: int) -> None:
        asked = error.retry_after.total_seconds() if error.retry_after is not None else 0.0
        seconds = min(max(asked, _FIRST_WAIT * 2 ** (attempt - 1)), _LONGEST_WAIT)
        self.session.tell(TryingAgain(self.thread.id, self.thread.agent.id, str(error.code), str(error), seconds))
        await self.session.runtime.sleep(seconds)

    async def _shortened(self) -> None:
        from hookline.runtime.compaction import compact

        await compact(self.session, self.thread, Compact(keep_recent=4), "auto")

    async def _streamed(self, request: Request) -> _Answer:
        model = await self.session.model_of(self.thread)
        answer, spent = _Answer("", []), None
        async with closing(model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case Said(text):
                        answer.text += text
                        self.session.tell(Spoke(self.thread.id, self.thread.agent.id, text))
                    case Wants():
                        answer.calls.append(piece)
                    case Spent():
                        spent = piece
        known = spent.input + spent.output if spent is not None else 0
        self.thread.progress.tokens = known or request_tokens(request) + message_tokens({"content": answer.text})
        return answer


def distinct(calls: list[Wants], messages: list[dict[str, Any]]) -> list[Wants]:
    """Some servers number the calls of each answer anew, and a result must belong to one call."""
    taken = {message.get("tool_call_id") for message in messages} | {""} if calls else set()
    named = []
    for wants in calls:
        named.append(replace(wants, id=f"call_{uuid.uuid4().hex[:12]}") if wants.id in taken else wants)
        taken.add(wants.id)
    return named


@asynccontextmanager
async def closing(pieces: AsyncIterator[Piece]) -> AsyncIterator[AsyncIterator[Piece]]:
    """Leaving it early ends the call."""
    try:
        yield pieces
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
