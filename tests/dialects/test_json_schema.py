"""What the dialects' JSON Schemas share."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from hookline.dialects.json_schema import has_value, optional_keys

SCHEMA = {"type": "object", "properties": optional_keys({"a": {"type": "string"}, "b": {"type": "string"}}, ("a",))}


@pytest.mark.parametrize(
    ("value", "valid"), [({"a": "x", "b": None}, True), ({"a": None}, False), ({"b": 1}, False), ({"b": "x"}, True)]
)
def test_only_optional_keys_may_be_null(value: Any, valid: bool) -> None:
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(value) is valid


@pytest.mark.parametrize(("value", "valid"), [({}, False), ({"a": None}, False), ({"a": 0}, True)])
def test_a_key_with_a_value(value: Any, valid: bool) -> None:
    assert jsonschema.Draft202012Validator(has_value("a")).is_valid(value) is valid
