"""Conditions that compute: a fact compared with a number, an expression, a registered function."""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, Final, Protocol

from hookline.errors import ConditionError
from hookline.hooks.conditions.text import format_fact
from hookline.hooks.event import Event, FactPath, copy_fact, path_text
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.protocols import Need
from hookline.hooks.tool_input import holds_for_values, value_at
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_logger

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
    "equals": operator.eq,
}


_MAX_SHORT_NUMBER: Final = 10**300


def number_at(event: Event, path: FactPath) -> float | None:
    """The number at `path`; the length of a list or a mapping."""
    return _as_number(value_at(event, path))


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    return len(value) if isinstance(value, (list, dict)) else None


def number_text(number: float) -> str:
    """Short text for a number; one too large for a float is shown like any other fact."""
    return f"{number:g}" if abs(number) < _MAX_SHORT_NUMBER else format_fact(number)


@dataclass(frozen=True, slots=True)
class Comparison:
    path: FactPath
    comparison: str  # a key of COMPARISONS
    number: float

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        return holds_for_values(event, self.path, self._holds_for, deadline)

    def _holds_for(self, value: Any) -> bool:
        found = _as_number(value)
        return found is not None and COMPARISONS[self.comparison](found, self.number)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is {self._expected}"

    def why_not(self, event: Event) -> str:
        found = number_at(event, self.path)
        actual = format_fact(value_at(event, self.path)) if found is None else number_text(found)
        return f"{path_text(self.path)} is {actual}, not {self._expected}"

    @property
    def _expected(self) -> str:
        """3, above 3, at least 3."""
        word = "" if self.comparison == "equals" else f"{self.comparison.replace('_', ' ')} "
        return word + number_text(self.number)


@dataclass(frozen=True, slots=True)
class MultipleOf:
    """The number is N, 2N, 3N …"""

    path: FactPath
    number: int

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        return holds_for_values(event, self.path, self._holds_for, deadline)

    def _holds_for(self, value: Any) -> bool:
        found = _as_number(value)
        return found is not None and found > 0 and self.number > 0 and found % self.number == 0

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is a multiple of {self.number}"

    def why_not(self, event: Event) -> str:
        return f"{path_text(self.path)} is {format_fact(value_at(event, self.path))}, not a multiple of {self.number}"


_log = lazy_logger("hookline")


class Formula(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def names(self) -> frozenset[str]: ...
    @property
    def may_fail(self) -> bool: ...
    def holds(self, values: Mapping[str, float]) -> bool: ...


@dataclass(frozen=True, slots=True)
class ExpressionCondition:
    """A missing fact counts as 0. An expression that cannot be computed is undecided, or false with a warning."""

    formula: Formula
    variables: tuple[tuple[str, FactPath], ...]  # name in the expression → the fact behind it
    hook: str = field(default="", compare=False)  # the hook's id, for the log
    false_on_error: bool = False

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        try:
            return self.formula.holds({name: number_at(event, path) or 0 for name, path in self.variables})
        except ArithmeticError as error:
            if not self.false_on_error:
                raise ConditionError(f"{self.formula.source}: {error}") from None
            _log.warning("[%s] expression %s: %s; it counts as false", self.hook, self.formula.source, error)
            return False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(path for name, path in self.variables if name in self.formula.names)

    def __str__(self) -> str:
        return self.formula.source

    def why_not(self, event: Event) -> str:
        values = ", ".join(
            f"{n} = {number_text(number_at(event, p) or 0)}" for n, p in self.variables if n in self.formula.names
        )
        return f"{self.formula.source} is false with {values}"


@dataclass(frozen=True, slots=True)
class CustomCondition:
    """A registered condition. It gets a copy of the event. If it raises or answers with work to do, it is undecided."""

    name: str
    test: Callable[[Any, Event], bool] = field(compare=False, repr=False)
    params: Any = None

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        try:
            answer: Any = self.test(self.params, Event(event.name, copy_fact(event.facts)))
            if isinstance(answer, (Awaitable, Iterator)):  # which is true, whatever it would say
                if isinstance(answer, Coroutine):
                    answer.close()
                raise TypeError(f"{self.name} returned {type(answer).__name__}")
            return bool(answer)
        except (Exception, SystemExit) as error:  # third-party code may raise anything
            raise ConditionError(f"{self.name} raised {type(error).__name__}") from error

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return ((),)

    def __str__(self) -> str:
        return f"{self.name} says yes"

    def why_not(self, event: Event) -> str:
        return f"{self.name} says no"
