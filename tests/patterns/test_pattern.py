import math
import re
import time

import pytest

from hookline.patterns.pattern import (
    MAX_PATTERN_LENGTH,
    BadPattern,
    Pattern,
    Syntax,
    UndecidedError,
    pattern,
    split_alternatives,
)

ODD_TEXTS = [
    "",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfffy",
    "\ud83d\ude00",
    "😀",
    "\U0010ffff",
    "\U0010d800",
    "é" * 100,
    "\ud800" * 5000,
]


@pytest.mark.parametrize("syntax", Syntax)
@pytest.mark.parametrize("source", ["a", ".", "[^a]", "(?=a)b", r"(a)\1", "^.*$", "\ud800", "😀", r"\x00"])
def test_any_text_can_be_searched(source, syntax):
    for text in ODD_TEXTS:
        assert pattern(source, syntax).search(text) in (True, False)


@pytest.mark.parametrize("syntax", Syntax)
@pytest.mark.parametrize("guard", ["^.*secret.*$", "^[^x]*secret[^x]*$", "(?=.*secret)^.+$", r"^.secret"])
def test_a_lone_surrogate_does_not_hide_what_stands_beside_it(guard, syntax):
    assert pattern(guard, syntax).search("\ud800secret\udc00")


@pytest.mark.parametrize("syntax", Syntax)
def test_a_surrogate_in_a_pattern_finds_itself(syntax):
    assert pattern("a\ud800", syntax).search("a\ud800b")
    assert not pattern("a\ud800", syntax).search("a\ud801b")


def test_the_whole_text_must_match_where_asked():
    assert pattern("a|ab", whole=True).search("ab")
    assert not pattern("a|ab", whole=True).search("abc")
    assert pattern("(?=a)ab?", whole=True).search("ab")
    assert not pattern("(?=a)ab?", whole=True).search("abc")
    assert not pattern("a$", whole=True).search("a\n")


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("syntax", Syntax)
@pytest.mark.parametrize("source", ["a|b", "ab*", r"\.env", "[a-c]{2}", "x{", "é"])
def test_linear_has_the_same_meaning(source, syntax, whole):
    compiled = pattern(source, syntax, whole=whole)
    assert compiled.is_linear
    search = re.compile(source).fullmatch if whole else re.compile(source).search
    for text in ["a", "b", "xax", "ab", "abbb", ".env", "x.envy", "bc", "x{", "é", ""]:
        assert bool(search(text)) == compiled.search(text), text


def test_an_open_quotation_is_still_searched_whole():
    compiled = pattern(r"\Qa.b", whole=True)
    assert compiled.search("a.b")
    assert not compiled.search("a.bc")


def test_patterns_are_values():
    assert pattern("a") is pattern("a")
    assert Pattern is type(pattern("a"))
    assert len({pattern("a"), pattern("a", whole=True), pattern("a", Syntax.PYTHON)}) == 3
    with pytest.raises(AttributeError):
        pattern("a").source = "b"


@pytest.mark.parametrize("source", ["(?=a)b", r"(a)\1"])
def test_a_deadline_in_the_past_leaves_it_undecided(source):
    with pytest.raises(UndecidedError):
        pattern(source).search("ab aa", time.perf_counter() - 1)


def test_a_linear_pattern_answers_a_short_text_whatever_the_deadline():
    assert pattern("a+b").search("aab", -math.inf)


def test_what_a_match_needs_decides_a_long_text():
    assert not pattern(r"eval\((?!safe)").search("print(1)\n" * 200_000)


def test_a_refusal_says_why_and_where():
    with pytest.raises(BadPattern, match="not closed") as refused:
        pattern("ab(c", Syntax.JAVASCRIPT)
    assert refused.value.position == 2
    with pytest.raises(BadPattern, match="longer than"):
        pattern("a" * (MAX_PATTERN_LENGTH + 1))


def test_a_repetition_that_re2_does_not_count_to_is_searched_all_the_same():
    assert pattern("^a{1001}$").search("a" * 1001)
    assert not pattern("^a{1001}$").search("a" * 1000)
    assert pattern("^a{1001}$", Syntax.JAVASCRIPT).search("a" * 1001)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("a|b", 2),
        ("^(a|b)$", 2),
        ("^(?:a|b)(?:c|d)$", 4),
        ("a(?:b|c)+", 1),
        ("(?!a|b).*", 1),
        (r"(a|b)\1", 1),
        ("abc", 1),
        ("(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)", 1),
    ],
)
def test_a_pattern_is_split_into_its_alternatives(source: str, parts: int) -> None:
    whole = pattern(source, Syntax.JAVASCRIPT)
    options = split_alternatives(whole)
    assert len(options) == parts
    for text in ("a", "b", "ab", "ac", "bd", "aa", "abc", "x", "", "abababab"):
        assert whole.search(text) == any(option.search(text) for option in options), text
