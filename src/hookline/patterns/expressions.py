"""Arithmetic over named numbers. It is checked when it is parsed, so evaluating it is always fast and small."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import ast

Number = bool | int | float
Values = Mapping[str, float]
Evaluator = Callable[[Values], Number]

MAX_EXPRESSION_LENGTH = 1_000
MAX_EXPRESSION_DEPTH = 50
MAX_INTEGER = 10**15
MAX_EXPONENT = 64
ALLOWED = "numbers, True, False, names, comparisons, `in` a list, and/or/not, + - * / // % ** and `a if b else c`"


class BadExpression(ValueError):
    """why: what is wrong, for the author; position: where in the source, if at one place."""

    def __init__(self, why: str, position: int | None = None) -> None:
        super().__init__(why if position is None else f"{why}, at character {position + 1}")
        self.why = why
        self.position = position


class EvaluationError(ArithmeticError):
    """The expression has no value for these numbers: a division by zero, an overflow, a name without a number."""


def _power(base: Number, exponent: Number) -> Number:
    """Bounded, so that no power takes long or becomes large."""
    if abs(exponent) > MAX_EXPONENT:
        raise EvaluationError(f"an exponent is larger than {MAX_EXPONENT}")
    result = base**exponent
    if isinstance(result, complex):
        raise EvaluationError("a root of a negative number has no value")
    return result


_ARITHMETIC: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}


@dataclass(frozen=True, slots=True)
class Expression:
    source: str
    names: frozenset[str]
    """The names that it uses."""
    may_fail: bool
    """True if it multiplies or divides, so that it may divide by zero or become too large."""
    _evaluator: Evaluator = field(repr=False, compare=False)

    def evaluate(self, values: Values) -> Number:
        """Raises EvaluationError."""
        try:
            return self._evaluator(values)
        except ZeroDivisionError:
            raise EvaluationError("it divides by zero") from None
        except OverflowError:
            raise EvaluationError("a number becomes too large") from None

    def holds(self, values: Values) -> bool:
        return bool(self.evaluate(values))


def expression(source: str, names: Iterable[str]) -> Expression:
    """Parses numbers, True, False, these names, comparisons, `in` a list, and/or/not, + - * / // % **, `a if b else c`.

    Raises BadExpression.
    """
    if len(source) > MAX_EXPRESSION_LENGTH:
        raise BadExpression(f"it is longer than {MAX_EXPRESSION_LENGTH} characters")
    tree = _parse_source(source)
    _check_depth(tree)
    compiler = _Compiler(frozenset(names), len(source) - len(source.lstrip()))
    evaluator = compiler.compile(tree)
    may_fail = any(
        isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub) for node in ast.walk(tree)
    )
    return Expression(source, frozenset(compiler.used_names), may_fail, evaluator)


def _parse_source(source: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.strip(), mode="eval").body
    except SyntaxError as error:
        raise BadExpression("this is not an expression", (error.offset or 1) - 1) from None
    except (ValueError, RecursionError, MemoryError):
        raise BadExpression("this is not an expression") from None


def _check_depth(tree: ast.expr) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(MAX_EXPRESSION_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if not level:
            return
    raise BadExpression(f"it is nested deeper than {MAX_EXPRESSION_DEPTH} levels")


class _Compiler:
    def __init__(self, names: frozenset[str], indent: int) -> None:
        self.names = names
        self.indent = indent
        self.used_names: set[str] = set()

    def compile(self, node: ast.expr) -> Evaluator:
        match node:
            case ast.Constant(value=int() | float() as value):
                return self.compile_constant(node, value)
            case ast.Name(id=name):
                return self.compile_name(node, name)
            case ast.UnaryOp(op=sign, operand=operand):
                return self.compile_unary(sign, self.compile(operand))
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
                if isinstance(sign, ast.Pow):
                    self.check_exponent(right)
                return _compile_arithmetic(_ARITHMETIC[type(sign)], self.compile(left), self.compile(right))
            case ast.BoolOp(op=word, values=parts):
                return _compile_boolean(isinstance(word, ast.And), [self.compile(part) for part in parts])
            case ast.Compare(left=left, ops=signs, comparators=others):
                return self.compile_comparison(node, left, signs, others)
            case ast.IfExp(test=test, body=body, orelse=other):
                return _compile_choice(self.compile(test), self.compile(body), self.compile(other))
            case _:
                return self.fail(node, f"only {ALLOWED} are allowed")

    def check_exponent(self, node: ast.expr) -> None:
        """Refuses what can be seen to be too large; the rest is checked when it is computed."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and abs(node.value) > MAX_EXPONENT:
            self.fail(node, f"an exponent is larger than {MAX_EXPONENT}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            self.fail(node, "the exponent of a power cannot be a power")

    def compile_comparison(
        self, node: ast.expr, left: ast.expr, signs: list[ast.cmpop], others: list[ast.expr]
    ) -> Evaluator:
        """Chained as in Python. A list stands only at the end, because nothing can be compared with it."""
        last = signs[-1]
        listed = None
        if isinstance(last, ast.In | ast.NotIn):
            listed = self.compile_list(others[-1]), isinstance(last, ast.In)
            signs, others = signs[:-1], others[:-1]
        if not all(type(sign) in _COMPARISONS for sign in signs):
            self.fail(node, f"only {ALLOWED} are allowed")
        operands = [self.compile(part) for part in (left, *others)]
        return _compile_comparison([_COMPARISONS[type(sign)] for sign in signs], operands, listed)

    def compile_list(self, node: ast.expr) -> list[Evaluator]:
        if not isinstance(node, ast.Tuple | ast.List):
            self.fail(node, "`in` needs a list of numbers, such as (1, 2, 3)")
        return [self.compile(each) for each in node.elts]

    def compile_constant(self, node: ast.expr, value: Number) -> Evaluator:
        if not math.isfinite(value) or abs(value) > (MAX_INTEGER if isinstance(value, int) else math.inf):
            self.fail(node, "this number is too large")
        return lambda values: value

    def compile_name(self, node: ast.expr, name: str) -> Evaluator:
        if name not in self.names:
            self.fail(node, f"there is no {name}; there are {', '.join(sorted(self.names))}")
        self.used_names.add(name)
        return lambda values: _lookup_number(values, name)

    def compile_unary(self, sign: ast.unaryop, operand: Evaluator) -> Evaluator:
        if type(sign) not in _SIGNS:
            raise BadExpression("~ is not supported")
        apply = _SIGNS[type(sign)]
        return lambda values: apply(operand(values))

    def fail(self, node: ast.expr, why: str) -> NoReturn:
        raise BadExpression(why, node.col_offset + self.indent if node.lineno == 1 else None)


def _lookup_number(values: Values, name: str) -> Number:
    value = values.get(name)
    if not isinstance(value, bool | int | float):
        raise EvaluationError(f"{name} has no number")
    return _limit_number(value)


def _limit_number(value: Number) -> Number:
    """An integer too large for a float to hold exactly becomes a float."""
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        value = float(value)
    if not math.isfinite(value):
        raise EvaluationError("a number becomes too large")
    return value


def _compile_arithmetic(apply: Callable[[Number, Number], Number], left: Evaluator, right: Evaluator) -> Evaluator:
    return lambda values: _limit_number(apply(left(values), right(values)))


def _compile_boolean(every: bool, parts: list[Evaluator]) -> Evaluator:
    def last_word(values: Values) -> Number:
        value: Number = every
        for part in parts:
            value = part(values)
            if bool(value) is not every:
                break
        return value

    return last_word


def _compile_choice(test: Evaluator, body: Evaluator, other: Evaluator) -> Evaluator:
    return lambda values: body(values) if test(values) else other(values)


def _compile_comparison(
    signs: list[Callable[[Number, Number], bool]],
    parts: list[Evaluator],
    listed: tuple[list[Evaluator], bool] | None,
) -> Evaluator:
    """`listed` are the numbers after a final `in`, and whether the last part must be among them."""

    def holds(values: Values) -> bool:
        left = parts[0](values)
        for sign, part in zip(signs, parts[1:], strict=True):
            right = part(values)
            if not sign(left, right):
                return False
            left = right
        return listed is None or any(left == member(values) for member in listed[0]) is listed[1]

    return holds
