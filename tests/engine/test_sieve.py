"""Patterns sifted by the words that they need."""

from __future__ import annotations

import time

from engine.parts import call
from hookline.engine.sieve import Sieve
from hookline.patterns.pattern import pattern

WORDS = [f"word{n}x" for n in range(20)]
LONG = "plain text. " * 5_000


def test_it_passes_what_may_match_and_not_much_more() -> None:
    sieve = Sieve(WORDS)
    assert sieve.passed(["a word3x and a WORD7X"]) == {3, 7}
    assert sieve.passed(["word3x", "word4x"]) == {3, 4}
    assert sieve.passed(["nothing"]) == set()
    assert sieve.passed([]) == set()


def test_words_far_apart_in_a_long_text_count_together() -> None:
    assert Sieve([*WORDS, "first.*last"]).passed([f"first{LONG}last"]) == {20}


def test_everything_passes_once_the_time_is_over() -> None:
    sieve = Sieve(WORDS)
    assert sieve.passed([LONG], time.perf_counter() - 1) == set(range(20))
    assert sieve.passed([LONG], time.perf_counter() + 60) == set()


def test_a_pattern_of_which_no_filter_can_be_made_always_passes() -> None:
    sieve = Sieve(["abc", "(", "xyz"])
    assert sieve.passed(["abc"]) == {0, 1}
    assert sieve.passed([""]) == sieve.unsifted() == {1}


def test_patterns_without_a_needed_word_always_pass() -> None:
    assert Sieve(["abc", ".", "a?", "[x-z]+"]).unsifted() >= {1, 2}


def test_texts_that_are_no_utf_8_are_sifted_as_any_other() -> None:
    sieve = Sieve(WORDS)
    assert sieve.passed(["\ud800word3x\udfff\x00"]) == {3}
    assert pattern(WORDS[3]).search(call("\ud800word3x").facts["tool"]["input"]["command"])
