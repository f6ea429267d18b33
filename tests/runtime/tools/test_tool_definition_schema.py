from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.runtime.tools.tool_definition import find_input_error

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
        "count": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        "kind": {"enum": ["a", 1, None]},
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "number"}, "maxItems": 2},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "null"}}}]},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("input", "wrong"),
    [
        ({"name": "x"}, None),
        ({"name": "x", "count": 2.0, "list": [1, 2.5], "either": {"x": None}}, None),
        ([], "the input is not an object"),
        ({}, "name is missing"),
        ({"name": ""}, "name must be at least 1 characters"),
        ({"name": "x", "count": True}, "count is not an integer or null"),
        ({"name": "x", "count": 10}, "count must be at most 9"),
        ({"name": "x", "kind": True}, "kind is not one of a, 1, None"),
        ({"name": "x", "list": [1, "2"]}, "list[1] is not a number"),
        ({"name": "x", "either": 5}, "either is none of what it may be"),
        ({"nam": "x"}, "there is no field nam; did you mean name?"),
    ],
)
def test_what_is_wrong_is_said_with_its_field(input: Any, wrong: str | None) -> None:
    assert find_input_error(SCHEMA, input) == wrong


json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats(allow_nan=False) | st.sampled_from(["", "a", "abcd"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), inner),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), json) | json)
def test_it_agrees_with_the_standard(input: Any) -> None:
    assert (find_input_error(SCHEMA, input) is None) == jsonschema.Draft202012Validator(SCHEMA).is_valid(input)


@pytest.mark.parametrize(
    "schema", [{}, {"type": "strange"}, {"properties": 5}, {"items": {}}, {"enum": 5}, {"anyOf": []}]
)
def test_what_a_schema_says_in_other_words_is_not_looked_at(schema: dict[str, Any]) -> None:
    assert find_input_error(schema, {"a": [1]}) is None
