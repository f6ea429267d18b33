"""Formulas of true-or-false variables. They are simplified as they are made, which the solver's own are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

import z3

from hookline.lazy_dataclasses import dataclass


class Variable:
    """True or false. Variables are equal only if they are the same object."""

    __slots__ = ("name", "solver_variable")

    def __init__(self, name: str) -> None:
        self.name = name
        self.solver_variable: Any = z3.FreshBool(name)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Negation:
    part: Variable | Junction


@dataclass(frozen=True, slots=True, eq=False)
class Junction:
    """All parts are true, or one of them is."""

    parts: tuple[Variable | Negation | Junction, ...]
    is_and: bool


Formula = bool | Variable | Negation | Junction
Literals = dict[Variable, bool]


def negate(formula: Formula) -> Formula:
    if isinstance(formula, bool):
        return not formula
    return formula.part if isinstance(formula, Negation) else Negation(formula)


def all_true(formulas: Iterable[Formula]) -> Formula:
    return _join(formulas, is_and=True)


def any_true(formulas: Iterable[Formula]) -> Formula:
    return _join(formulas, is_and=False)


def implies(first: Formula, second: Formula) -> Formula:
    return any_true((negate(first), second))


def same(first: Formula, second: Formula) -> Formula:
    return all_true((implies(first, second), implies(second, first)))


def _join(formulas: Iterable[Formula], *, is_and: bool) -> Formula:
    parts: dict[Variable | Negation | Junction, None] = {}
    for formula in formulas:
        if isinstance(formula, bool):
            if formula is not is_and:
                return formula
        elif isinstance(formula, Junction) and formula.is_and is is_and:
            parts.update(dict.fromkeys(formula.parts))
        else:
            parts[formula] = None
    if not parts:
        return is_and
    return next(iter(parts)) if len(parts) == 1 else Junction(tuple(parts), is_and)


def to_solver(formula: Formula) -> Any:
    if isinstance(formula, bool):
        return z3.BoolVal(formula)
    if isinstance(formula, Variable):
        return formula.solver_variable
    if isinstance(formula, Negation):
        return z3.Not(to_solver(formula.part))
    return _junction_to_solver(formula)


@lru_cache(maxsize=65_536)
def _junction_to_solver(formula: Junction) -> Any:
    """`z3.And` and `z3.Or` look at the types of all parts, which takes most of their time."""
    parts = [to_solver(part) for part in formula.parts]
    context = parts[0].ctx
    make = z3.Z3_mk_and if formula.is_and else z3.Z3_mk_or
    nodes = (z3.Ast * len(parts))(*(part.as_ast() for part in parts))
    return z3.BoolRef(make(context.ref(), len(parts), nodes), context)


_NONE: Final[Literals] = {}


class Implicants:
    """Which variables make formulas true in a model. Those with a cost are avoided."""

    def __init__(self, model: Any, has_cost: Callable[[Variable], bool]) -> None:
        self._model = model
        self._has_cost = has_cost
        self._values: Literals = {}

    def value(self, formula: Formula) -> bool:
        if isinstance(formula, bool):
            return formula
        if isinstance(formula, Variable):
            if formula not in self._values:
                value = self._model.eval(formula.solver_variable)
                self._values[formula] = z3.is_true(value)
            return self._values[formula]
        if isinstance(formula, Negation):
            return not self.value(formula.part)
        return (all if formula.is_and else any)(map(self.value, formula.parts))

    def literals(self, formula: Formula, wanted: bool = True) -> Literals:
        """Variables and their values that are enough for the formula to be `wanted`, which it is in the model."""
        if isinstance(formula, bool):
            return _NONE
        if isinstance(formula, Variable):
            return {formula: wanted}
        if isinstance(formula, Negation):
            return self.literals(formula.part, not wanted)
        if formula.is_and is wanted:
            return {key: value for part in formula.parts for key, value in self.literals(part, wanted).items()}
        best: Literals | None = None
        for part in formula.parts:
            if self.value(part) is wanted:
                found = self.literals(part, wanted)
                if best is None or self._cost(found) < self._cost(best):
                    best = found
                if self._cost(found) == 0:
                    return found
        assert best is not None
        return best

    def _cost(self, literals: Literals) -> int:
        return sum(map(self._has_cost, literals))
