"""Texts with gaps are found where RE2 finds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.encoding import encode_utf8, encode_utf16_units
from hookline.patterns.engines import LinearEngine
from hookline.patterns.literal_search import MAX_RFIND_LENGTH, absence_test, build_literal_search
from hookline.patterns.simple_parser import parse_simple

PARTS = st.sampled_from(
    ["a", "b", "ab", "_", " ", r"\.", r"\*", "-", ".*", ".*?", r"\b", "^", "$", "a+", "b?", "(a)", "a|b", "[ab]", "."]
)
SOURCES = st.lists(PARTS, max_size=6).map("".join)
TEXTS = st.text(st.sampled_from("aab_ .-*\n\r\u2028éK"), max_size=12)


@pytest.mark.parametrize(
    "source",
    [
        "a",
        r"SECRET_7\b",
        r"/p7/.*\.py$",
        "^write_file$",
        r"\brm\b",
        r"^a.*b.*c$",
        ".*a",
        "^.*a",
        "a.*$",
        r"\ba\b.*\bb\b",
        "a$",
    ],
)
def test_texts_with_gaps(source: str) -> None:
    assert build_literal_search(source, whole=False, javascript=False) is not None


@pytest.mark.parametrize(
    "source", ["", ".*", r"\b", "a+", "a.*+b", "a|b", "(a)", "[a]", "a^b", "a$b", r"a\bb", r"a\.*", "a{2}"]
)
def test_everything_else_is_left_to_re2(source: str) -> None:
    assert build_literal_search(source, whole=False, javascript=False) is None


@given(SOURCES, TEXTS, st.booleans(), st.booleans())
def test_it_answers_as_re2(source: str, text: str, javascript: bool, whole: bool) -> None:
    simple = parse_simple(source, javascript=javascript)
    search = build_literal_search(source, whole=whole, javascript=javascript) if simple else None
    if simple is None or search is None:
        return
    found = search(text)
    data = encode_utf16_units(text) if javascript else encode_utf8(text)
    if found is not None:
        assert found is LinearEngine(simple[0], whole=whole).matches(data), (source, text)


def test_re2_reads_a_text_with_line_ends_or_too_many_occurrences() -> None:
    gap, edge = (
        build_literal_search("^.*a", whole=False, javascript=False),
        build_literal_search(r"a\b", whole=False, javascript=False),
    )
    assert gap is not None
    assert edge is not None
    assert gap("b\na") is None
    assert edge("ab" * 1000) is None
    assert edge("ab a") is True
    assert edge("a" + " " * 100_000) is None


@given(st.text("aSé_\u20ac", min_size=1, max_size=4), st.text("aSé_\u20ac", max_size=12))
def test_a_word_is_absent_exactly_if_the_text_lacks_it(word: str, text: str) -> None:
    assert absence_test(word)(text) is (word not in text)


@pytest.mark.parametrize("filler", ["x", "S", "SECRE", "\u20ac"])
def test_a_word_in_a_long_text_is_never_called_absent(filler: str) -> None:
    lacks, long = absence_test("SECRET_7"), filler * MAX_RFIND_LENGTH
    assert not lacks(f"{long}SECRET_7")
    assert not lacks(f"SECRET_7{long}")
    assert lacks("x" * 2 * MAX_RFIND_LENGTH)
