"""JSON of any depth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.json_text import _encode_pieces, json_text
from hookline.hooks.match_deadline import NO_DEADLINE

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=20,
)


@given(VALUES)
def test_both_ways_to_write_it_are_one(value: Any) -> None:
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json_text(value) == "".join(_encode_pieces(value, None, NO_DEADLINE)) == expected


@pytest.mark.parametrize("depth", [500, 5_000, 100_000])
def test_depth_does_not_matter(depth: int) -> None:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": [value]}
    assert json_text(value) == '{"a":[' * depth + '"x"' + "]}" * depth


def test_numbers_that_json_does_not_have_are_null() -> None:
    assert json_text({"a": [float("nan"), float("inf"), -float("inf"), 1.5]}) == '{"a":[null,null,null,1.5]}'


def test_a_value_inside_of_itself_is_null() -> None:
    value: dict[str, Any] = {"again": [1], "twice": []}
    value["again"].append(value)
    shared = [2]
    value["twice"] = [shared, shared]
    assert json_text(value) == '{"again":[1,null],"twice":[[2],[2]]}'


def test_what_is_no_data_is_told_by_the_default() -> None:
    assert json_text({"a": {1}}, default=lambda value: "set") == '{"a":"set"}'
    assert json_text([float("nan"), {1}], default=lambda value: "set") == '[null,"set"]'
    with pytest.raises(TypeError):
        json_text({"a": {1}})


def test_text_that_looks_like_a_piece_is_still_text() -> None:
    assert json_text([float("nan"), "]", ","]) == '[null,"]",","]'
