from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.runtime.tools.tool_definition import (
    find_input_error,
    has_plain_texts,
    integer_schema,
    object_schema,
    string_schema,
)
from hookline.runtime.tools.toolbox import built_in_tools

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
        "count": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
        "kind": {"enum": ["a", 1, None]},
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "number"}, "maxItems": 2},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "null"}}}]},
        "inner": {
            "type": "object",
            "properties": {"x": {"multipleOf": 2}},
            "required": ["x"],
            "additionalProperties": False,
        },
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
        ({"name": "x", "either": 5}, "either does not match any allowed form"),
        ({"nam": "x"}, "there is no field nam; did you mean name?"),
        ({"zzz": "x"}, "there is no field zzz; the fields are name, count, kind, flag, list, either, inner"),
        ({"name": "x", "inner": {"y": 1}}, "there is no field inner.y; the fields are x"),
        ({"name": "x", "inner": {}}, "inner.x is missing"),
        ({"name": "x", "inner": {"x": 2.5}}, "inner.x: 2.5 is not a multiple of 2"),
    ],
)
def test_an_error_names_its_field(input: Any, wrong: str | None) -> None:
    assert find_input_error(SCHEMA, input) == wrong


def test_a_schema_that_changes_counts_as_it_is_now() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}}
    assert find_input_error(schema, {"x": 1}) == "x is not a string"
    schema["properties"]["x"]["type"] = "integer"
    assert find_input_error(schema, {"x": 1}) is None
    schema["type"] = "nonsense"
    assert "the tool's schema is invalid" in (find_input_error(schema, {"x": 1}) or "")


def test_a_schema_with_values_that_json_does_not_have() -> None:
    assert find_input_error({"properties": {"x": {"enum": [b"y"]}}}, {"x": b"y"}) is None
    assert find_input_error({"properties": {"x": {"enum": [b"y"]}}}, {"x": "y"}) == "x is not one of b'y'"


json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats(allow_nan=False) | st.sampled_from(["", "a", "abcd"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), json) | json)
def test_it_agrees_with_jsonschema(input: Any) -> None:
    assert (find_input_error(SCHEMA, input) is None) == jsonschema.Draft202012Validator(SCHEMA).is_valid(input)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strange"},
        {"properties": 5},
        {"enum": 5},
        {"anyOf": []},
        {"$schema": 5},
        {"properties": {"a": {"type": "string", "required": True}}},
    ],
)
def test_an_input_is_refused_if_the_schema_is_invalid(schema: dict[str, Any]) -> None:
    assert str(find_input_error(schema, {"a": [1]})).startswith(
        "cannot be checked, because the tool's schema is invalid: "
    )


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"items": {}},
        {"$ref": "#/nowhere"},
        {"$schema": "http://["},
        {"$ref": "http://["},
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_what_a_schema_does_not_say_is_accepted(schema: dict[str, Any]) -> None:
    assert find_input_error(schema, {"a": [1]}) is None


def test_a_reference_to_another_document_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("it was fetched"))
    assert find_input_error({"$ref": "http://127.0.0.1:9/schema.json"}, {"a": 1}) is None


def test_a_reference_within_the_schema_is_followed() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/word"}}, "$defs": {"word": {"type": "string"}}}
    assert find_input_error(schema, {"a": 1}) == "a is not a string"


def test_a_schema_of_an_older_draft_is_read_by_its_own_rules() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"items": [{"type": "string"}]}},
    }
    assert find_input_error(schema, {"a": [1]}) == "a[0] is not a string"


def test_the_depth_of_an_input_is_limited() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert find_input_error({"items": {"$ref": "#"}}, deep) == "the input is nested too deeply"


_VALUES = st.one_of(
    st.text(max_size=3), st.sampled_from(("get", "set", 1, True, None, 1.5)), st.lists(st.text(), max_size=1)
)


@given(st.sampled_from(built_in_tools()), st.data())
def test_an_input_with_plain_texts_is_valid(tool: Any, data: st.DataObject) -> None:
    names = st.sampled_from([*tool.schema["properties"], "other"])
    input = data.draw(st.dictionaries(names, _VALUES, max_size=4))
    assert not has_plain_texts(tool.schema, input) or find_input_error(tool.schema, input) is None


_LINE = object_schema(
    "path", path=string_schema("The file."), mode=string_schema("How.", enum=["r", "w"]), n=integer_schema("", 0, 9)
)


@pytest.mark.parametrize(
    ("input", "is_plain"),
    [
        ({"path": "a"}, True),
        ({"path": "a", "mode": "w"}, True),
        ({}, False),
        ({"path": 1}, False),
        ({"path": "a", "mode": "x"}, False),
        ({"path": "a", "n": 3}, False),  # valid, but nothing that is known at a glance
        ({"path": "a", "other": "b"}, False),
        (["path"], False),
    ],
)
def test_which_inputs_need_no_closer_look(input: Any, is_plain: bool) -> None:
    assert has_plain_texts(_LINE, input) is is_plain


def test_a_text_that_is_too_long_needs_a_closer_look() -> None:
    schema = object_schema(key=string_schema("", maxLength=3), value={"description": "Any JSON."})
    assert has_plain_texts(schema, {"key": "abc", "value": "long text"})
    assert not has_plain_texts(schema, {"key": "abcd"})
    assert not has_plain_texts(schema, {"key": "abc", "value": [1]})


def test_other_schemas_need_a_closer_look() -> None:
    assert not has_plain_texts({**_LINE, "minProperties": 2}, {"path": "a"})
    assert not has_plain_texts(object_schema(path=string_schema("", minLength=2)), {"path": "a"})
