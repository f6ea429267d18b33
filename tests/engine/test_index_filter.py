"""Patterns sifted by the words that they need."""

from __future__ import annotations

import time

from engine.hook_factories import tool_call_event
from hookline.engine.index import PatternFilter
from hookline.patterns.pattern import pattern

WORDS = [f"word{n}x" for n in range(20)]
LONG = "plain text. " * 5_000


def test_it_passes_what_may_match_and_not_much_more() -> None:
    filter = PatternFilter(WORDS)
    assert filter.possible_matches(["a word3x and a WORD7X"]) == {3, 7}
    assert filter.possible_matches(["word3x", "word4x"]) == {3, 4}
    assert filter.possible_matches(["nothing"]) == set()
    assert filter.possible_matches([]) == set()


def test_words_far_apart_in_a_long_text_count_together() -> None:
    assert PatternFilter([*WORDS, "first.*last"]).possible_matches([f"first{LONG}last"]) == {20}


def test_everything_passes_once_the_time_is_over() -> None:
    filter = PatternFilter(WORDS)
    assert filter.possible_matches([LONG], time.perf_counter() - 1) == set(range(20))
    assert filter.possible_matches([LONG], time.perf_counter() + 60) == set()


def test_a_pattern_of_which_no_filter_can_be_made_always_passes() -> None:
    filter = PatternFilter(["abc", "(", "xyz"])
    assert filter.possible_matches(["abc"]) == {0, 1}
    assert filter.possible_matches([""]) == filter.unfiltered_patterns() == {1}


def test_patterns_without_a_needed_word_always_pass() -> None:
    assert PatternFilter(["abc", ".", "a?", "[x-z]+"]).unfiltered_patterns() >= {1, 2}


def test_texts_that_are_no_utf_8_are_sifted_as_any_other() -> None:
    filter = PatternFilter(WORDS)
    assert filter.possible_matches(["\ud800word3x\udfff\x00"]) == {3}
    assert pattern(WORDS[3]).search(tool_call_event("\ud800word3x").facts["tool"]["input"]["command"])
