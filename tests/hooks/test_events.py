"""The names of events in each dialect."""

from __future__ import annotations

import pytest

from hookline.hooks.events import EVENTS, all_event_names, canonical_event, event_name_in, event_named, events_by_name

DIALECTS = sorted({dialect for kind in EVENTS.values() for dialect in kind.names})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialects_name_means_one_event_and_leads_back_to_it(dialect: str) -> None:
    names = [name for kind in EVENTS.values() for name in kind.names.get(dialect, ())]
    assert len(names) == len(set(names)) == len(events_by_name(dialect))
    for name, event in events_by_name(dialect).items():
        assert event_named(name, dialect) == event
        assert event_name_in(dialect, event) in EVENTS[event].names[dialect]


def test_every_name_means_an_event() -> None:
    assert all(canonical_event(name) in EVENTS for name in all_event_names())
    assert canonical_event("nowhere") is None
    assert event_named("nowhere", "flo") is None


def test_a_dialects_own_meaning_wins_and_any_other_dialects_counts() -> None:
    assert event_named("PreToolUse", None) == "tool.before"
    assert event_named("PreToolUse", "digitorn") == "tool.before"
    assert event_named("tool.before", "flo") == "tool.before"
    assert event_name_in("flo", "session.end") is None


def test_facts_that_hooks_may_change_are_facts_of_the_event() -> None:
    for kind in EVENTS.values():
        roots = {fact.partition(".")[0] for fact in kind.facts}
        assert {change.partition(".")[0] for change in kind.changes} <= roots | {"metadata", "messages"}, kind.name
