"""`condition:` is one of 14 types or a registered one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from hookline.config.node import Node, enclosing_hook_id
from hookline.config.problem import Severity
from hookline.dialects import custom
from hookline.dialects.dialect import has_errors
from hookline.dialects.digitorn.templates import VOCABULARY
from hookline.dialects.tool_names import resolve_tool_names
from hookline.formatting import closest_match
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.numbers import Comparison, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Fact, Matches, RecentMessagesContain
from hookline.hooks.event import FactPath
from hookline.hooks.protocols import Condition, Subject
from hookline.hooks.tool_name import ToolName
from hookline.patterns.expressions import BadExpression, EvaluationError, Expression, expression
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import BadPattern

ERROR_CODES: Final = ("rate_limit", "context_overflow", "billing", "timeout", "auth", "network", "internal")
PRESSURE: Final[FactPath] = ("context", "pressure")
TOOL_CALLS: Final[FactPath] = ("session", "tool_calls")
MESSAGES: Final[FactPath] = ("messages",)
TURN: Final[FactPath] = ("turn", "number")
EXPRESSION_NAMES: Final[dict[str, FactPath]] = {
    "turn": TURN,
    "tools": TOOL_CALLS,
    "messages": MESSAGES,
    "pressure": PRESSURE,
    "tokens": ("context", "tokens"),
    "max_turns": ("turn", "max"),
}
DEFAULT_THRESHOLDS: Final[dict[str, tuple[FactPath, float]]] = {
    "context_pressure": (PRESSURE, 0.75),
    "tool_calls": (TOOL_CALLS, 20),
    "message_count": (MESSAGES, 50),
}
"""The conditions that hold above a threshold: the fact, and the default threshold."""
LAST_MESSAGES: Final = 5

ConditionParser = Callable[[Node], Condition | None]


def parse_condition(at: Node | None, *, inner: bool = False) -> Condition | None:
    """None after an error. An absent condition always holds; an unknown one inside another condition never does."""
    if at is None:
        return ALWAYS
    if at.mapping() is None:
        return None
    type = at.require("type", f"Write type: and one of {', '.join(CONDITIONS)}.")
    name = None if type is None else type.text()
    if type is None or name is None:
        return None
    if name not in CONDITIONS:
        return _parse_registered_condition(at, type, name, inner)
    parse, keys = CONDITIONS[name]
    before = len(at.problems)
    at.warn_unknown_keys(("type", *keys), f"the condition {name}", essential=keys)
    condition = parse(at)
    return None if has_errors(at.problems[before:]) else condition


def _parse_registered_condition(at: Node, type: Node, name: str, inner: bool) -> Condition | None:
    before = len(at.problems)
    entry = custom.find_registered(custom.CONDITION_REGISTRY, name, type)
    if entry is not None:
        return custom.build_registered_condition(
            entry, at, {key: value for key, value in at.value.items() if key != "type"}
        )
    if len(at.problems) > before:
        return None
    if not inner:
        custom.report_unknown_name(custom.CONDITION_REGISTRY, name, type, tuple(CONDITIONS))
        return None
    guess = closest_match(name, (*CONDITIONS, *custom.CONDITION_REGISTRY.names()))
    what = f"{type.location}: there is no condition {name!r}; it counts as false."
    severity = Severity.WARNING if guess is None else Severity.ERROR
    type.add_problem("unknown-condition", what, f"Did you mean {guess}?" if guess else "", severity=severity)
    return Never(f"there is no condition {name!r}", is_mistake=True)


def _parse_parts(at: Node) -> list[Condition] | None:
    places = at.require("conditions", "Write conditions: and a list of them.")
    if places is None or places.sequence() is None:
        return None
    parts = [parse_condition(place, inner=True) for place in places.items()]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _parse_all_of(at: Node) -> Condition | None:
    parts = _parse_parts(at)
    return None if parts is None else all_of(parts)


def _parse_any_of(at: Node) -> Condition | None:
    parts = _parse_parts(at)
    return None if parts is None else AnyOf(tuple(parts))


def _parse_not(at: Node) -> Condition | None:
    place = at.require("condition", "Write condition: {type: …}.")
    part = None if place is None else parse_condition(place, inner=True)
    return None if part is None else Not(part)


def _threshold_parser(name: str) -> ConditionParser:
    path, default = DEFAULT_THRESHOLDS[name]
    most = 1.0 if path == PRESSURE else None

    def parse(at: Node) -> Condition | None:
        threshold = at.get("threshold")
        hint = "Pressure goes from 0.0 to 1.0." if most else ""
        number = default if threshold is None else threshold.number(least=0, most=most, hint=hint)
        return None if number is None else Comparison(path, "above", number)

    return parse


def _parse_turn_count(at: Node) -> Condition | None:
    threshold, every = at.get("threshold"), at.get("every")
    if threshold is None and every is None:
        at.add_problem(
            "missing-key", f"{at.location}: threshold or every is missing.", "Write threshold: 10, or every: 5."
        )
        return None
    parts: list[Condition] = []
    turn = None if threshold is None else threshold.integer(least=0)
    steps = None if every is None else every.integer(least=1)
    if turn is not None:
        parts.append(Comparison(TURN, "equals", turn))
    if steps is not None:
        parts.append(MultipleOf(TURN, steps))
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _name_parser(subject: Subject, known: Collection[str] = ()) -> ConditionParser:
    """Globs, never regular expressions; `|` or a list for alternatives."""

    def parse(at: Node) -> Condition | None:
        match = at.require("match", "Write match: and a name, * and ? allowed.")
        texts = None if match is None else match.texts()
        if match is None or texts is None:
            return None
        names = [name.strip() for text in texts for name in text.split("|") if name.strip()]
        if not names:
            match.add_problem("empty", f"{match.location}: there is no name, so this never matches.")
            return None
        try:
            pattern = shorthand("tool", "|".join(names))
        except BadPattern as bad:
            match.add_problem("bad-pattern", f"{match.location}: {bad.why}.")
            return None
        if known and not any(pattern.search(code) for code in known):
            what = f"{match.location}: no error has this code."
            match.add_problem("never-true", what, f"The codes are {', '.join(known)}.", severity=Severity.WARNING)
        return resolve_tool_names(Matches(subject, pattern))

    return parse


def _parse_content_contains(at: Node) -> Condition | None:
    keyword = at.require("keyword", "Write keyword: and a word.")
    text = None if keyword is None else keyword.text()
    return None if text is None else RecentMessagesContain(text, LAST_MESSAGES)


def _parse_expression(at: Node) -> Condition | None:
    place = at.require("expr", 'Write expr: "turn > 5 and pressure > 0.6".')
    text = None if place is None else place.text()
    if place is None or text is None:
        return None
    try:
        formula = expression(text, EXPRESSION_NAMES)
        if not formula.names:
            _check_value(formula)
        return ExpressionCondition(
            formula, tuple(EXPRESSION_NAMES.items()), enclosing_hook_id(at), false_on_error=formula.may_fail
        )
    except BadExpression as bad:
        hint = f"It may use {', '.join(EXPRESSION_NAMES)}, numbers, comparisons, `in (1, 2)`, arithmetic, and/or/not, `a if b else c`."
        what = f"{place.location}: {bad}; it counts as false."
        place.add_problem("bad-expression", what, hint, severity=Severity.WARNING)
        return Never(f"{text[:60]!r} is not a valid expression", is_mistake=True)


def _check_value(constant: Expression) -> None:
    """Raises BadExpression for one that has no value, whatever happens, such as 1 / 0."""
    try:
        constant.evaluate({})
    except EvaluationError as error:
        raise BadExpression(str(error)) from None


CONDITIONS: Final[dict[str, tuple[ConditionParser, tuple[str, ...]]]] = {
    "always": (lambda at: ALWAYS, ()),
    "never": (lambda at: NEVER_HOLDS, ()),
    "all_of": (_parse_all_of, ("conditions",)),
    "any_of": (_parse_any_of, ("conditions",)),
    "not": (_parse_not, ("condition",)),
    "context_pressure": (_threshold_parser("context_pressure"), ("threshold",)),
    "turn_count": (_parse_turn_count, ("threshold", "every")),
    "tool_calls": (_threshold_parser("tool_calls"), ("threshold",)),
    "message_count": (_threshold_parser("message_count"), ("threshold",)),
    "tool_name": (_name_parser(ToolName(VOCABULARY)), ("match",)),
    "tool_failed": (lambda at: Equals(("tool", "ok"), False), ()),
    "content_contains": (_parse_content_contains, ("keyword",)),
    "error_type": (_name_parser(Fact(("error", "code")), ERROR_CODES), ("match",)),
    "expression": (_parse_expression, ("expr",)),
}
