"""Applies what a decision contains besides its verdict: notes, compaction requests, a halt."""

from __future__ import annotations

from hookline.engine.decision import Decision
from hookline.runtime.compaction import compact
from hookline.runtime.notes import inject_notes
from hookline.runtime.thread import StoredThread


async def apply_effects(thread: StoredThread, decision: Decision) -> str | None:
    """Returns why the agent has to stop; None if it continues."""
    await inject_notes(thread, decision)
    await apply_requests(thread, decision)
    return thread.take_halt(decision)


async def apply_requests(thread: StoredThread, *decisions: Decision) -> None:
    for decision in decisions:
        for request in decision.requests:
            await compact(thread, request, "auto")
