"""Applies what a decision contains besides its verdict: notes, compaction requests, a halt."""

from __future__ import annotations

from hookline.engine.decision import Decision
from hookline.hooks.outcome import HostRequest
from hookline.runtime.compaction import compact
from hookline.runtime.notes import inject_notes
from hookline.runtime.thread import StoredThread


async def apply_effects(thread: StoredThread, decision: Decision) -> str | None:
    """Returns why the agent has to stop; None if it continues."""
    await inject_notes(thread, decision)
    await apply_requests(thread, decision)
    return thread.take_halt(decision)


async def apply_requests(thread: StoredThread, *decisions: Decision) -> None:
    """A request that changed nothing does not count as a fire of its hook."""
    for decision in decisions:
        for request in decision.requests:
            if not await compact(thread, request, "auto"):
                _give_back_fires(thread, decision, request)


def _give_back_fires(thread: StoredThread, decision: Decision, request: HostRequest) -> None:
    for entry in decision.trace:
        if entry.outcome is not None and request in entry.outcome.requests:
            thread.session.counts.give_back(entry.hook, thread.session.id)
