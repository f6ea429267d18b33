"""Conditions on text: equality, existence, patterns, recent messages."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, RecentMessagesContain, format_fact
from hookline.hooks.event import MISSING, Event
from hookline.hooks.protocols import Condition
from hookline.patterns.pattern import pattern


def with_fact(value: Any) -> Event:
    return Event("stop", {"x": value})


@pytest.mark.parametrize(
    ("value", "fact", "holds"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1, True, False),
        (True, 1, False),
        (0, False, False),
        (False, False, True),
        (None, None, True),
        ({"a": True}, {"a": 1}, False),
        ([1, [0]], [1, [False]], False),
        ({"a": [1]}, {"a": [1]}, True),
        ("1", 1, False),
        (math.nan, math.nan, False),
    ],
)
def test_true_is_not_one_wherever_it_stands(value: Any, fact: Any, holds: bool) -> None:
    given = with_fact(float("nan")) if fact != fact else with_fact(fact)
    assert Equals(("x",), value).holds(given) is holds


def test_nothing_is_what_an_absent_fact_is() -> None:
    for value in (None, "", 0, False, MISSING.__repr__()):
        assert not Equals(("y",), value).holds(with_fact(1))
    assert Exists(("x",)).holds(with_fact(None))
    assert not Exists(("y",)).holds(with_fact(None))


@pytest.mark.parametrize(
    ("messages", "holds"),
    [
        ([{"content": "A KEYWORD here"}], True),
        ([{"content": [{"type": "text", "text": "keyword"}, {"type": "image"}, "odd", 5]}], True),
        (["keyword"], True),
        ([{"content": "keyword"}, *[{"content": "x"}] * 5], False),
        ([{"content": None}, {"content": 5}, None, 5, []], False),
        ({}, False),
        ("keyword", False),
        (None, False),
    ],
)
def test_one_of_the_last_five_messages_says_it_in_any_case(messages: Any, holds: bool) -> None:
    assert RecentMessagesContain("Keyword").holds(Event("turn.start", {"messages": messages})) is holds


def test_what_is_shown_is_short() -> None:
    deep = {"a": {"b": {"c": {"d": {"e": {}}}}}}
    for value in (10**5000, [10**5000], "x" * 1000, ["x" * 1000] * 50, deep, b"x" * 500):
        assert 0 < len(format_fact(value)) <= 70


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (Matches(Fact(("x",)), pattern("a")), "x 'text' does not match a"),
        (Matches(Fact(("y",)), pattern("a")), "y is absent or not text"),
        (Equals(("x",), "other"), "x is 'text', not 'other'"),
        (Exists(("y",)), "y is absent"),
    ],
)
def test_a_text_condition_says_why_it_did_not_hold(condition: Condition, why: str) -> None:
    assert not condition.holds(with_fact("text"))
    assert condition.why_not(with_fact("text")) == why
