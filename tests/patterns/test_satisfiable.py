import pytest

from hookline.patterns import re2_parser, satisfiable
from hookline.patterns.pattern import Syntax, can_match, pattern


@pytest.mark.parametrize(
    "source",
    ["a^b", "a$b", "x+^y", "$x", "(a|b)^c", "a(^|^)b", r"\z.", "[^\\x00-\\x{10FFFF}]", "a{2}^", "(?:^a){2}", "a$b$"],
)
def test_no_text_matches(source: str) -> None:
    assert not can_match(pattern(source))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "^a$",
        "a|^b",
        "a?^b",
        "(^|/)src($|/)",
        "a*^b$",
        "^^a$$",
        "$",
        "^",
        "(?m)a$\nb",
        "x(?:$|y)z?",
        "(?:^|x)*y",
        "(?=a$)a",
    ],
)
def test_some_text_may_match(source: str) -> None:
    assert can_match(pattern(source))


def test_other_syntaxes() -> None:
    assert not can_match(pattern("a^b", Syntax.JAVASCRIPT))
    assert not can_match(pattern(r"a\Ab", Syntax.PYTHON))
    assert can_match(pattern("a$\n", Syntax.PYTHON))


@pytest.mark.parametrize(
    "source",
    ["abc", "^abc", "abc$", "^abc$", r"\bgit\s+push\b", "(?i)rm -rf", "a|b$", "^a|b", r"a\$", "$", "^", "x{2,3}"],
)
def test_a_pattern_that_is_not_parsed_has_a_tree_that_can_match(source: str) -> None:
    assert satisfiable.can_match(re2_parser.parse(source))
    assert can_match(pattern(source))
