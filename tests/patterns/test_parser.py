"""What all regex syntaxes share: alternation, repetition, nesting."""

from __future__ import annotations

import pytest

from hookline.patterns.parser import MAX_GROUP_DEPTH, UNBOUNDED_COUNT, Flags
from hookline.patterns.python_parser import PythonParser
from hookline.patterns.syntax_tree import BadPattern, Repeat


def repeat(source: str) -> Repeat:
    tree = PythonParser(source).parse()
    assert isinstance(tree, Repeat)
    return tree


@pytest.mark.parametrize(
    ("source", "least", "most", "lazy"),
    [
        ("a*", 0, None, False),
        ("a+?", 1, None, True),
        ("a?", 0, 1, False),
        ("a{3}", 3, 3, False),
        ("a{2,}", 2, None, False),
        ("a{2,5}?", 2, 5, True),
        (f"a{{1,{UNBOUNDED_COUNT}}}", 1, None, False),
    ],
)
def test_a_repetition_has_its_bounds(source: str, least: int, most: int | None, lazy: bool) -> None:
    found = repeat(source)
    assert (found.least, found.most, found.lazy) == (least, most, lazy)


@pytest.mark.parametrize("source", ["a)", "(a", "a{3,2}", "a**", "*a", "(" * 200 + ")" * 200])
def test_what_cannot_be_read_is_refused_with_its_position(source: str) -> None:
    with pytest.raises(BadPattern) as bad:
        PythonParser(source).parse()
    assert 0 <= bad.value.position <= len(source)


def test_nesting_is_allowed_up_to_its_limit() -> None:
    PythonParser("(" * MAX_GROUP_DEPTH + "a" + ")" * MAX_GROUP_DEPTH).parse()
    with pytest.raises(BadPattern, match="nested deeper"):
        PythonParser("(" * (MAX_GROUP_DEPTH + 1) + "a" + ")" * (MAX_GROUP_DEPTH + 1)).parse()


def test_flags_are_set_and_unset_by_their_letters() -> None:
    flags = Flags().with_letters("is", True)
    assert flags == Flags(any_case=True, dot_all=True)
    assert flags.with_letters("i", False) == Flags(dot_all=True)
