"""What conditions on the past say, and what they do without a memory."""

from __future__ import annotations

import pytest

from hookline import Event
from hookline.engine.limits import FireCounts
from hookline.errors import ConditionError
from hookline.hooks.conditions.logic import All, AnyOf, Not, find_conditions
from hookline.hooks.conditions.past_events import CountReached, HappenedBefore, provide_memory
from hookline.hooks.hook import EventCount, Period

BEFORE = HappenedBefore("k", "the tests passed", {})


def test_without_a_memory_it_cannot_be_evaluated() -> None:
    with pytest.raises(ConditionError):
        BEFORE.holds(Event("stop", {}))


def test_it_asks_the_memory_of_the_session() -> None:
    memory = FireCounts()
    for session, happened in (("a", True), ("b", False)):
        memory.remember(Event("tool.after", {"session": {"id": session}}), "k", happened)
    for session, happened in (("a", True), ("b", False), ("c", False)):
        event = Event("stop", {"session": {"id": session}})
        provide_memory(event, memory)
        assert BEFORE.holds(event) is happened
    assert BEFORE.why_not(Event("stop", {})) == "not yet in this session: the tests passed"


def test_it_is_found_at_any_depth() -> None:
    assert list(find_conditions(All((AnyOf((Not(BEFORE),)),)), HappenedBefore)) == [BEFORE]


def test_a_count_in_words() -> None:
    assert str(CountReached(EventCount(5, Period.HOUR))) == "more than 5 such events in an hour"
