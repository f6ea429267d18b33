"""Finds an assignment of the formulas for which there are texts.

The solver chooses which matches hold. Then, for each variable, a text is searched that is in the languages of the matches
that must hold, and in none of those that must not. If there is none, the solver is told so and chooses again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import z3

from hookline.lazy_dataclasses import dataclass
from hookline.prove.event_space import EventSpace, Search
from hookline.prove.formula import Formula, Implicants, Literals, Variable, any_true, negate, to_solver
from hookline.prove.regular_language import Language, both, find_text, single_text, without
from hookline.prove.text_variable import TextMatch, TextVariable

_MAX_SHORTENINGS: Final = 8  # attempts to find a smaller contradiction
_MAX_EXCLUDED: Final = 60  # texts; with more, nothing is known about the text anyway


@dataclass(frozen=True, slots=True, eq=False)
class FoundModel:
    model: Implicants
    texts: Mapping[TextVariable, tuple[str, ...]]  # of the variables that matter; (): the fact is absent
    differs: Formula  # true for all other models with these texts


class ModelSearch:
    """One kind of events, searched in one way. Conditions may be added at any time."""

    def __init__(
        self, space: EventSpace, search: Search, check: Callable[[Any], Any], check_time: Callable[[], None]
    ) -> None:
        self._space = space
        self._search = search
        self._check = check
        self._check_time = check_time
        self._solver = z3.Solver()
        self._required: list[Formula] = []
        self._skips = 0
        self._skipped: dict[TextVariable, list[Language]] = {}  # all but one text each
        self._matches: dict[Variable, TextMatch] = {}
        self._has_constraints = False

    def require(self, formula: Formula) -> None:
        self._required.append(formula)
        self._solver.add(to_solver(formula))

    def find(self) -> FoundModel | None:
        """None if there is no model."""
        self._add_constraints()
        while True:
            model = self._check(self._solver)
            if model is None:
                return None
            implicants = Implicants(model, self._matches.__contains__)
            literals: Literals = {}
            for formula in self._required:
                literals |= implicants.literals(formula)
            found = self._find_texts(implicants, literals)
            if not isinstance(found, dict):
                self._solver.add(to_solver(found))
                continue
            others = any_true(negate(each) if value else each for each, value in literals.items())
            return FoundModel(implicants, found, others)

    def _add_constraints(self) -> None:
        """Those of new variables; all of them if there are new variables."""
        matches = {match.holds: match for variable in self._space.variables() for match in variable.matches.values()}
        if self._matches.keys() == matches.keys() and self._has_constraints:
            return
        self._matches, self._has_constraints = matches, True
        for formula in self._space.constraints(self._search):
            self._solver.add(to_solver(formula))
        alternatives = [each.solver_variable for each in self._space.alternatives()]
        if alternatives:
            self._solver.add(z3.PbEq([(each, 1) for each in alternatives], 1))

    def skip(self, found: FoundModel) -> None:
        """Looks for other texts from now on. What is found, or not found, after this is no proof."""
        variables = [variable for variable, texts in found.texts.items() if texts]
        if not variables:
            self.require(found.differs)
            return
        self._skips += 1
        variable = variables[self._skips % len(variables)]  # not all at once: one of them may have no other text
        others = [without(single_text(text)) for text in found.texts[variable]]
        self._skipped.setdefault(variable, []).extend(others)

    def _find_texts(self, model: Implicants, literals: Literals) -> dict[TextVariable, tuple[str, ...]] | Formula:
        """The texts, or a formula that rules out the contradiction."""
        found: dict[TextVariable, tuple[str, ...]] = {}
        for variable, (must, must_not) in self._by_variable(literals).items():
            if not model.value(variable.is_present):
                found[variable] = ()
                continue
            texts: list[str] = []
            has_many = variable.has_many_texts and self._search is Search.ANY and len(must) > 1
            for group in [[each] for each in must] if has_many else [must]:
                answer = self._text_in(variable, group, must_not)
                if not isinstance(answer, str):
                    return any_true((negate(variable.is_present), answer))
                texts.append(answer)
            found[variable] = tuple(dict.fromkeys(texts))
        return found

    def _by_variable(self, literals: Literals) -> dict[TextVariable, tuple[list[TextMatch], list[TextMatch]]]:
        found: dict[TextVariable, tuple[list[TextMatch], list[TextMatch]]] = {}
        for each, value in literals.items():
            match = self._matches.get(each)
            if match is None:
                continue
            variable = match.variable
            if self._search is not Search.ANY:
                variable = self._space.plain_variable(variable)
            row = found.setdefault(variable, ([], []))
            if match.language is not None:
                row[0 if value else 1].append(match)
        return found

    def _text_in(self, variable: TextVariable, must: list[TextMatch], must_not: list[TextMatch]) -> str | Formula:
        base = variable.languages(common=self._search < (Search.PLAIN if variable.form is None else Search.ANY))
        base += self._skipped.get(variable, [])
        base += [without(single_text(text)) for text in _excluded_texts(variable, must, must_not)]
        text = self._find(base, must, must_not)
        if text is not None:
            return text
        must_not = self._shorten(base, must, must_not)
        return any_true((*(negate(each.holds) for each in must), *(each.holds for each in must_not)))

    def _find(self, base: list[Language], must: Iterable[TextMatch], must_not: Iterable[TextMatch]) -> str | None:
        languages = [*base]
        languages += [each.language.perhaps for each in must if each.language is not None]
        languages += [without(each.language.surely) for each in must_not if each.language is not None]
        return find_text(both(languages), self._check_time)

    def _shorten(self, base: list[Language], must: list[TextMatch], must_not: list[TextMatch]) -> list[TextMatch]:
        """A part of `must_not` that is enough for the contradiction."""
        step, at = (len(must_not) + 1) // 2, 0
        for _ in range(_MAX_SHORTENINGS):
            fewer = must_not[:at] + must_not[at + step :]
            if len(fewer) < len(must_not) and self._find(base, must, fewer) is None:
                must_not = fewer
            else:
                at += step
            if at >= len(must_not):
                if step <= 1:
                    break
                step, at = (step + 1) // 2, 0
        return must_not


def _excluded_texts(variable: TextVariable, must: list[TextMatch], must_not: list[TextMatch]) -> list[str]:
    """The texts that the variable cannot have and that would be found otherwise."""
    found = [
        text
        for text in variable.excluded
        if all(each.pattern.search(text) for each in must) and not any(each.pattern.search(text) for each in must_not)
    ]
    return found if len(found) <= _MAX_EXCLUDED else []
