"""Patterns that remember how they were written."""

from __future__ import annotations

import pytest

from hookline.patterns.matchers import MATCHERS, path_glob, shorthand
from hookline.patterns.pattern import BadPattern


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
    pattern = shorthand(word, text)
    assert pattern.search(heard)
    assert not pattern.search(not_heard)
    assert (pattern.word, pattern.text, pattern.source) == (word, text, text)


def test_two_of_the_same_words_are_one() -> None:
    assert shorthand("glob", "a*") == shorthand("glob", "a*")
    assert len({shorthand("glob", "a*"), shorthand("glob", "a*"), shorthand("like", "a*")}) == 2


@pytest.mark.parametrize("word", MATCHERS)
def test_the_index_may_use_it(word: str) -> None:
    assert shorthand(word, "a").words == MATCHERS[word]("a").words


def test_what_is_no_host_is_refused() -> None:
    with pytest.raises(BadPattern):
        shorthand("host", "a b")


def test_a_tilde_at_the_start_of_a_glob_is_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/a.b")
    keys = path_glob("~/.ssh/**")
    assert keys.search("/home/a.b/.ssh/id")
    assert keys.search("~/.ssh/id")
    assert not keys.search("/home/axb/.ssh/id")
    assert not keys.search(".ssh/id")
    assert path_glob("{~/.ssh,~/.aws}/*").search("/home/a.b/.aws/x")
    assert path_glob("~x/*").search("~x/y")
