"""An expression over a few numbers, and a third party's own function."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hookline.hooks.condition import NEVER, Need
from hookline.hooks.conditions.numbers import number_at, number_text
from hookline.hooks.event import Event, Path

_log = logging.getLogger("hookline")


class Formula(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def names(self) -> frozenset[str]: ...
    def holds(self, values: Mapping[str, float]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Computes:
    """An expression that cannot be computed does not hold, with a warning; a fact that is absent counts as 0."""

    formula: Formula
    places: tuple[tuple[str, Path], ...]  # name in the expression → the fact behind it
    hook: str = field(default="", compare=False)  # whose it is, for the log

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        try:
            return self.formula.holds({name: number_at(event, path) or 0 for name, path in self.places})
        except ArithmeticError as error:
            _log.warning("[%s] expression %s: %s; it counts as false", self.hook, self.formula.source, error)
            return False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return tuple(path for name, path in self.places if name in self.formula.names)

    def __str__(self) -> str:
        return self.formula.source

    def why_not(self, event: Event) -> str:
        values = ", ".join(
            f"{n} = {number_text(number_at(event, p) or 0)}" for n, p in self.places if n in self.formula.names
        )
        return f"{self.formula.source} is false with {values}"


@dataclass(frozen=True, slots=True)
class Custom:
    """A third party's condition. It gets a copy of the event; if it raises, it does not hold, with a warning."""

    name: str
    test: Callable[[Any, Event], bool] = field(compare=False, repr=False)
    params: Any = None
    hook: str = field(default="", compare=False)  # whose it is, for the log

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        try:
            return bool(self.test(self.params, Event(event.name, copy.deepcopy(event.facts))))
        except Exception as error:  # somebody else's code: anything may come
            what = type(error).__name__
            _log.warning("[%s] condition %s raised %s; it counts as false", self.hook, self.name, what)
            return False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return ((),)

    def __str__(self) -> str:
        return f"{self.name} says yes"

    def why_not(self, event: Event) -> str:
        return f"{self.name} says no"
