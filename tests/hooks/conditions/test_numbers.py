"""Conditions on numbers: comparisons, multiples, expressions, custom conditions."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hookline.errors import ConditionError
from hookline.hooks.conditions.numbers import Comparison, CustomCondition, ExpressionCondition, MultipleOf
from hookline.hooks.event import Event
from hookline.patterns.expressions import expression


def with_fact(value: Any) -> Event:
    return Event("stop", {"x": value})


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


def test_a_third_partys_condition_gets_a_copy_and_may_raise() -> None:
    def spoil(params: Any, event: Event) -> bool:
        event.facts["x"].append(params)
        return True

    def fail(params: Any, event: Event) -> bool:
        raise KeyError("x")

    event = with_fact([])
    assert CustomCondition("spoil", spoil, 1).holds(event)
    assert event.facts == {"x": []}
    with pytest.raises(ConditionError, match="fail raised KeyError"):
        CustomCondition("fail", fail).holds(event)


def test_an_expression_that_cannot_be_computed_is_undecided_or_false() -> None:
    formula, variables = expression("1 / x > 0", frozenset({"x"})), (("x", ("x",)),)
    condition = ExpressionCondition(formula, variables)
    assert condition.holds(with_fact(2))
    for zero in (0, "text"):
        with pytest.raises(ConditionError, match="1 / x > 0: it divides by zero"):
            condition.holds(with_fact(zero))
    false = ExpressionCondition(formula, variables, false_on_error=True)
    assert not false.holds(with_fact(0))
    assert not false.holds(with_fact("text"))
    assert "x = 0" in condition.why_not(with_fact(None))


def test_a_multiple_says_why_it_did_not_hold() -> None:
    condition = MultipleOf(("x",), 2)
    assert not condition.holds(with_fact("text"))
    assert condition.why_not(with_fact("text")) == "x is 'text', not a multiple of 2"
