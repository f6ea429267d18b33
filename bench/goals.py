"""What hookline promises about its speed: a row for each promise, with its limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Goal(NamedTuple):
    """Each benchmark says its own; `make bench` prints all of them."""

    row: str
    measured: float
    limit: float
    unit: str
    at_least: bool = False  # more is better

    @property
    def is_reached(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def goal_rows(goals: Iterable[Goal]) -> list[dict[str, str]]:
    return [
        {
            "row": goal.row,
            "measured": f"{_number(goal.measured, goal.unit)} {goal.unit}",
            "must be": f"{'at least' if goal.at_least else 'at most'} {_number(goal.limit, goal.unit)}",
            "reached": "yes" if goal.is_reached else "no",
        }
        for goal in goals
    ]


def _number(value: float, unit: str) -> str:
    """A part of something as 1/20, anything else as it is."""
    if not (unit.startswith("of ") and 0 < value < 0.5):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    parts = 1 / value
    return f"1/{parts:,.0f}" if parts >= 10 else f"1/{parts:.1f}".removesuffix(".0")  # 1/3.9 is not at most 1/4
