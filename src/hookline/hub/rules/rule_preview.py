"""What rules would have decided about recorded events, before they are saved.

Nothing is done outside. Scripts run, as far as they call no tool; rules whose answer nobody knows are in `unknown`.
"""

from __future__ import annotations

import asyncio
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final

from hookline.engine.book import Layer
from hookline.hooks.hook import Hook
from hookline.hub.explain.hooks_in_force import HooksInForce
from hookline.hub.explain.script_trial import ScriptTrial
from hookline.hub.store.decision_table import DecisionFilter, DecisionTable
from hookline.hub.store.record_line import what_text
from hookline.record.record_reader import Record
from hookline.record.replayer import ReplayBook, ReplayDifference, compare, compare_uncertain, has_facts

MAX_EVENTS: Final = 10_000
_MAX_SHOWN: Final = 200
_STEP: Final = 200  # events between two breaths of the hub


class RulePreview:
    def __init__(self, decisions: DecisionTable, hooks: HooksInForce) -> None:
        self._decisions = decisions
        self._hooks = hooks

    async def run(self, set: str, hooks: tuple[Hook, ...], last: int, filter: DecisionFilter) -> dict[str, Any]:
        """Under the hooks that were in force then, with this set in place of its version of then."""
        records = [each for each in await self._decisions.latest(filter, min(last, MAX_EVENTS)) if has_facts(each)]
        counts = dict.fromkeys(ReplayDifference, 0)
        books: dict[str, tuple[ReplayBook, ReplayBook]] = {}
        scripts = ScriptTrial()
        shown: dict[ReplayDifference, list[dict[str, Any]]] = {each: [] for each in ReplayDifference}
        unknown: dict[str, None] = {}
        ids = {hook.id for hook in hooks}
        heard = 0
        for number, record in enumerate(records):
            if number % _STEP == 0:
                await asyncio.sleep(0)
            new, then = books.get(str(record.get("hooks"))) or await self._books(books, set, hooks, record, scripts)
            decision = await new.decide(record, then.hooks)
            difference = compare(record, decision)
            if difference is ReplayDifference.UNDECIDED:
                difference = await compare_uncertain(record, decision, then)
            counts[difference] += 1
            unknown |= dict.fromkeys(sorted(new.answers.unknown))
            heard += any(entry.hook.id in ids and not entry.skip_reason for entry in decision.trace)
            if difference is not ReplayDifference.SAME and len(shown[difference]) < _MAX_SHOWN:
                shown[difference].append(_difference_json(record, decision.verdict.word, decision.by, str(difference)))
        newest = (sorted(each, key=itemgetter("at"), reverse=True) for each in shown.values())
        items = list(islice(chain.from_iterable(newest), _MAX_SHOWN))  # loosened ones first, undecided ones last
        counted = {str(each): count for each, count in counts.items()}
        return {"events": len(records), "heard": heard, **counted, "items": items, "unknown": list(unknown)}

    async def _books(
        self,
        books: dict[str, tuple[ReplayBook, ReplayBook]],
        set: str,
        hooks: tuple[Hook, ...],
        record: Record,
        scripts: ScriptTrial,
    ) -> tuple[ReplayBook, ReplayBook]:
        then = await self._hooks.then(record)
        new = then.with_layer(Layer(f"rules/{set}", hooks))
        made = books[str(record.get("hooks"))] = (ReplayBook(new, scripts.answer), ReplayBook(then))
        return made


def _difference_json(record: Record, after: str, by: str | None, difference: str) -> dict[str, Any]:
    names = ("id", "at", "host", "session", "event", "tool")
    return {
        **{name: record.get(name) for name in names},
        "what": what_text(record),
        "before": record.get("verdict", "silent"),
        "after": after,
        "hook": by,
        "difference": difference,
    }
