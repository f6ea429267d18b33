"""Explains recorded decisions, and decides them anew. What programs answered is taken from the record.

Nothing is run but scripts of today's hooks, as far as they call no tool.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hub.explain.hooks_in_force import HooksInForce
from hookline.hub.explain.script_trial import ScriptTrial
from hookline.hub.store.decision_table import DecisionTable, StoredDecision
from hookline.record.record_reader import Record
from hookline.record.replayer import (
    AnswerUnrecorded,
    ReplayBook,
    ReplayDifference,
    compare,
    has_facts,
    is_uncertain,
    missing_hooks,
    restore_trace,
)

_MAX_EARLIER: Final = 2000  # decisions of a session that limits and counts look back at


class NotExplainable(HooklineError):
    """The event's facts were not recorded."""


class Explainer:
    def __init__(self, decisions: DecisionTable, hooks: HooksInForce) -> None:
        self._decisions = decisions
        self._hooks = hooks

    async def explain(self, found: StoredDecision) -> dict[str, Any]:
        """Every hook that was in force: its answer, or the part of its condition that was not true."""
        return await self._decide(found, await self._hooks.then(found.record), "then")

    async def replay(self, found: StoredDecision, book: Book | None = None) -> dict[str, Any]:
        """The decision under these hooks, or under today's, and how it differs."""
        if book is not None:
            return await self._decide(found, book, "now")
        return await self._decide(found, await self._hooks.now(found.record), "now", ScriptTrial().answer)

    async def _decide(
        self, found: StoredDecision, book: Book, under: str, answer_unrecorded: AnswerUnrecorded | None = None
    ) -> dict[str, Any]:
        """Raises NotExplainable."""
        record = found.record
        if not has_facts(record):
            raise NotExplainable("the facts of this event were not recorded, so it cannot be explained")
        then = ReplayBook(await self._hooks.then(record))
        chosen = ReplayBook(book, answer_unrecorded)
        async for earlier in self._earlier(found, chosen):
            await chosen.decide(earlier, then.hooks)
        decision = await chosen.decide(record, then.hooks, explain=True)
        restore_trace(decision, record)
        missing = missing_hooks(record, then.hooks) if under == "then" else []
        return {
            "id": record["id"],
            "under": under,
            "decision": decision.as_json(),
            "difference": str(compare(record, decision)),
            "differs": compare(record, decision) is not ReplayDifference.SAME,
            "unknown": sorted(chosen.answers.unknown),
            "uncertain": is_uncertain(record),
            "missing": [{key: entry.get(key) for key in ("hook", "file", "line", "outcome")} for entry in missing],
        }

    async def _earlier(self, found: StoredDecision, book: ReplayBook) -> AsyncIterator[Record]:
        """Hooks may count the decisions of the session before this one, or ask what happened."""
        if book.remembers:
            for record in await self._decisions.earlier_in_session(found, _MAX_EARLIER):
                if has_facts(record) and not record.get("again"):
                    yield record
