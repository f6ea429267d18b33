"""Replacing what a pattern finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.pattern import UndecidedError, pattern


@pytest.mark.parametrize(
    ("source", "text", "new", "left"),
    [
        (r"\d{4}-\d{4}", "card 1234-5678, 1111-2222.", "****", "card ****, ****."),
        (r"(?<=key=)\w+", "key=abc&key=def", "[x]", "key=[x]&key=[x]"),
        (r"(\w)\1", "aabbc", "-", "--c"),
        (r"é+", "caféé\ud800!", "e", "cafe\ud800!"),
        (r"x*", "abc", "-", "abc"),
        (r"b", "abc", r"\0$1", r"a\0$1c"),
        (r"^a", "aaa", "", "aa"),
    ],
)
def test_every_match_becomes_the_new_text(source: str, text: str, new: str, left: str) -> None:
    assert pattern(source).replace(text, new) == left


@given(st.text(alphabet="abé1 \n😀", max_size=30), st.sampled_from(["a", "ab|b", "[é1]+", r"\s", "😀"]))
def test_agrees_with_re(text: str, source: str) -> None:
    assert pattern(source).replace(text, "<>") == re.sub(source, "<>", text, flags=re.ASCII)


def test_a_text_that_would_take_too_long_is_undecided() -> None:
    with pytest.raises(UndecidedError):
        pattern(r"(?=(a+))\1b").replace("a" * 2_100_000, "x")


def test_a_long_result_with_many_matches_is_replaced() -> None:
    text = "sk-abcdefgh1 is a key\n" * 50_000
    assert "sk-" not in pattern(r"sk-[a-z0-9]{8,}").replace(text, "Z")


def test_look_around_works_in_a_long_text() -> None:
    text = "x" * 200_000 + " sk-abcdefgh1"
    assert pattern(r"(?<![\w-])sk-[a-z0-9]{8,}").replace(text, "Z") == "x" * 200_000 + " Z"
