"""What a decision asks for beside its verdict: words for the agent, a shorter history, an end."""

from __future__ import annotations

from hookline.engine.account import Decision
from hookline.runtime.compaction import compact
from hookline.runtime.notes import take_notes
from hookline.runtime.threads import StoredThread


async def obey(thread: StoredThread, decision: Decision) -> str | None:
    """Why the agent is to stop; None if it goes on."""
    await take_notes(thread, decision)
    await obey_requests(thread, decision)
    return thread.take_halt(decision)


async def obey_requests(thread: StoredThread, *decisions: Decision) -> None:
    for decision in decisions:
        for request in decision.requests:
            await compact(thread, request, "auto")
