"""The source written for an engine means the same as the tree."""

import re

import pytest
import regex

from hookline.patterns import python_parser
from hookline.patterns.emitter import NotLinearError, escape_character, to_re2, to_re2_superset, to_regex

TEXTS = ["", "a", "ab", "aab", "abab", "A-1", "x\ny", "é", "a b\n"]


@pytest.mark.parametrize("source", ["a+b", "^(?:a|ab)*$", "[^a-z]", r"\w\b", "x.y", "(?s:x.y)", "a{2}b", "(?i:a)b?"])
def test_both_engines_find_what_python_finds(source: str) -> None:
    tree = python_parser.parse(source)
    for text in TEXTS:
        expected = re.search(source, text, re.ASCII) is not None
        assert (regex.search(to_regex(tree), text) is not None) is expected, text


@pytest.mark.parametrize("source", ["(?=a)b", r"(a)\1", "a$b", "a{1001}"])
def test_re2_cannot_express_everything_exactly(source: str) -> None:
    tree = python_parser.parse(source)
    with pytest.raises(NotLinearError):
        to_re2(tree, whole=False)
    assert to_re2_superset(tree)


@pytest.mark.parametrize("character", ["a", ".", "_", "\n", "\x7f", "é", "]"])
def test_an_escaped_character_matches_itself_only(character: str) -> None:
    escaped = escape_character(ord(character))
    for source in (escaped, f"[{escaped}]"):
        assert regex.fullmatch(source, character)
        assert not regex.fullmatch(source, "x")
