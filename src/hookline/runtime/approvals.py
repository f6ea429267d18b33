"""Asks a person to approve one exact call. The request is stored, answered once, and denied when it expires."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.attempt import pause_timeouts
from hookline.hooks.outcome import NOBODY_HERE, AskTerms, Verdict
from hookline.hosts.python.session import NOBODY_ANSWERED, Question
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.gate import ToolCall, fingerprint
from hookline.runtime.notes import inject_notes
from hookline.runtime.notifications import notify_of_approval
from hookline.runtime.storage.tables import ApprovalRow
from hookline.runtime.thread import StoredThread
from hookline.runtime.updates import ApprovalAnswered, ApprovalRequested

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession

AskCallback = Callable[[Question], Awaitable[bool]]

NOBODY_WAITS: Final = "its caller no longer waits for it"
_POLL_SECONDS: Final = 0.2  # how often the store is checked for an answer


class ApprovalDenied(Exception):
    """Its text is the reason, as the agent sees it."""

    def __init__(self, reason: str, halted: str | None = None) -> None:
        super().__init__(reason)
        self.halted = halted


@dataclass(frozen=True, slots=True)
class ApprovedCall:
    """A call that a person approved, as it may run: with the input that the person saw, or changed."""

    call: ToolCall
    decision: Decision  # about exactly this call
    approval: ApprovalRow


async def request_approval(thread: StoredThread, call: ToolCall, decision: Decision) -> ApprovedCall:
    """The call as a person approved it. Raises ApprovalDenied."""
    session, row = thread.session, await _find_or_create_request(thread, call, decision)
    if row.answered is None:
        try:
            row = await _ask_hooks(thread, row, decision)
        except asyncio.CancelledError:
            if call.is_internal:  # its caller is gone, so no one resumes it
                await asyncio.shield(_withdraw_request(thread, row))
            raise
    session.emit(ApprovalAnswered(thread.id, thread.agent.id, row.id, row.answered is True, row.by or "nobody"))
    if row.answered is True and row.edited is not None and fingerprint(call.name, row.edited) != row.input_hash:
        return await _decide_edited(thread, call, decision, row)
    session.runtime.recorder.write_answer(session.book, decision.event, row.answered is True, row.by or "nobody")
    if row.answered is not True:
        why = f": {row.why}" if row.why else ""
        raise ApprovalDenied(f"{decision.reason or call.name} ({_describe_denial(row.by)}{why}){decision.source}")
    return ApprovedCall(call, decision, row)


async def _decide_edited(thread: StoredThread, call: ToolCall, decision: Decision, row: ApprovalRow) -> ApprovedCall:
    """Hooks decide about the input that the person wrote. A deny counts; an ask is answered by the person who wrote it."""
    session = thread.session
    tool = {**decision.event.facts["tool"], "input": row.edited}
    again = await session.decide(thread, "tool.before", {"tool": tool})
    denied = again.denied or again.halt
    session.runtime.recorder.write_answer(session.book, decision.event, True, row.by or "nobody", edit_denied=denied)
    if denied:
        reason = again.full_reason or f"{call.name} was denied"
        raise ApprovalDenied(reason, reason if again.halt else None)
    left = again.event.read(("tool", "input"))
    if not isinstance(left, dict):
        raise ApprovalDenied(f"a hook replaced the input of {call.name} with something that is not an object")
    edited = replace(call, input=left)
    now = session.clock.wall()
    approval = replace(
        row,
        id=f"approval_{uuid.uuid4().hex[:12]}",
        input=left,
        input_hash=fingerprint(call.name, left),
        created=now,
        answered_at=now,
        edited=None,
    )
    await session.store.add_approval(approval)
    return ApprovedCall(edited, again, approval)


async def _ask_hooks(thread: StoredThread, row: ApprovalRow, decision: Decision) -> ApprovalRow:
    approval = {"id": row.id, "reason": decision.reason, "hook": row.hook, "expires": row.expires}
    facts = {"tool": decision.event.facts["tool"], "approval": approval}
    asked = await thread.session.decide(thread, "approval.request", facts)
    await inject_notes(thread, asked)
    thread.defer_requests(asked)
    return await _settle_request(thread, row, asked, decision.ask_terms)


async def _withdraw_request(thread: StoredThread, row: ApprovalRow) -> None:
    with suppress(HooklineError):  # it expires anyway
        left = await _store_answer(thread.session, row, False, NOBODY_WAITS)
        thread.session.emit(ApprovalAnswered(thread.id, thread.agent.id, row.id, left.answered is True, left.by or ""))


def _describe_denial(by: str | None) -> str:
    return by or NOBODY_ANSWERED if by in (None, NOBODY_HERE, NOBODY_ANSWERED, NOBODY_WAITS) else f"{by} denied it"


async def _find_or_create_request(thread: StoredThread, call: ToolCall, decision: Decision) -> ApprovalRow:
    """The request that an earlier process stored for this call, or a new one."""
    session, hash = thread.session, fingerprint(call.name, call.input)
    now = session.clock.wall()
    used = {each.approval for each in await session.store.calls(thread.id)}
    for row in await session.store.approvals(thread.id, call.id):
        if row.input_hash != hash or row.id in used:
            continue
        is_open = row.answered is not None or row.expires > now
        return row if is_open else await _expire_request(session, row, decision.ask_terms)
    row = ApprovalRow(
        id=f"approval_{uuid.uuid4().hex[:12]}",
        session=session.id,
        thread=thread.id,
        call=call.id,
        tool=call.name,
        input=call.input,
        input_hash=hash,
        reason=decision.full_reason,
        hook=decision.by or "",
        created=now,
        expires=now + (decision.ask_terms.within or session.runtime.patience).total_seconds(),
    )
    await session.store.add_approval(row)
    return row


async def _settle_request(thread: StoredThread, row: ApprovalRow, asked: Decision, terms: AskTerms) -> ApprovalRow:
    session = thread.session
    if asked.halt or asked.denied:
        await _store_answer(session, row, False, f"hook {asked.by}")
        raise ApprovalDenied(asked.full_reason, asked.full_reason if asked.halt else None)
    if asked.verdict is Verdict.ALLOW:
        return await _store_answer(session, row, True, f"hook {asked.by}")
    earlier = await session.store.remembered_approval(row)
    if earlier is not None:
        return await _store_answer(session, row, True, earlier.by or "")
    session.emit(ApprovalRequested(thread.id, thread.agent.id, row.id, row.tool, row.input, row.reason, row.hook))
    if session.runtime.unattended:
        return await _store_answer(session, row, False, NOBODY_HERE)
    await notify_of_approval(thread, row.tool)
    return await _wait_for_person(session, row, terms)


async def _wait_for_person(session: AgentSession, row: ApprovalRow, terms: AskTerms) -> ApprovalRow:
    """The first answer, given here or through the store. At the deadline the default of the ask counts."""
    ask = session.runtime.ask
    question = Question(row.reason, row.tool, row.input, row.hook or None)
    asking = None if ask is None else asyncio.ensure_future(_ask_person(ask, question, session, row))
    try:
        with pause_timeouts():
            while True:
                found = await session.store.approval(row.id) or row
                if found.answered is not None:
                    return found
                if session.clock.wall() >= row.expires:
                    return await _expire_request(session, found, terms)
                if asking is not None and asking.done() and not asking.cancelled():
                    asking.result()  # raises at once if asking failed
                await session.runtime.sleep(_POLL_SECONDS)
    finally:
        if asking is not None:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


async def _expire_request(session: AgentSession, row: ApprovalRow, terms: AskTerms) -> ApprovalRow:
    """Answers a request whose deadline has passed with its default."""
    yes = terms.default is Verdict.ALLOW
    await session.store.answer_approval(row.id, yes, NOBODY_ANSWERED, math.nextafter(row.expires, 0))
    return await session.store.approval(row.id) or replace(row, answered=False)


async def _ask_person(ask: AskCallback, question: Question, session: AgentSession, row: ApprovalRow) -> None:
    yes = await ask(question)
    await _store_answer(session, row, yes is True, session.row.user or "the user")


async def _store_answer(session: AgentSession, row: ApprovalRow, yes: bool, by: str) -> ApprovalRow:
    await session.store.answer_approval(row.id, yes, by, session.clock.wall())
    return await session.store.approval(row.id) or row
