"""`when:` — a mapping of questions that must all hold, or a list of such mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hookline.config.shape import Reader, hook_named
from hookline.dialects.native.outside import custom_conditions
from hookline.hooks.condition import Condition, Subject, TextPattern
from hookline.hooks.conditions.computed import Computes
from hookline.hooks.conditions.content import RecentMessagesSay
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, AnyOf, Not, all_of
from hookline.hooks.conditions.numbers import COMPARISONS, Compared, Every
from hookline.hooks.conditions.paths import ToolPath
from hookline.hooks.conditions.text import Exists, Fact, Is, Matches
from hookline.hooks.conditions.tool import KindIs
from hookline.hooks.event import Path
from hookline.hooks.events import EVENTS
from hookline.hooks.facts import fact_path
from hookline.hooks.fields import ToolField
from hookline.hooks.tools import Kind, Tongue, ToolName, is_path_field
from hookline.patterns.expressions import BadExpression, expression
from hookline.patterns.pattern import BadPattern, Syntax, pattern
from hookline.patterns.spelt import WORDS, spelt

EXPRESSION_NAMES: Final[dict[str, Path]] = {
    "turn": ("turn", "number"),
    "tools": ("session", "tool_calls"),
    "messages": ("messages",),
    "pressure": ("context", "pressure"),
    "tokens": ("context", "tokens"),
    "max_turns": ("turn", "max"),
}
SYNTAXES: Final = {"matches": Syntax.NATIVE, "javascript": Syntax.JAVASCRIPT, "python": Syntax.PYTHON}
SPELT: Final = tuple(word for word in WORDS if word != "tool")
PATH_WORDS: Final = ("glob", "begins", "exactly")
"""Asked of a path, these try it as given and relative to the project."""
TESTS: Final = (*SYNTAXES, "whole", *SPELT, "is", "exists", "every", *COMPARISONS)
"""What can be asked of a fact in the long form."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose condition is being read."""

    event: str
    tongue: Tongue


def condition(at: Reader | None, asked: Asked) -> Condition | None:
    """None after a problem was noted; an absent `when` always holds."""
    if at is None:
        return ALWAYS
    if isinstance(at.value, list):
        return _all(at.items(), asked)
    if at.value == "always" or at.value == "never":
        return ALWAYS if at.value == "always" else NEVER_HOLDS
    at.keys(KEYS, "when")
    if at.mapping() is None:
        return None
    parts = [KEYS[key](place, asked) for key, place in at.entries() if key in KEYS]
    found = [part for part in parts if part is not None]
    known = all(key in KEYS for key in at.value)
    return all_of(found) if len(found) == len(parts) and known else None


def _all(places: Iterator[Reader], asked: Asked) -> Condition | None:
    parts = [condition(place, asked) for place in places]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _any(at: Reader, asked: Asked) -> Condition | None:
    parts = [condition(place, asked) for place in at.items()]
    found = tuple(part for part in parts if part is not None)
    return AnyOf(found) if len(found) == len(parts) and at.sequence() is not None else None


def _not(at: Reader, asked: Asked) -> Condition | None:
    part = condition(at, asked)
    return None if part is None else Not(part)


def _tool(at: Reader, asked: Asked) -> Condition | None:
    """Names, `*` and `?` in them, and /patterns/; the long form asks the name like any text."""
    if isinstance(at.value, dict):
        return _test(at, ToolName(asked.tongue), ("tool", "name"))
    names = at.texts()
    if not names:
        return None if names is None else NEVER_HOLDS
    for name in names:
        if "/" in name and not (len(name) > 2 and name.startswith("/") and name.endswith("/")):
            at.problem("bad-pattern", f"{at.place}: {name} is not a tool's name.", "Write a pattern as /…/.")
            return None
    if not any(name.startswith("/") for name in names):
        names = ("|".join(names),)
    return _matching(at, ToolName(asked.tongue), _tool_pattern, names)


def _tool_pattern(name: str) -> TextPattern:
    return pattern(name[1:-1]) if name.startswith("/") else spelt("tool", name)


def _kind(at: Reader, asked: Asked) -> Condition | None:
    kinds = [place.one_of([str(kind) for kind in Kind]) for place in at.items(one_or_many=True)]
    found = [kind for kind in kinds if kind is not None]
    return _one_of([KindIs(Kind(kind)) for kind in found]) if len(found) == len(kinds) else None


def _input(at: Reader, asked: Asked) -> Condition | None:
    if at.mapping() is None:
        return None
    parts = [_field(name, place, asked) for name, place in at.entries()]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _field(name: str, at: Reader, asked: Asked) -> Condition | None:
    path = fact_path(f"input.{name}") or ("tool", "input", name)
    return _test(at, ToolField(path[2:], asked.tongue), path)


def _facts(at: Reader, asked: Asked) -> Condition | None:
    if at.mapping() is None:
        return None
    parts = [_fact(name, place, asked) for name, place in at.entries()]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _fact(name: str, at: Reader, asked: Asked) -> Condition | None:
    path = fact_path(name)
    if path is None:
        facts = ", ".join(EVENTS[asked.event].facts) or "only those that every event has"
        at.problem("unknown-fact", f"{name} is not a fact.", f"{asked.event} has {facts}.", at_key=True)
        return None
    subject: Subject = ToolField(path[2:], asked.tongue) if path[:2] == ("tool", "input") and path[2:] else Fact(path)
    return _test(at, subject, path)


def _named_fact(path: Path) -> Callable[[Reader, Asked], Condition | None]:
    return lambda at, asked: _test(at, Fact(path), path)


def _test(at: Reader, subject: Subject, path: Path) -> Condition | None:
    """The short forms: text is a pattern, a list is any of them, anything else is the value itself."""
    if isinstance(at.value, str):
        compiled = _compiled(at, pattern, at.value)
        return None if compiled is None else Matches(subject, compiled)
    if isinstance(at.value, list):
        parts = [_test(place, subject, path) for place in at.items()]
        found = [part for part in parts if part is not None]
        return _one_of(found) if len(found) == len(parts) else None
    if not isinstance(at.value, dict):
        return Is(path, at.value)
    return _long_form(at, subject, path)


def _long_form(at: Reader, subject: Subject, path: Path) -> Condition | None:
    before = len(at.problems)
    at.keys(TESTS, "a test")
    whole = at.get("whole")
    flag = whole is not None and whole.flag() is True
    if whole is not None and not any(word in SYNTAXES for word in at.value):
        what = f"{whole.place}: there is no pattern here that could match the whole text."
        whole.problem("no-pattern", what, "Write matches, javascript or python beside it.", at_key=True)
    places = [(word, place) for word, place in at.entries() if word in TESTS and word != "whole"]
    parts = [_long_test(word, place, subject, path, whole=flag) for word, place in places]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) and len(at.problems) == before else None


def _long_test(word: str, at: Reader, subject: Subject, path: Path, *, whole: bool) -> Condition | None:
    if word in COMPARISONS:
        number = at.number()
        return None if number is None else Compared(path, word, number)
    if word == "every":
        every = at.whole(least=1)
        return None if every is None else Every(path, every)
    if word == "is":
        return Is(path, at.value)
    if word == "exists":
        flag = at.flag()
        return None if flag is None else Exists(path) if flag else Not(Exists(path))
    texts = at.texts()
    if texts is None:
        return None
    if word in SYNTAXES:
        return _matching(at, subject, lambda text: pattern(text, SYNTAXES[word], whole=whole), texts)
    if word in PATH_WORDS and isinstance(subject, ToolField) and is_path_field(str(subject.path[-1])):
        subject = ToolPath(subject.path, subject.tongue)
    return _matching(at, subject, lambda text: spelt(word, text), texts)


def _number(path: Path) -> Callable[[Reader, Asked], Condition | None]:
    """A bare number means: more than this."""

    def read(at: Reader, asked: Asked) -> Condition | None:
        if isinstance(at.value, dict):
            return _test(at, Fact(path), path)
        number = at.number(hint="Write a number, or {at_least: …}, {below: …}, {every: …}.")
        return None if number is None else Compared(path, "above", number)

    return read


def _turn(at: Reader, asked: Asked) -> Condition | None:
    """A bare number means that very turn."""
    path = ("turn", "number")
    if isinstance(at.value, dict):
        return _test(at, Fact(path), path)
    number = at.whole(least=0, hint="Write a turn's number, or {every: 5}, {above: 10}.")
    return None if number is None else Compared(path, "equals", number)


def _failed(at: Reader, asked: Asked) -> Condition | None:
    flag = at.flag()
    return None if flag is None else Is(("tool", "ok"), not flag)


def _says(at: Reader, asked: Asked) -> Condition | None:
    if isinstance(at.value, str):
        word = at.text()
        return None if word is None else RecentMessagesSay(word)
    at.keys(("keyword", "last"), "says")
    keyword, last = at.get("keyword"), at.get("last")
    if keyword is None:
        at.problem("missing-key", f"{at.place}: keyword is missing.", "Write says: {keyword: text, last: 5}.")
        return None
    text = keyword.text()
    count = 5 if last is None else last.whole(least=1)
    return None if text is None or count is None else RecentMessagesSay(text, count)


def _error_code(at: Reader, asked: Asked) -> Condition | None:
    codes = at.texts()
    return None if codes is None else _matching(at, Fact(("error", "code")), lambda code: spelt("tool", code), codes)


def _expr(at: Reader, asked: Asked) -> Condition | None:
    text = at.text()
    if text is None:
        return None
    try:
        return Computes(expression(text, EXPRESSION_NAMES), tuple(EXPRESSION_NAMES.items()), hook_named(at))
    except BadExpression as bad:
        hint = f"It may use {', '.join(EXPRESSION_NAMES)}, numbers, comparisons, arithmetic, and/or/not."
        at.problem("bad-expression", f"{at.place}: {bad}.", hint)
        return None


def _matching(
    at: Reader, subject: Subject, make: Callable[[str], TextPattern], texts: tuple[str, ...]
) -> Condition | None:
    """The subject matches one of the texts' patterns."""
    found = [compiled for text in texts if (compiled := _compiled(at, make, text)) is not None]
    return _one_of([Matches(subject, each) for each in found]) if len(found) == len(texts) else None


def _one_of(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _compiled(at: Reader, make: Callable[[str], TextPattern], text: str) -> TextPattern | None:
    try:
        return make(text)
    except BadPattern as bad:
        at.problem("bad-pattern", f"{at.place}: {bad.why}.", "")
        return None


KEYS: Final[dict[str, Callable[[Reader, Asked], Condition | None]]] = {
    "tool": _tool,
    "kind": _kind,
    "input": _input,
    "fact": _facts,
    "prompt": _named_fact(("prompt",)),
    "result": _named_fact(("tool", "result")),
    "error": _named_fact(("tool", "error")),
    "failed": _failed,
    "pressure": _number(("context", "pressure")),
    "tokens": _number(("context", "tokens")),
    "tool_calls": _number(("session", "tool_calls")),
    "messages": _number(("messages",)),
    "turn": _turn,
    "says": _says,
    "error_code": _error_code,
    "expr": _expr,
    "custom": custom_conditions,
    "all": lambda at, asked: _all(at.items(), asked),
    "any": _any,
    "not": _not,
}
