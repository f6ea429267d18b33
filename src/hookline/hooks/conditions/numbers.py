"""Counts, turns, context pressure: a fact against a number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.condition import NEVER, Need
from hookline.hooks.conditions.text import shown
from hookline.hooks.event import Event, Path, path_text
from hookline.hooks.fields import agreed, value_at, values_at

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
    "equals": operator.eq,
}


_LARGE: Final = 10**300


def number_at(event: Event, path: Path) -> float | None:
    """The number there; a list or a mapping stands for its length."""
    return _number(value_at(event, path))


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    return len(value) if isinstance(value, (list, dict)) else None


def number_text(number: float) -> str:
    """Briefly; one beyond what a float holds as any other fact."""
    return f"{number:g}" if abs(number) < _LARGE else shown(number)


@dataclass(frozen=True, slots=True)
class Compared:
    path: Path
    comparison: str  # a key of COMPARISONS
    number: float

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        return agreed(path_text(self.path), (self._holds_for(value) for value in values_at(event, self.path)))

    def _holds_for(self, value: Any) -> bool:
        found = _number(value)
        return found is not None and COMPARISONS[self.comparison](found, self.number)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is {self.comparison.replace('_', ' ')} {self.number:g}"

    def why_not(self, event: Event) -> str:
        found = number_at(event, self.path)
        said = shown(value_at(event, self.path)) if found is None else number_text(found)
        return f"{path_text(self.path)} is {said}, not {self.comparison.replace('_', ' ')} {number_text(self.number)}"


@dataclass(frozen=True, slots=True)
class Every:
    """The number is N, 2N, 3N …"""

    path: Path
    number: int

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        return agreed(path_text(self.path), (self._holds_for(value) for value in values_at(event, self.path)))

    def _holds_for(self, value: Any) -> bool:
        found = _number(value)
        return found is not None and found > 0 and self.number > 0 and found % self.number == 0

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is a multiple of {self.number}"

    def why_not(self, event: Event) -> str:
        return f"{path_text(self.path)} is {shown(value_at(event, self.path))}, not a multiple of {self.number}"
