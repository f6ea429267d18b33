"""Decides an event without a round where that is possible: no hook fires, or the only one that fires is a constant deny.

Almost every event is one of these. A round costs several times as much as the search for the hooks that may fire: it is
made for hooks that wait, change the event, fail or are limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Final

from hookline.engine import match_budget
from hookline.engine.decision import Decision, silent_decision, stop_decision
from hookline.engine.flat_condition import QuickSearch, join_searches
from hookline.engine.index import FEW_HOOKS, HookIndex, IndexEntry, RankedEntry
from hookline.engine.match_budget import MatchBudget
from hookline.errors import UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.events import lacks_tool
from hookline.hooks.hook import Hook
from hookline.hooks.host import Host
from hookline.lazy_dataclasses import dataclass

_new: Final = object.__new__


@dataclass(frozen=True, slots=True)
class StartedMatch:
    """For a round that continues where the fast path stopped: the time is not given twice, nor the index asked twice."""

    budget: MatchBudget
    candidates: Sequence[RankedEntry]


class EventHooks:
    """The hooks of one event, in all layers: `indexes` with the numbers of the layers."""

    __slots__ = ("_few", "_only", "_search", "indexes", "waits")

    def __init__(self, indexes: Sequence[tuple[int, HookIndex]]) -> None:
        self.indexes = indexes
        self.waits = any(index.waits for _, index in indexes)
        self._only = indexes[0][1] if len(indexes) == 1 else None
        self._few: tuple[IndexEntry, ...] = ()  # all hooks, if they are so few that no index is searched
        self._search: QuickSearch | None = None  # None: not yet known

    def decide_fast(self, event: Event, reports_waiting: bool, host: Host) -> Decision | StartedMatch | None:
        """The decision that a round would come to; otherwise what the round needs to start. None if the event lacks its tool.

        reports_waiting: a hook that waits counts even if a deny keeps it from running.
        """
        search = self._search
        positions = self._prepare()(event) if search is None else search(event)
        if positions is not None and not positions:
            decision: Decision = _new(Decision)  # silent_decision, without the call
            decision.event = event
            return decision
        if positions is None:
            tool = event.facts.get("tool")  # looked at first, because `lacks_tool` takes longer
            if not (type(tool) is dict and tool.get("name")) and lacks_tool(event):
                return None
        deadline, only = perf_counter() + match_budget.WALL_SECONDS, self._only
        if self._few:
            return _ask(self._few, event, deadline, reports_waiting, host) or self._start(self._few, deadline)
        if only is None:
            return self._decide_ranked(event, deadline, reports_waiting, host)
        if positions is None:
            positions = only.candidates(event, deadline)
            if not positions:
                return silent_decision(event)
        if len(positions) == 1:  # as for most events that have a candidate; a list of one and a loop take longer
            entry = only.entry(positions[0])
            return _ask_one(entry, event, deadline, host) or self._start((entry,), deadline, positions)
        entries = [only.entry(position) for position in positions]
        return _ask(entries, event, deadline, reports_waiting, host) or self._start(entries, deadline, positions)

    def _prepare(self) -> QuickSearch:
        """Builds the search when the first event comes: many books never see one."""
        only = self._only
        if only is not None and len(only.hooks) <= FEW_HOOKS and not only.is_searched:
            self._few = tuple(map(only.entry, range(len(only.hooks))))
        self._search = join_searches([index.quick_search() for _, index in self.indexes])
        return self._search

    def _start(
        self, entries: Sequence[IndexEntry], deadline: float, positions: Sequence[int] | None = None
    ) -> StartedMatch:
        number = self.indexes[0][0]
        numbered = zip(range(len(entries)) if positions is None else positions, entries, strict=True)
        candidates = [((entry.order, number, position), entry) for position, entry in numbered]
        return StartedMatch(MatchBudget(deadline), candidates)

    def _decide_ranked(
        self, event: Event, deadline: float, reports_waiting: bool, host: Host
    ) -> Decision | StartedMatch:
        found: list[RankedEntry] = []
        for number, index in self.indexes:
            for position in index.candidates(event, deadline):
                entry = index.entry(position)
                found.append(((entry.order, number, position), entry))
        if len(found) > 1:
            found.sort(key=lambda ranked: ranked[0])
        decision = _ask([entry for _, entry in found], event, deadline, reports_waiting, host)
        return decision or StartedMatch(MatchBudget(deadline), found)


def _ask(
    entries: Sequence[IndexEntry], event: Event, deadline: float, reports_waiting: bool, host: Host
) -> Decision | None:
    """The decision if no hook fires, or the only one that does is a constant deny."""
    if len(entries) == 1:
        return _ask_one(entries[0], event, deadline, host)
    stopping: IndexEntry | None = None
    many = len(entries) > FEW_HOOKS
    try:
        for entry in entries:
            if stopping is not None and entry.group == stopping.group and not (reports_waiting and entry.waits):
                continue  # a deny ends its own group only
            if not entry.is_repeatable or (many and perf_counter() > deadline):
                return None
            if entry.holds(event, deadline):
                if stopping is not None or entry.decision is None:
                    return None
                stopping = entry
    except Exception:  # undecided, ambiguous, or a third party's: the round finds it again and reports it
        return None
    return silent_decision(event) if stopping is None else _stop(stopping, event, host)


def _ask_one(entry: IndexEntry, event: Event, deadline: float, host: Host) -> Decision | None:
    """`_ask` for one entry."""
    if not entry.is_repeatable:
        return None
    try:
        if not entry.holds(event, deadline):
            return silent_decision(event)
    except Exception:  # as above
        return None
    return _stop(entry, event, host)


def _stop(entry: IndexEntry, event: Event, host: Host) -> Decision | None:
    """The decision of a hook that fires alone; None if it is not a constant deny, or its fire cannot be counted."""
    if entry.decision is None or (entry.is_counted and not _count_fire(entry.hook, event, host)):
        return None
    return stop_decision(event, entry.decision, entry.hook, entry.answer)


def _count_fire(hook: Hook, event: Event, host: Host) -> bool:
    try:
        return host.limits.claim(hook, event, host.clock.now()) is not None
    except UnavailableError:  # the round reports it
        return False
