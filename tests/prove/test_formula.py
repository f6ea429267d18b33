from __future__ import annotations

import itertools

import pytest

z3 = pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.prove.formula import (  # noqa: E402
    Implicants,
    Variable,
    all_true,
    any_true,
    implies,
    negate,
    same,
    to_solver,
)


def test_formulas_are_simplified():
    a = Variable("a")
    assert all_true([]) is True
    assert any_true([]) is False
    assert all_true([a, False]) is False
    assert all_true([a, True]) is a
    assert negate(negate(a)) is a
    assert any_true([a, a]) is a
    assert implies(False, a) is True


def value_in(formula, values):
    solver = z3.Solver()
    solver.add(*(each.solver_variable == value for each, value in values.items()))
    assert solver.check() == z3.sat
    return Implicants(solver.model(), lambda variable: False).value(formula)


def test_a_formula_means_what_it_says():
    a, b = Variable("a"), Variable("b")
    for x, y in itertools.product((False, True), repeat=2):
        values = {a: x, b: y}
        assert value_in(all_true([a, negate(b)]), values) is (x and not y)
        assert value_in(any_true([a, b]), values) is (x or y)
        assert value_in(same(a, b), values) is (x is y)


def test_an_implicant_is_enough_and_avoids_what_has_a_cost():
    a, b, costly = Variable("a"), Variable("b"), Variable("costly")
    formula = all_true([any_true([costly, b]), negate(all_true([a, costly]))])
    solver = z3.Solver()
    solver.add(to_solver(formula), b.solver_variable, z3.Not(a.solver_variable), costly.solver_variable)
    assert solver.check() == z3.sat
    implicants = Implicants(solver.model(), lambda variable: variable is costly)
    assert implicants.literals(formula) == {b: True, a: False}
