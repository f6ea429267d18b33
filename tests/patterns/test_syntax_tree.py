"""Character sets as ranges of code points."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.syntax_tree import (
    ALL_CHARACTERS,
    LAST_CODE_POINT,
    NO_CHARACTERS,
    are_disjoint,
    complement,
    fold_case_javascript,
    fold_case_re2,
    union,
    with_other_cases,
)

code_points = st.integers(0, 300) | st.integers(LAST_CODE_POINT - 50, LAST_CODE_POINT)
ranges = st.lists(st.tuples(code_points, code_points).map(lambda ends: (min(ends), max(ends))), max_size=5)


@given(ranges, ranges)
def test_union_is_sorted_and_keeps_every_character(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    merged = union(one, other)
    assert all(high + 1 < low for (_, high), (low, _) in pairwise(merged))
    assert all(any(low <= end <= high for low, high in merged) for pair in [*one, *other] for end in pair)


@given(ranges)
def test_the_complement_is_everything_else(pairs: list[tuple[int, int]]) -> None:
    characters = union(pairs)
    assert are_disjoint(characters, complement(characters))
    assert union(characters, complement(characters)) == ALL_CHARACTERS
    assert complement(complement(characters)) == characters


def test_nothing_is_the_complement_of_everything() -> None:
    assert complement(ALL_CHARACTERS) == NO_CHARACTERS


def test_each_syntax_has_its_own_other_cases() -> None:
    kelvin = ord("\u212a")
    letter_k = ((ord("k"), ord("k")),)
    assert not are_disjoint(with_other_cases(letter_k, fold_case_re2), ((kelvin, kelvin),))
    assert are_disjoint(with_other_cases(letter_k, fold_case_javascript), ((kelvin, kelvin),))
