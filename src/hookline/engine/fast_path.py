"""Decides an event without a round where that is possible: no hook fires, or the only one that fires is a constant deny.

Almost every event is one of these. A round costs several times as much as the search for the hooks that may fire: it is
made for hooks that wait, change the event, fail or are limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Final, NamedTuple

from hookline.engine import match_budget
from hookline.engine.decision import Decision, TraceEntry
from hookline.engine.index import HookIndex, IndexEntry, RankedEntry
from hookline.engine.match_budget import MatchBudget
from hookline.hooks.event import Event

_FEW_HOOKS: Final = 4  # that are asked without a look at the clock between them


class StartedMatch(NamedTuple):
    """For a round that continues where the fast path stopped: the time is not given twice, nor the index asked twice."""

    budget: MatchBudget
    candidates: Sequence[RankedEntry]


def decide_fast(
    indexes: Sequence[tuple[int, HookIndex]], event: Event, reports_waiting: bool
) -> Decision | StartedMatch:
    """The decision that a round would come to; otherwise what the round needs to start.

    reports_waiting: a hook that waits counts even if a deny keeps it from running.
    """
    deadline = perf_counter() + match_budget.MATCH_SECONDS * 3 / 4
    candidates: Sequence[RankedEntry] | None = None
    stopping: IndexEntry | None = None
    number, first = indexes[0]
    if len(indexes) > 1:
        candidates = _find_candidates(indexes, event, deadline)
        entries: Sequence[IndexEntry] = [entry for _, entry in candidates]
        positions: Sequence[int] | None = None
    elif first.is_searched:
        positions = first.candidates(event, deadline)
        if not positions:
            return Decision(event)
        entries = [first.entry(position) for position in positions]
    else:
        entries = first.all_entries or first.make_entries()
        positions = None
    many = len(entries) > _FEW_HOOKS
    try:
        for entry in entries:
            if stopping is not None and entry.group == stopping.group and not (reports_waiting and entry.waits):
                continue  # a deny ends its own group only
            if not entry.is_repeatable or (many and perf_counter() > deadline):
                break
            if entry.holds(event, deadline):
                if stopping is not None or entry.decision is None:
                    break
                stopping = entry
        else:
            if stopping is None or stopping.decision is None:
                return Decision(event)
            return Decision(event, *stopping.decision, (), (TraceEntry(stopping.hook, stopping.answer),))
    except Exception:  # undecided, ambiguous, or a third party's: the round finds it again and reports it
        pass
    if candidates is None:
        candidates = [
            ((entry.order, number, position), entry)
            for position, entry in zip(positions or range(len(entries)), entries, strict=True)
        ]
    return StartedMatch(MatchBudget(deadline), candidates)


def _find_candidates(indexes: Sequence[tuple[int, HookIndex]], event: Event, deadline: float) -> Sequence[RankedEntry]:
    found: list[RankedEntry] = []
    for number, index in indexes:
        for position in index.candidates(event, deadline):
            entry = index.entry(position)
            found.append(((entry.order, number, position), entry))
    if len(found) > 1:
        found.sort(key=lambda ranked: ranked[0])
    return found
