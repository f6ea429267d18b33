"""Pure questions about an event."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, All, AnyOf, Not, all_of
from hookline.hooks.conditions.numbers import Comparison, CustomCondition, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, RecentMessagesContain, format_fact
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import MISSING, Event
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import ToolKind
from hookline.patterns.expressions import expression
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
    ("comparison", "number", "fact", "holds"),
    [
        ("above", 3, 3, False),
        ("above", 3, 4, True),
        ("above", 3, [1, 2, 3, 4], True),
        ("at_least", 3, 3, True),
        ("below", 3, {"a": 1}, True),
        ("at_most", 3, 3.5, False),
        ("equals", 3, 3.0, True),
        ("above", 3, 10**400, True),
        ("above", 0, True, False),
        ("at_least", 0, "5", False),
        ("above", 0, math.nan, False),
        ("below", 0, math.nan, False),
        ("equals", 0, None, False),
        ("above", 3, math.inf, True),
    ],
)
def test_a_fact_is_compared_with_a_number_if_it_is_one_or_can_be_counted(
    comparison: str, number: float, fact: Any, holds: bool
) -> None:
    condition = Comparison(("x",), comparison, number)
    assert condition.holds(with_fact(fact)) is holds
    assert condition.why_not(with_fact(fact)).startswith("x is ")


@pytest.mark.parametrize(
    ("fact", "holds"),
    [(0, False), (3, True), (6.0, True), (4, False), (-3, False), (3.5, False), (math.nan, False), (math.inf, False), (True, False), ("3", False), (3 * 10**400, True)],
)  # fmt: skip
def test_every_third_is_three_six_nine(fact: Any, holds: bool) -> None:
    assert MultipleOf(("x",), 3).holds(with_fact(fact)) is holds


def test_every_zeroth_is_never() -> None:
    assert not MultipleOf(("x",), 0).holds(with_fact(3))


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


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ({"name": "bash"}, ToolKind.SHELL),
        ({"name": "bash", "kind": "read"}, ToolKind.READ),
        ({"name": "odd"}, ToolKind.OTHER),
        ({"name": "bash", "kind": 5}, ToolKind.SHELL),
    ],
)
def test_the_declared_kind_counts_else_that_of_the_name(tool: Any, kind: ToolKind) -> None:
    event = Event("tool.before", {"tool": tool})
    assert [each for each in ToolKind if ToolKindIs(each).holds(event)] == [kind]
    assert not ToolKindIs(ToolKind.OTHER).holds(Event("stop", {}))


def test_a_third_partys_condition_gets_a_copy_and_may_raise() -> None:
    def spoil(params: Any, event: Event) -> bool:
        event.facts["x"].append(params)
        return True

    def fail(params: Any, event: Event) -> bool:
        raise KeyError("x")

    event = with_fact([])
    assert CustomCondition("spoil", spoil, 1).holds(event)
    assert event.facts == {"x": []}
    assert not CustomCondition("fail", fail).holds(event)


def test_an_expression_that_cannot_be_computed_is_false() -> None:
    condition = ExpressionCondition(expression("1 / x > 0", frozenset({"x"})), (("x", ("x",)),))
    assert condition.holds(with_fact(2))
    assert not condition.holds(with_fact(0))
    assert not condition.holds(with_fact("text"))
    assert "x = 0" in condition.why_not(with_fact(None))


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
        (MultipleOf(("x",), 2), "x is 'text', not a multiple of 2"),
        (ToolKindIs(ToolKind.SHELL), "the tool's kind is other, not shell"),
        (All((ALWAYS, Exists(("y",)))), "y is absent"),
    ],
)
def test_a_condition_says_which_part_did_not_hold(condition: Condition, why: str) -> None:
    assert not condition.holds(with_fact("text"))
    assert condition.why_not(with_fact("text")) == why
