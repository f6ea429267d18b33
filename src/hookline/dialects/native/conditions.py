"""`when:` — a mapping of questions that must all hold, or a list of such mappings.

Conditions in the native format's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookline.config.node import Node, enclosing_hook_id
from hookline.dialects.conversion import NotExpressible, condition_not_expressible
from hookline.dialects.native.programs import parse_custom_conditions
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, All, Always, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.numbers import COMPARISONS, Comparison, CustomCondition, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, RecentMessagesContain
from hookline.hooks.conditions.tool import ToolKindIs, ToolPath
from hookline.hooks.event import FactPath, path_text
from hookline.hooks.events import EVENTS
from hookline.hooks.placeholders import fact_path
from hookline.hooks.protocols import Condition, Subject, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tools import ToolKind, ToolName, Vocabulary, is_path_field
from hookline.patterns.expressions import BadExpression, expression
from hookline.patterns.matchers import MATCHERS, Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

EXPRESSION_NAMES: Final[dict[str, FactPath]] = {
    "turn": ("turn", "number"),
    "tools": ("session", "tool_calls"),
    "messages": ("messages",),
    "pressure": ("context", "pressure"),
    "tokens": ("context", "tokens"),
    "max_turns": ("turn", "max"),
}
SYNTAXES: Final = {"matches": Syntax.NATIVE, "javascript": Syntax.JAVASCRIPT, "python": Syntax.PYTHON}
MATCHER_KEYS: Final = tuple(word for word in MATCHERS if word != "tool")
PATH_MATCHER_KEYS: Final = ("glob", "begins", "exactly")
"""Asked of a path, these try it as given and relative to the project."""
TEST_KEYS: Final = (*SYNTAXES, "whole", *MATCHER_KEYS, "is", "exists", "every", *COMPARISONS)
"""What can be asked of a fact in the long form."""


@dataclass(frozen=True, slots=True)
class ConditionInfo:
    """Whose condition is being read."""

    event: str
    vocabulary: Vocabulary


def parse_condition(at: Node | None, asked: ConditionInfo) -> Condition | None:
    """None after a problem was noted; an absent `when` always holds."""
    if at is None:
        return ALWAYS
    if isinstance(at.value, list):
        return _parse_all(at.items(), asked)
    if at.value == "always" or at.value == "never":
        return ALWAYS if at.value == "always" else NEVER_HOLDS
    at.check_keys(CONDITION_KEYS, "when")
    if at.mapping() is None:
        return None
    parts = [CONDITION_KEYS[key](place, asked) for key, place in at.entries() if key in CONDITION_KEYS]
    found = [part for part in parts if part is not None]
    known = all(key in CONDITION_KEYS for key in at.value)
    return all_of(found) if len(found) == len(parts) and known else None


def _parse_all(places: Iterator[Node], asked: ConditionInfo) -> Condition | None:
    parts = [parse_condition(place, asked) for place in places]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _parse_any(at: Node, asked: ConditionInfo) -> Condition | None:
    parts = [parse_condition(place, asked) for place in at.items()]
    found = tuple(part for part in parts if part is not None)
    return AnyOf(found) if len(found) == len(parts) and at.sequence() is not None else None


def _parse_not(at: Node, asked: ConditionInfo) -> Condition | None:
    part = parse_condition(at, asked)
    return None if part is None else Not(part)


def _parse_tool(at: Node, asked: ConditionInfo) -> Condition | None:
    """Names, `*` and `?` in them, and /patterns/; the long form asks the name like any text."""
    if isinstance(at.value, dict):
        return _parse_test(at, ToolName(asked.vocabulary), ("tool", "name"))
    names = at.texts()
    if not names:
        return None if names is None else NEVER_HOLDS
    for name in names:
        if "/" in name and not (len(name) > 2 and name.startswith("/") and name.endswith("/")):
            at.add_problem("bad-pattern", f"{at.location}: {name} is not a tool's name.", "Write a pattern as /…/.")
            return None
    if not any(name.startswith("/") for name in names):
        names = ("|".join(names),)
    return _match_any_text(at, ToolName(asked.vocabulary), _tool_pattern, names)


def _tool_pattern(name: str) -> TextPattern:
    return pattern(name[1:-1]) if name.startswith("/") else shorthand("tool", name)


def _parse_kind(at: Node, asked: ConditionInfo) -> Condition | None:
    kinds = [place.one_of([str(kind) for kind in ToolKind]) for place in at.items(one_or_many=True)]
    found = [kind for kind in kinds if kind is not None]
    return _any_of([ToolKindIs(ToolKind(kind)) for kind in found]) if len(found) == len(kinds) else None


def _parse_input(at: Node, asked: ConditionInfo) -> Condition | None:
    if at.mapping() is None:
        return None
    parts = [_parse_field(name, place, asked) for name, place in at.entries()]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _parse_field(name: str, at: Node, asked: ConditionInfo) -> Condition | None:
    path = fact_path(f"input.{name}") or ("tool", "input", name)
    return _parse_test(at, ToolField(path[2:], asked.vocabulary), path)


def _parse_facts(at: Node, asked: ConditionInfo) -> Condition | None:
    if at.mapping() is None:
        return None
    parts = [_parse_fact(name, place, asked) for name, place in at.entries()]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _parse_fact(name: str, at: Node, asked: ConditionInfo) -> Condition | None:
    path = fact_path(name)
    if path is None:
        facts = ", ".join(EVENTS[asked.event].facts) or "only those that every event has"
        at.add_problem("unknown-fact", f"{name} is not a fact.", f"{asked.event} has {facts}.", at_key=True)
        return None
    subject: Subject = (
        ToolField(path[2:], asked.vocabulary) if path[:2] == ("tool", "input") and path[2:] else Fact(path)
    )
    return _parse_test(at, subject, path)


def _fact_parser(path: FactPath) -> Callable[[Node, ConditionInfo], Condition | None]:
    return lambda at, asked: _parse_test(at, Fact(path), path)


def _parse_test(at: Node, subject: Subject, path: FactPath) -> Condition | None:
    """The short forms: text is a pattern, a list is any of them, anything else is the value itself."""
    if isinstance(at.value, str):
        compiled = _compile_pattern(at, pattern, at.value)
        return None if compiled is None else Matches(subject, compiled)
    if isinstance(at.value, list):
        parts = [_parse_test(place, subject, path) for place in at.items()]
        found = [part for part in parts if part is not None]
        return _any_of(found) if len(found) == len(parts) else None
    if not isinstance(at.value, dict):
        return Equals(path, at.value)
    return _parse_long_form(at, subject, path)


def _parse_long_form(at: Node, subject: Subject, path: FactPath) -> Condition | None:
    before = len(at.problems)
    at.check_keys(TEST_KEYS, "a test")
    whole = at.get("whole")
    flag = whole is not None and whole.flag() is True
    if whole is not None and not any(word in SYNTAXES for word in at.value):
        what = f"{whole.location}: there is no pattern here that could match the whole text."
        whole.add_problem("no-pattern", what, "Write matches, javascript or python beside it.", at_key=True)
    places = [(word, place) for word, place in at.entries() if word in TEST_KEYS and word != "whole"]
    parts = [_parse_long_test(word, place, subject, path, whole=flag) for word, place in places]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) and len(at.problems) == before else None


def _parse_long_test(word: str, at: Node, subject: Subject, path: FactPath, *, whole: bool) -> Condition | None:
    if word in COMPARISONS:
        number = at.number()
        return None if number is None else Comparison(path, word, number)
    if word == "every":
        every = at.integer(least=1)
        return None if every is None else MultipleOf(path, every)
    if word == "is":
        return Equals(path, at.value)
    if word == "exists":
        flag = at.flag()
        return None if flag is None else Exists(path) if flag else Not(Exists(path))
    texts = at.texts()
    if texts is None:
        return None
    if word in SYNTAXES:
        return _match_any_text(at, subject, lambda text: pattern(text, SYNTAXES[word], whole=whole), texts)
    if word in PATH_MATCHER_KEYS and isinstance(subject, ToolField) and is_path_field(str(subject.path[-1])):
        subject = ToolPath(subject.path, subject.vocabulary)
    return _match_any_text(at, subject, lambda text: shorthand(word, text), texts)


def _number_parser(path: FactPath) -> Callable[[Node, ConditionInfo], Condition | None]:
    """A bare number means: more than this."""

    def read(at: Node, asked: ConditionInfo) -> Condition | None:
        if isinstance(at.value, dict):
            return _parse_test(at, Fact(path), path)
        number = at.number(hint="Write a number, or {at_least: …}, {below: …}, {every: …}.")
        return None if number is None else Comparison(path, "above", number)

    return read


def _parse_turn(at: Node, asked: ConditionInfo) -> Condition | None:
    """A bare number means that very turn."""
    path = ("turn", "number")
    if isinstance(at.value, dict):
        return _parse_test(at, Fact(path), path)
    number = at.integer(least=0, hint="Write a turn's number, or {every: 5}, {above: 10}.")
    return None if number is None else Comparison(path, "equals", number)


def _parse_failed(at: Node, asked: ConditionInfo) -> Condition | None:
    flag = at.flag()
    return None if flag is None else Equals(("tool", "ok"), not flag)


def _parse_says(at: Node, asked: ConditionInfo) -> Condition | None:
    if isinstance(at.value, str):
        word = at.text()
        return None if word is None else RecentMessagesContain(word)
    at.check_keys(("keyword", "last"), "says")
    keyword, last = at.get("keyword"), at.get("last")
    if keyword is None:
        at.add_problem("missing-key", f"{at.location}: keyword is missing.", "Write says: {keyword: text, last: 5}.")
        return None
    text = keyword.text()
    count = 5 if last is None else last.integer(least=1)
    return None if text is None or count is None else RecentMessagesContain(text, count)


def _parse_error_code(at: Node, asked: ConditionInfo) -> Condition | None:
    codes = at.texts()
    return (
        None
        if codes is None
        else _match_any_text(at, Fact(("error", "code")), lambda code: shorthand("tool", code), codes)
    )


def _parse_expr(at: Node, asked: ConditionInfo) -> Condition | None:
    text = at.text()
    if text is None:
        return None
    try:
        return ExpressionCondition(
            expression(text, EXPRESSION_NAMES), tuple(EXPRESSION_NAMES.items()), enclosing_hook_id(at)
        )
    except BadExpression as bad:
        hint = f"It may use {', '.join(EXPRESSION_NAMES)}, numbers, comparisons, arithmetic, and/or/not."
        at.add_problem("bad-expression", f"{at.location}: {bad}.", hint)
        return None


def _match_any_text(
    at: Node, subject: Subject, make: Callable[[str], TextPattern], texts: tuple[str, ...]
) -> Condition | None:
    """The subject matches one of the texts' patterns."""
    found = [compiled for text in texts if (compiled := _compile_pattern(at, make, text)) is not None]
    return _any_of([Matches(subject, each) for each in found]) if len(found) == len(texts) else None


def _any_of(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _compile_pattern(at: Node, make: Callable[[str], TextPattern], text: str) -> TextPattern | None:
    try:
        return make(text)
    except BadPattern as bad:
        at.add_problem("bad-pattern", f"{at.location}: {bad.why}.", "")
        return None


CONDITION_KEYS: Final[dict[str, Callable[[Node, ConditionInfo], Condition | None]]] = {
    "tool": _parse_tool,
    "kind": _parse_kind,
    "input": _parse_input,
    "fact": _parse_facts,
    "prompt": _fact_parser(("prompt",)),
    "result": _fact_parser(("tool", "result")),
    "error": _fact_parser(("tool", "error")),
    "failed": _parse_failed,
    "pressure": _number_parser(("context", "pressure")),
    "tokens": _number_parser(("context", "tokens")),
    "tool_calls": _number_parser(("session", "tool_calls")),
    "messages": _number_parser(("messages",)),
    "turn": _parse_turn,
    "says": _parse_says,
    "error_code": _parse_error_code,
    "expr": _parse_expr,
    "custom": parse_custom_conditions,
    "all": lambda at, asked: _parse_all(at.items(), asked),
    "any": _parse_any,
    "not": _parse_not,
}


_PLAIN_NAME: Final = re.compile(r"[\w.:-]+")  # means the same as a glob


def write_condition(condition: Condition) -> Any:
    """A mapping, or `never`; {} always holds."""
    match condition:
        case Always():
            return {}
        case Never():
            return "never"
        case All(parts):
            return _write_all(parts)
        case AnyOf(parts):
            return {"any": [write_condition(part) for part in parts]}
        case Not(part):
            return {"not": write_condition(part)}
        case _:
            return _write_leaf(condition)


def _write_all(parts: tuple[Condition, ...]) -> Any:
    """One mapping where no two parts need the same key, else a list."""
    values = [write_condition(part) for part in parts]
    merged: dict[str, Any] = {}
    for value in values:
        if not isinstance(value, dict) or not _merge_keys(merged, value):
            return {"all": values}
    return merged


def _merge_keys(into: dict[str, Any], value: dict[str, Any]) -> bool:
    for key, held in value.items():
        if key in ("input", "fact") and key in into:
            if set(into[key]) & set(held):
                return False
            into[key] = {**into[key], **held}
        elif key in into:
            return False
        else:
            into[key] = held
    return True


def _write_leaf(condition: Condition) -> dict[str, Any]:
    match condition:
        case Matches(ToolName(), compiled):
            return {"tool": _write_tool(compiled)}
        case Matches(ToolPath(path), Shorthand(word) as compiled) if word in PATH_MATCHER_KEYS:
            return {"input": {_field_name(path): _write_pattern(compiled)}}
        case Matches(ToolField(path), Shorthand(word) as compiled) if word in PATH_MATCHER_KEYS and is_path_field(
            str(path[-1])
        ):
            return {"input": {_field_name(path): _write_pattern(compiled.pattern)}}
        case Matches(ToolField(path), compiled):
            return {"input": {_field_name(path): _write_pattern(compiled)}}
        case Matches(Fact(("error", "code")), Shorthand("tool", text)):
            return {"error_code": text}
        case Matches(Fact(path), compiled):
            return {"fact": {path_text(path): _write_pattern(compiled)}}
        case ToolKindIs(kind):
            return {"kind": str(kind)}
        case Equals(path, value):
            return {"fact": {path_text(path): {"is": value}}}
        case Exists(path):
            return {"fact": {path_text(path): {"exists": True}}}
        case Comparison(path, comparison, number):
            return {"fact": {path_text(path): {comparison: number}}}
        case MultipleOf(path, every):
            return {"fact": {path_text(path): {"every": every}}}
        case RecentMessagesContain(keyword, last):
            return {"says": {"keyword": keyword, "last": last}}
        case ExpressionCondition(formula, places) if dict(places) == EXPRESSION_NAMES:
            return {"expr": formula.source}
        case CustomCondition(name, _, params):
            return {"custom": {name: params}}
        case _:
            raise condition_not_expressible(condition)


def _field_name(path: FactPath) -> str:
    if any("." in str(step) or step == "" for step in path):
        raise NotExpressible(f"the input field {path_text(path)!r}: a dot in a name means a step here")
    return path_text(path)


def _write_tool(compiled: Any) -> Any:
    """A name where that says it, else the long form."""
    if isinstance(compiled, Shorthand) and compiled.word == "tool":
        names = [name.strip() for name in compiled.text.split("|")]
        if all(names) and not any("/" in name for name in names):
            return names[0] if len(names) == 1 else names
        if all(name and not set(name) & set("?[") for name in names):
            return {"like": names[0] if len(names) == 1 else names}
    if isinstance(compiled, Shorthand) and compiled.word == "exactly" and _PLAIN_NAME.fullmatch(compiled.text):
        return compiled.text
    said = _write_pattern(compiled)
    return {"matches": said} if isinstance(said, str) else said


def _write_pattern(compiled: Any) -> Any:
    """Text in native syntax, or the long form that names another."""
    if isinstance(compiled, Shorthand):
        return _write_pattern(compiled.pattern) if compiled.word == "tool" else {compiled.word: compiled.text}
    if not isinstance(compiled, Pattern):
        raise NotExpressible("a pattern that is not one of ours")
    if compiled.syntax is Syntax.NATIVE and not compiled.whole:
        return compiled.source
    word = next(word for word, syntax in SYNTAXES.items() if syntax is compiled.syntax)
    return {word: compiled.source, "whole": True} if compiled.whole else {word: compiled.source}
