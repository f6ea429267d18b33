from __future__ import annotations

import pytest

from hookline.dialects.conversion import NotExpressible
from hookline.dialects.flo.patterns import escape_javascript, javascript_alternatives, to_javascript
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (r"^rm\b", r"^rm\b"),
        (r"\Arm\z", "^rm$"),
        (r"a\sb", r"a[\t\n\f\r ]b"),
        ("a.*b", r"a[^\n]*b"),
        ("(?:a|b)+", "(?:a|b)+"),
    ],
)
def test_native_patterns_are_written_as_javascript(source: str, written: str) -> None:
    compiled = pattern(source, Syntax.NATIVE)
    assert to_javascript(compiled) == written
    again = pattern(written, Syntax.JAVASCRIPT)
    for text in ("rm x", "rm", "a b", "axxb", "bab", ""):
        assert bool(again.search(text)) is bool(compiled.search(text)), text


@pytest.mark.parametrize("source", ["a.b", r"\pL", "(?i)a", "(?P<name>a)"])
def test_what_javascript_reads_differently_is_not_expressible(source: str) -> None:
    with pytest.raises(NotExpressible):
        to_javascript(pattern(source, Syntax.NATIVE))


def test_javascript_stays_as_it_is() -> None:
    assert to_javascript(pattern("(?=a)b", Syntax.JAVASCRIPT)) == "(?=a)b"


@pytest.mark.parametrize(
    ("word", "text", "written"),
    [
        ("exactly", "a.b", r"^a\.b$"),
        ("contains", "a+b", r"a\+b"),
        ("tool", "Read|mcp__*", r"^(?:Read|mcp__[\s\S]*)$"),
    ],
)
def test_shorthands_are_written_out(word: str, text: str, written: str) -> None:
    assert to_javascript(shorthand(word, text)) == written


def test_alternatives_are_grouped_unless_they_refer_back() -> None:
    assert javascript_alternatives(["a"]) == "a"
    assert javascript_alternatives(["a", "b|c"]) == "(?:a)|(?:b|c)"
    with pytest.raises(NotExpressible):
        javascript_alternatives([r"(a)\1", "b"])


def test_special_characters_are_escaped() -> None:
    assert escape_javascript("a/b.c") == r"a\/b\.c"
