"""Conditions made of others: all, any, not."""

from __future__ import annotations

import math
from typing import Any

from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, All, AnyOf, Not, all_of
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches
from hookline.hooks.event import Event
from hookline.patterns.pattern import pattern


def with_fact(value: Any) -> Event:
    return Event("stop", {"x": value})


def test_all_of_nothing_holds_and_any_of_nothing_does_not() -> None:
    event = with_fact(1)
    assert All(()).holds(event)
    assert not AnyOf(()).holds(event)
    assert all_of([]) is ALWAYS
    assert all_of([ALWAYS, NEVER_HOLDS]) is NEVER_HOLDS


class _Counted:
    def __init__(self, answer: bool) -> None:
        self.answer, self.asked = answer, 0

    def holds(self, event: Event, deadline: float = math.inf) -> bool:
        self.asked += 1
        return self.answer

    def needs(self) -> tuple[()]:
        return ()

    def reads(self) -> tuple[()]:
        return ()

    def why_not(self, event: Event) -> str:
        return "counted"


def test_and_and_or_stop_early() -> None:
    last = _Counted(True)
    assert not All((NEVER_HOLDS, last)).holds(with_fact(1))
    assert AnyOf((ALWAYS, last)).holds(with_fact(1))
    assert last.asked == 0


def test_only_what_must_match_is_a_need() -> None:
    one, two = (Matches(Fact((name,)), pattern(name)) for name in "ab")
    assert [need.pattern.source for need in All((one, two)).needs()] == ["a", "b"]
    assert AnyOf((one, two)).needs() == ()
    assert [need.pattern.source for need in AnyOf((one,)).needs()] == ["a"]
    assert Not(one).needs() == ()
    assert All((one, Not(two))).needs() == one.needs()


def test_all_of_says_which_part_did_not_hold() -> None:
    condition = All((ALWAYS, Exists(("y",))))
    assert not condition.holds(with_fact("text"))
    assert condition.why_not(with_fact("text")) == "y is absent"


def test_any_of_says_each_reason_once_and_the_first_few() -> None:
    event = with_fact("text")
    same = AnyOf((Exists(("y",)), Exists(("y",))))
    assert same.why_not(event) == "y is absent"
    values = AnyOf(tuple(Equals(("x",), value) for value in "ab"))
    assert values.why_not(event) == "x is 'text', not 'a' or 'b'"
    many = AnyOf(tuple(Exists((name,)) for name in "abcde"))
    assert many.why_not(event) == "a is absent; b is absent; c is absent; and 2 more of its conditions do not hold"
    four = AnyOf(many.parts[:4])
    assert four.why_not(event).endswith("c is absent; and one more of its conditions does not hold")
