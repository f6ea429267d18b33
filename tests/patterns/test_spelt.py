"""Patterns that remember how they were written."""

from __future__ import annotations

import pytest

from hookline.patterns.pattern import BadPattern
from hookline.patterns.spelt import WORDS, spelt


@pytest.mark.parametrize(
    ("word", "text", "heard", "not_heard"),
    [
        ("exactly", "a.b", "a.b", "axb"),
        ("contains", "a.b", "xa.by", "xaxby"),
        ("begins", "src", "src/a", "srcs"),
        ("begins", "src/", "src/a", "src"),
        ("begins", "é", "é.x", "éa"),
        ("begins", "a_", "a_", "a_b"),
        ("like", "rm *", "rm -rf /\nx", "rm"),
        ("like", "a?c", "a?c", "abc"),
        ("glob", "**/*.go", "a/b.go", "a/b.py"),
        ("command", "git", "git status", "gitk"),
        ("host", "example.com", "https://example.com/", "https://example.org/"),
        ("tool", "a|b*", "bcd", "ab"),
    ],
)
def test_each_word_has_its_meaning(word: str, text: str, heard: str, not_heard: str) -> None:
    pattern = spelt(word, text)
    assert pattern.search(heard)
    assert not pattern.search(not_heard)
    assert (pattern.word, pattern.text, pattern.source) == (word, text, text)


def test_two_of_the_same_words_are_one() -> None:
    assert spelt("glob", "a*") == spelt("glob", "a*")
    assert len({spelt("glob", "a*"), spelt("glob", "a*"), spelt("like", "a*")}) == 2


@pytest.mark.parametrize("word", WORDS)
def test_the_index_may_use_it(word: str) -> None:
    assert spelt(word, "a").needed == WORDS[word]("a").needed


def test_what_is_no_host_is_refused() -> None:
    with pytest.raises(BadPattern):
        spelt("host", "a b")
