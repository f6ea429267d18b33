"""Patterns that are read in one pass. tests/patterns/test_required_words.py compares their meaning with that of their trees."""

from __future__ import annotations

import pytest

from hookline.patterns.pattern import BadPattern, Syntax, pattern
from hookline.patterns.simple_parser import parse_simple


@pytest.mark.parametrize(
    "source",
    [
        "", "rm -rf", r"\.env$", "^write_file$", r"SECRET_7\b", r"/p7/.*\.py$", "(a|b)+c", "[A-Za-z0-9_]+", "a{2,3}", r"\s+",
        r"a\x20b",
    ],
)  # fmt: skip
def test_simple_patterns(source: str) -> None:
    assert parse_simple(source, javascript=True) is not None
    assert parse_simple(source, javascript=False) is not None


@pytest.mark.parametrize(
    "source",
    [
        "(", ")", "*", "a**", "a+*", "^*", "[b-a]", "a{3,2}", "a{", "(?=a)", "(?i)a", r"\1", r"(a)\1", "é", "[[:alpha:]]",
        "(?:a{2}){2}", "(a){2}", r"\k", "|*", "x" * 401, "(" * 9 + ")" * 9, "[a-z]{60}[a-z]{60}", "\\", r"[\d]", "[]a]",
    ],
)  # fmt: skip
def test_everything_else_is_left_to_the_other_parsers(source: str) -> None:
    assert parse_simple(source, javascript=True) is None
    assert parse_simple(source, javascript=False) is None


def test_what_only_one_syntax_means() -> None:
    assert parse_simple(r"\Aa\z", javascript=True) is None
    assert parse_simple(r"\Aa\z", javascript=False) is not None
    assert pattern(r"\A", Syntax.JAVASCRIPT).search("xA")
    assert not pattern(".", Syntax.JAVASCRIPT).search("\u2028")
    assert pattern(".").search("\u2028")
    assert pattern(r"\s", Syntax.JAVASCRIPT).search("\u00a0")
    assert not pattern(r"\s").search("\u00a0")


def test_a_simple_pattern_is_compiled_when_it_is_searched() -> None:
    compiled = pattern("uncompiled_[a-z]+_7")
    assert compiled._linear is None
    assert not compiled.search("nothing of it")
    assert compiled._linear is None
    assert compiled.search("uncompiled_abc_7")
    assert compiled._linear is not None
    assert pattern("replaced_[a-z]+").replace("a replaced_b c", "x") == "a x c"


@pytest.mark.parametrize("source", ["(", "[", "a**", "*a", "a{2,1}", "[z-a]"])
def test_bad_patterns_are_still_refused_at_once(source: str) -> None:
    for syntax in Syntax:
        with pytest.raises(BadPattern):
            pattern(source, syntax)


@pytest.mark.parametrize("source", ["[_-A]", "[:-0]", "[@-0]", "[=-0]", "[z-a]"])
@pytest.mark.parametrize("syntax", [Syntax.NATIVE, Syntax.JAVASCRIPT])
def test_a_range_out_of_order_is_refused(source: str, syntax: Syntax) -> None:
    with pytest.raises(BadPattern):
        pattern(source, syntax)


def test_a_repetition_after_flags_is_left_to_re2() -> None:
    """RE2 repeats what is before the flags, so no word may be demanded of the text."""
    assert pattern("[a-z](?i){1,3}${0}").search("mrma")
    assert pattern("a(?i){2}b").search("aab")
    with pytest.raises(BadPattern):
        pattern("(?i)*")
