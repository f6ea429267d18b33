"""A test of one value: a pattern, a comparison, or the long form that combines several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hookline.config.node import Node
from hookline.dialects.native.key_hints import TEST_HINTS
from hookline.dialects.native.keys import (
    FLAG,
    NOT_WRITTEN,
    NUMBER,
    OBJECT,
    TEXTS,
    Key,
    Schema,
    flag_key,
    integer_schema,
    key_table,
)
from hookline.hooks.conditions.logic import AnyOf, Not, all_of
from hookline.hooks.conditions.text import Equals, Exists, Matches, ShellCommands
from hookline.hooks.event import FactPath
from hookline.hooks.protocols import Condition, Subject, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import lazy_class
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

if TYPE_CHECKING:
    from hookline.hooks.conditions.numbers import Comparison, MultipleOf
else:
    Comparison = lazy_class("hookline.hooks.conditions.numbers", "Comparison")
    MultipleOf = lazy_class("hookline.hooks.conditions.numbers", "MultipleOf")

SYNTAXES: Final = {"matches": Syntax.NATIVE, "javascript": Syntax.JAVASCRIPT, "python": Syntax.PYTHON}
_COMMAND_MATCHERS: Final = ("command", "starts")  # they are matched against each command of a shell text

TEST: Final[Schema] = {"$ref": "#/$defs/test"}
LONG_TEST: Final[Schema] = {"allOf": [TEST, OBJECT]}
TEST_MAPPING: Final[Schema] = {"type": "object", "additionalProperties": TEST}

_T = TypeVar("_T")


def require_all(parts: Sequence[_T | None]) -> list[_T] | None:
    """The parts, or None if one of them had a problem."""
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TestTarget:
    """What a test looks at: a pattern searches the text of `subject`, other tests compare the value at `path`."""

    subject: Subject
    path: FactPath
    whole: bool  # whether a pattern must match all of the text


def parse_test(at: Node, subject: Subject, path: FactPath) -> Condition | None:
    """A text is a pattern, a list means any of its tests, a mapping is the long form, and other values are compared."""
    if isinstance(at.value, str):
        compiled = compile_pattern(at, pattern, at.value)
        return None if compiled is None else Matches(subject, compiled)
    if isinstance(at.value, list):
        parts = require_all([parse_test(place, subject, path) for place in at.items()])
        return None if parts is None else any_of(parts)
    if not isinstance(at.value, dict):
        return Equals(path, at.value)
    return _parse_long_form(at, subject, path)


def _parse_long_form(at: Node, subject: Subject, path: FactPath) -> Condition | None:
    before = len(at.problems)
    at.check_keys(TESTS, "a test", TEST_HINTS)
    whole = at.get("whole")
    if whole is not None and not any(word in SYNTAXES for word in at.value):
        what = f"{whole.location}: there is no pattern that could match the whole text."
        whole.add_problem("no-pattern", what, "Write matches, javascript or python beside it.", at_key=True)
    target = TestTarget(_text_subject(at, subject), path, whole is not None and whole.flag() is True)
    places = [(word, place) for word, place in at.entries() if word in TESTS and word not in ("whole", "only_text")]
    parts = require_all([TESTS[word].read(place, target) for word, place in places])
    return all_of(parts) if parts is not None and len(at.problems) == before else None


def _text_subject(at: Node, subject: Subject) -> Subject:
    """The subject, which reads nothing but text with `only_text: true`."""
    only_text = at.get("only_text")
    if only_text is None or only_text.flag() is not True:
        return subject
    if isinstance(subject, ToolField):
        return replace(subject, only_text=True)
    what = f"{only_text.location}: only a field of the tool's input can be limited to text."
    only_text.add_problem("no-pattern", what, "Remove it.", at_key=True)
    return subject


def _syntax_key(word: str, **rest: Any) -> Key:
    """A pattern in one of the three syntaxes."""

    def parse(at: Node, target: TestTarget) -> Condition | None:
        texts = at.texts()
        if texts is None:
            return None
        return match_any(at, target.subject, lambda text: pattern(text, SYNTAXES[word], whole=target.whole), texts)

    return Key(word, read=parse, schema=TEXTS, **rest)


def _matcher_key(word: str, **rest: Any) -> Key:
    """A matcher of patterns.matchers."""

    def parse(at: Node, target: TestTarget) -> Condition | None:
        texts = at.texts()
        if texts is None:
            return None
        subject = ShellCommands(target.subject) if word in _COMMAND_MATCHERS else target.subject
        return match_any(at, subject, lambda text: shorthand(word, text), texts)

    return Key(word, read=parse, schema=TEXTS, **rest)


def _comparison_key(word: str, **rest: Any) -> Key:
    def parse(at: Node, target: TestTarget) -> Condition | None:
        number = at.number()
        return None if number is None else Comparison(target.path, word, number)

    def write(condition: Condition) -> Any:
        if isinstance(condition, Comparison) and condition.comparison == word:
            return condition.number
        return NOT_WRITTEN

    return Key(word, read=parse, write=write, schema=NUMBER, **rest)


def _parse_exists(at: Node, target: TestTarget) -> Condition | None:
    flag, exists = at.flag(), Exists(target.path)
    return None if flag is None else exists if flag else Not(exists)


def _parse_every(at: Node, target: TestTarget) -> Condition | None:
    every = at.integer(least=1)
    return None if every is None else MultipleOf(target.path, every)


def match_any(
    at: Node, subject: Subject, make: Callable[[str], TextPattern], texts: tuple[str, ...]
) -> Condition | None:
    """The subject matches the pattern of one of the texts."""
    found = require_all([compile_pattern(at, make, text) for text in texts])
    return None if found is None else any_of([Matches(subject, each) for each in found])


def any_of(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def compile_pattern(at: Node, make: Callable[[str], TextPattern], text: str) -> TextPattern | None:
    try:
        return make(text)
    except BadPattern as bad:
        looks_like_glob = make is pattern and (text.startswith("*") or "**" in text)
        hint = f"If it is a glob, write {{glob: '{text}'}}." if looks_like_glob else ""
        at.add_problem("bad-pattern", f"{at.location}: {bad.why}.", hint)
        return None


def write_pattern(compiled: Any) -> Any:
    """A text in native syntax, or the long form that names another syntax."""
    if isinstance(compiled, Shorthand):
        return write_pattern(compiled.pattern) if compiled.word == "tool" else {compiled.word: compiled.text}
    if not isinstance(compiled, Pattern):
        from hookline.dialects.conversion import NotExpressible

        raise NotExpressible("a pattern of another kind")
    if compiled.syntax is Syntax.NATIVE and not compiled.whole:
        return compiled.source
    word = next(word for word, syntax in SYNTAXES.items() if syntax is compiled.syntax)
    return {word: compiled.source, "whole": True} if compiled.whole else {word: compiled.source}


TESTS: Final = key_table(
    _syntax_key("matches", help="it contains a match of this [pattern](patterns.md)", example=r"{matches: 'rm\s+-rf'}"),
    _syntax_key("javascript", help="it contains a match of this JavaScript `RegExp`", example=r"{javascript: '^rm\b'}"),
    _syntax_key("python", help="it contains a match of this Python `re` pattern", example=r"{python: '\Arm\b'}"),
    flag_key(
        "whole",
        help="beside a pattern: it must match the whole text",
        example="{matches: 'git (status|diff)', whole: true}",
    ),
    flag_key(
        "only_text",
        help="beside a pattern for a field of the input: a number or an object does not match",
        example="{matches: '5', only_text: true}",
    ),
    _matcher_key("exactly", help="it is this text", example="{exactly: README.md}"),
    _matcher_key("contains", help="it contains this text", example="{contains: --force}"),
    _matcher_key(
        "begins",
        help="it begins with this text, up to the end of a word: `src` matches `src/a.py`, not `srcs`",
        example="{begins: src}",
    ),
    _matcher_key("like", help="it is this text, in which `*` matches any text", example="{like: 'feature/*'}"),
    _matcher_key("glob", help="it is a path that this [glob](patterns.md#globs) matches", example="{glob: '**/*.py'}"),
    _matcher_key(
        "command",
        help="one of its [commands](patterns.md#commands) begins with these words: `git` matches `git push`, not `gitk`",
        example="{command: git push}",
    ),
    _matcher_key(
        "starts",
        help="one of its [commands](patterns.md#commands) is this; `*` matches any text, a final ` *` also none",
        example="{starts: 'git push *'}",
    ),
    _matcher_key(
        "host",
        help="it is a URL of this host; `*.example.com` is the host and its subdomains",
        example="{host: '*.example.com'}",
    ),
    Key(
        "is",
        read=lambda at, target: Equals(target.path, at.value),
        write=lambda condition: condition.value if isinstance(condition, Equals) else NOT_WRITTEN,
        schema={},
        help="it is this value, of any type",
        example="{is: 3}",
    ),
    Key(
        "exists",
        read=_parse_exists,
        write=lambda condition: True if isinstance(condition, Exists) else NOT_WRITTEN,
        schema=FLAG,
        help="the fact is there, or with `false` is not there",
        example="{exists: false}",
    ),
    Key(
        "every",
        read=_parse_every,
        write=lambda condition: condition.number if isinstance(condition, MultipleOf) else NOT_WRITTEN,
        schema=integer_schema(1),
        help="it is a multiple of this number, and not 0",
        example="{every: 5}",
    ),
    _comparison_key("above", help="it is more than this number", example="{above: 10}"),
    _comparison_key("at_least", help="it is this number or more", example="{at_least: 10}"),
    _comparison_key("below", help="it is less than this number", example="{below: 10}"),
    _comparison_key("at_most", help="it is this number or less", example="{at_most: 10}"),
    _comparison_key("equals", help="it is this number", example="{equals: 10}"),
)
"""The long form of a test."""
