"""Which of many words are in a text."""

from __future__ import annotations

import math
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.engine.word_filter import WordFilter
from hookline.patterns.required_words import WORD_EDGE

WORDS = [f"word{n}x" for n in range(20)]
LONG = "plain text. " * 5_000


def find(words: list[str], text: str, deadline: float = math.inf) -> set[int]:
    return set(WordFilter(words).find(text, deadline))


def test_it_finds_the_words_in_any_case_and_no_others() -> None:
    assert find(WORDS, "a word3x and a WORD7X") == {3, 7}
    assert find(WORDS, "word3") == find(WORDS, "") == set()


@pytest.mark.parametrize("at", [0, 8_190, 8_192, 8_195, 16_380, 59_990])
@pytest.mark.parametrize("word", ["needle", "NEEDLE", "\u212aee\u017f", "kees"])
def test_a_word_across_two_windows_of_a_long_text_is_found(at: int, word: str) -> None:
    text = LONG[:at] + word + LONG[at:]
    assert find(["needle", "kees"], text) == {0 if word.lower() == "needle" else 1}


def test_every_word_is_returned_once_the_time_is_over() -> None:
    assert find(WORDS, LONG, time.perf_counter() - 1) == set(range(20))
    assert find(WORDS, LONG, time.perf_counter() + 60) == set()


def test_a_character_that_all_words_share_rules_a_text_out() -> None:
    words = [f"Key_{n}".lower() for n in range(10)]
    assert find(words, "KEY_3 key-4") == {3}
    assert find(words, "key-4") == set()


def test_a_text_that_all_spellings_share_rules_a_text_out() -> None:
    words = WordFilter([f"key_{n}" for n in range(10)], [f"Key_{n}" for n in range(10)])
    assert set(words.find(f"KEY_3 {LONG[:100]} Key_4", math.inf)) == {4}
    assert set(words.find("KEY_3 key_4", math.inf)) == set()


@pytest.mark.parametrize("at", [0, 1, 5, 8_188, 8_192, 59_990])
def test_words_are_found_around_the_text_that_all_share(at: int) -> None:
    words = WordFilter(["a_b_c" + WORD_EDGE, WORD_EDGE + "xx_b_y"], ["a_b_c", "xx_b_y"])
    text = LONG[:at] + " xx_b_y a_b_c " + LONG[at:]
    assert set(words.find(text, math.inf)) == {0, 1}
    assert set(words.find(text.strip(), math.inf)) == {0, 1}


def test_a_word_is_found_with_and_without_an_edge_before_it() -> None:
    words = [WORD_EDGE + "drop_1" + WORD_EDGE, "drop_1" + WORD_EDGE, "drop_2" + WORD_EDGE]
    spelled = WordFilter(words, ["drop_1", "drop_1", "drop_2"])
    assert set(spelled.find("a drop_1", math.inf)) == {0, 1}
    assert set(spelled.find("a_drop_1", math.inf)) == {1}


def test_a_word_whose_letters_may_be_in_any_case_leaves_the_others_findable() -> None:
    words = WordFilter(["key_1", "key_2"], ["Key_1", None])
    assert set(words.find("KEY_2", math.inf)) == {1}


@pytest.mark.parametrize("at", [0, 8_185, 8_190, 8_191, 8_192, 8_193, 16_384])
@pytest.mark.parametrize("word", ["secret_1" + WORD_EDGE, WORD_EDGE + "secret_1", "=" + WORD_EDGE, WORD_EDGE + "="])
def test_the_edge_of_a_word_is_where_re2_sees_it(at: int, word: str) -> None:
    assert find([word], LONG[:at] + " x secret_1=y " + LONG[at:]) == {0}
    assert find([word], "secret_1=y"[: 8 if "s" in word else None]) == {0}


def test_a_longer_word_is_not_the_word() -> None:
    words = [f"secret_{n}{WORD_EDGE}" for n in range(100)]
    assert find(words, "secret_77 secret_1234") == {77}


def test_texts_that_are_not_utf_8_are_searched_like_any_other() -> None:
    assert find(WORDS, "\ud800word3x\udfff\x00") == {3}


def test_words_beyond_ascii_are_found_in_any_case() -> None:
    assert find(["\u00e9cole", "\u00dfx"], "\u00e9cole") == {0}
    assert find(["\u00e9cole", "stra\u00dfe"], "\u00c9COLE STRA\u00dfE") == {0, 1}


def test_thousands_of_words() -> None:
    words = [f"w{n}e" for n in range(20_000)]
    assert find(words, "x w7e w19999e w7") == {7, 19_999}


@given(
    st.lists(st.text("ab1-", max_size=3), min_size=1, max_size=12, unique=True),
    st.lists(st.sampled_from(["Key_", "a", "b", "1", "-", " ", "key_", "é", "Key_Key_"]), max_size=20).map("".join),
    st.booleans(),
    st.booleans(),
)
def test_spelled_words_are_found_where_a_regex_finds_them(
    ends: list[str], text: str, edge_before: bool, edge_after: bool
) -> None:
    spellings = [f"Key_{end}" for end in ends]
    before, after = (WORD_EDGE if edge else "" for edge in (edge_before, edge_after))
    words = WordFilter([before + spelling.lower() + after for spelling in spellings], spellings)
    edges = r"\b" * edge_before, r"\b" * edge_after
    regexes = [f"{edges[0]}{spelling}{edges[1]}" for spelling in spellings]
    expected = {n for n, regex in enumerate(regexes) if re.search(regex, text, re.ASCII)}
    found = set(words.find(text, math.inf))
    assert found >= expected
    if text.count("Key_") <= 8:
        assert found == expected
