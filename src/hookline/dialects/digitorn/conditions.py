"""`condition:` — one of 14 types, or a registered one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from hookline.config.problem import Severity, nearest
from hookline.config.shape import Reader, hook_named
from hookline.dialects import registered
from hookline.dialects.digitorn.texts import TONGUE
from hookline.hooks.condition import Condition, Subject
from hookline.hooks.conditions.computed import Computes
from hookline.hooks.conditions.content import RecentMessagesSay
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.numbers import Compared, Every
from hookline.hooks.conditions.text import Fact, Is, Matches
from hookline.hooks.event import Path
from hookline.hooks.tools import ToolName
from hookline.patterns.expressions import BadExpression, expression
from hookline.patterns.pattern import BadPattern
from hookline.patterns.spelt import spelt

ERROR_CODES: Final = ("rate_limit", "context_overflow", "billing", "timeout", "auth", "network", "internal")
PRESSURE: Final[Path] = ("context", "pressure")
TOOL_CALLS: Final[Path] = ("session", "tool_calls")
MESSAGES: Final[Path] = ("messages",)
TURN: Final[Path] = ("turn", "number")
EXPRESSION_NAMES: Final[dict[str, Path]] = {
    "turn": TURN,
    "tools": TOOL_CALLS,
    "messages": MESSAGES,
    "pressure": PRESSURE,
    "tokens": ("context", "tokens"),
    "max_turns": ("turn", "max"),
}
DEFAULTS: Final[dict[str, tuple[Path, float]]] = {
    "context_pressure": (PRESSURE, 0.75),
    "tool_calls": (TOOL_CALLS, 20),
    "message_count": (MESSAGES, 50),
}
"""The conditions on a number that must be exceeded, and their default thresholds."""
LAST_MESSAGES: Final = 5

Maker = Callable[[Reader], Condition | None]


def condition(at: Reader | None, *, inner: bool = False) -> Condition | None:
    """None after an error was noted. An absent condition always holds; an unknown one inside another never does."""
    if at is None:
        return ALWAYS
    if at.mapping() is None:
        return None
    type = at.get("type")
    if type is None:
        at.problem("missing-key", f"{at.place}: type is missing.", f"Write type: and one of {', '.join(CONDITIONS)}.")
        return None
    name = type.text()
    if name is None:
        return None
    if name not in CONDITIONS:
        return _other(at, type, name, inner)
    make, keys = CONDITIONS[name]
    before = len(at.problems)
    at.keys(("type", *keys), f"the condition {name}")
    made = make(at)
    return None if _has_error(at, before) else made


def _has_error(at: Reader, before: int) -> bool:
    return any(problem.severity is Severity.ERROR for problem in at.problems[before:])


def _other(at: Reader, type: Reader, name: str, inner: bool) -> Condition | None:
    before = len(at.problems)
    entry = registered.find(registered.CONDITIONS, name, type)
    if entry is not None:
        return registered.condition(entry, at, {key: value for key, value in at.value.items() if key != "type"})
    if len(at.problems) > before:
        return None
    if not inner:
        registered.unknown(registered.CONDITIONS, name, type, tuple(CONDITIONS))
        return None
    guess = nearest(name, (*CONDITIONS, *registered.CONDITIONS.names()))
    what = f"{type.place}: there is no condition {name!r}; it counts as false."
    type.problem("unknown-condition", what, f"Did you mean {guess}?" if guess else "", severity=Severity.WARNING)
    return Never(f"there is no condition {name!r}")


def _several(at: Reader) -> list[Condition] | None:
    places = at.get("conditions")
    if places is None:
        at.problem("missing-key", f"{at.place}: conditions is missing.", "Write conditions: and a list of them.")
        return None
    if places.sequence() is None:
        return None
    parts = [condition(place, inner=True) for place in places.items()]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


def _all_of(at: Reader) -> Condition | None:
    parts = _several(at)
    return None if parts is None else all_of(parts)


def _any_of(at: Reader) -> Condition | None:
    parts = _several(at)
    return None if parts is None else AnyOf(tuple(parts))


def _not(at: Reader) -> Condition | None:
    place = at.get("condition")
    if place is None:
        at.problem("missing-key", f"{at.place}: condition is missing.", "Write condition: {type: …}.")
        return None
    part = condition(place, inner=True)
    return None if part is None else Not(part)


def _exceeds(name: str) -> Maker:
    path, default = DEFAULTS[name]
    most = 1.0 if path == PRESSURE else None

    def make(at: Reader) -> Condition | None:
        given = at.get("threshold")
        hint = "Pressure goes from 0.0 to 1.0." if most else ""
        number = default if given is None else given.number(least=0, most=most, hint=hint)
        return None if number is None else Compared(path, "above", number)

    return make


def _turn_count(at: Reader) -> Condition | None:
    threshold, every = at.get("threshold"), at.get("every")
    if threshold is None and every is None:
        at.problem("missing-key", f"{at.place}: threshold or every is missing.", "Write threshold: 10, or every: 5.")
        return None
    parts: list[Condition] = []
    turn = None if threshold is None else threshold.whole(least=0)
    steps = None if every is None else every.whole(least=1)
    if turn is not None:
        parts.append(Compared(TURN, "equals", turn))
    if steps is not None:
        parts.append(Every(TURN, steps))
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _names_match(subject: Subject, known: Collection[str] = ()) -> Maker:
    """fnmatch, never a regex; `|` or a list for alternatives."""

    def make(at: Reader) -> Condition | None:
        match = at.get("match")
        if match is None:
            at.problem("missing-key", f"{at.place}: match is missing.", "Write match: and a name, * and ? allowed.")
            return None
        texts = match.texts()
        if texts is None:
            return None
        names = [name.strip() for text in texts for name in text.split("|") if name.strip()]
        if not names:
            return NEVER_HOLDS
        try:
            pattern = spelt("tool", "|".join(names))
        except BadPattern as bad:
            match.problem("bad-pattern", f"{match.place}: {bad.why}.")
            return None
        if known and not any(pattern.search(code) for code in known):
            what = f"{match.place}: no error has such a code."
            match.problem("never-holds", what, f"The codes are {', '.join(known)}.", severity=Severity.WARNING)
        return Matches(subject, pattern)

    return make


def _content_contains(at: Reader) -> Condition | None:
    keyword = at.get("keyword")
    if keyword is None:
        at.problem("missing-key", f"{at.place}: keyword is missing.", "Write keyword: and a word.")
        return None
    text = keyword.text()
    return None if text is None else RecentMessagesSay(text, LAST_MESSAGES)


def _expression(at: Reader) -> Condition | None:
    place = at.get("expr")
    if place is None:
        at.problem("missing-key", f"{at.place}: expr is missing.", 'Write expr: "turn > 5 and pressure > 0.6".')
        return None
    text = place.text()
    if text is None:
        return None
    try:
        return Computes(expression(text, EXPRESSION_NAMES), tuple(EXPRESSION_NAMES.items()), hook_named(at))
    except BadExpression as bad:
        hint = f"It may use {', '.join(EXPRESSION_NAMES)}, numbers, comparisons, arithmetic, and/or/not."
        what = f"{place.place}: {bad}; it counts as false."
        place.problem("bad-expression", what, hint, severity=Severity.WARNING)
        return Never(f"{text[:60]!r} is no expression")


CONDITIONS: Final[dict[str, tuple[Maker, tuple[str, ...]]]] = {
    "always": (lambda at: ALWAYS, ()),
    "never": (lambda at: NEVER_HOLDS, ()),
    "all_of": (_all_of, ("conditions",)),
    "any_of": (_any_of, ("conditions",)),
    "not": (_not, ("condition",)),
    "context_pressure": (_exceeds("context_pressure"), ("threshold",)),
    "turn_count": (_turn_count, ("threshold", "every")),
    "tool_calls": (_exceeds("tool_calls"), ("threshold",)),
    "message_count": (_exceeds("message_count"), ("threshold",)),
    "tool_name": (_names_match(ToolName(TONGUE)), ("match",)),
    "tool_failed": (lambda at: Is(("tool", "ok"), False), ()),
    "content_contains": (_content_contains, ("keyword",)),
    "error_type": (_names_match(Fact(("error", "code")), ERROR_CODES), ("match",)),
    "expression": (_expression, ("expr",)),
}
