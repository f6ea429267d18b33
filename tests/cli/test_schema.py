from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from hookline.dialects.dialect import DIALECT_NAMES, get_dialect


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_dialect_has_a_valid_schema(hookline, dialect):
    result = hookline("schema", dialect)
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == get_dialect(dialect).schema()


def _undescribed(schema: Any, root: Any, place: str = "") -> Iterator[str]:
    """The properties that an editor could say nothing about. What only checks (`not`, `if`, `oneOf`) is left out."""
    if isinstance(schema, list):
        for part in schema:
            yield from _undescribed(part, root, place)
    if not isinstance(schema, dict):
        return
    for name, part in schema.get("properties", {}).items():
        target = root["$defs"].get(part.get("$ref", "").removeprefix("#/$defs/"), {})
        if part == {"not": {"type": "null"}}:  # hookline.dialects.json_schema.has_value
            continue
        if not (part.get("description") or target.get("description")):
            yield f"{place}/{name}"
        yield from _undescribed(part, root, f"{place}/{name}")
    for name, part in schema.get("$defs", {}).items():
        yield from _undescribed(part, root, name)
    for word in ("anyOf", "then", "else", "items", "additionalProperties"):
        yield from _undescribed(schema.get(word), root, place)


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_key_and_event_has_a_description(dialect):
    schema = get_dialect(dialect).schema()
    assert list(_undescribed(schema, schema)) == []


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_schema_has_an_id(dialect):
    assert get_dialect(dialect).schema()["$id"] == f"urn:hookline:{dialect}"


def test_conditions_and_actions_have_valid_examples_and_defaults_are_told():
    schema = get_dialect("native").schema()
    found = list(_examples(schema))
    assert len(found) > 40
    for part in found:
        validator = jsonschema.Draft202012Validator({**part, "$defs": schema["$defs"]})
        assert validator.is_valid(part["examples"][0]), part
    assert schema["$defs"]["hook"]["properties"]["timeout"]["description"].endswith("default: `30s`")


def _examples(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if isinstance(schema.get("examples"), list):
            yield schema
        for part in schema.values():
            yield from _examples(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _examples(part)


def test_without_a_name_it_is_the_schema_of_hookline_yaml(hookline):
    assert hookline("schema").stdout == hookline("schema", "native").stdout


def test_an_unknown_dialect_gets_a_suggestion(hookline):
    result = hookline("schema", "digitron")
    assert result.exit_code != 0
    assert "Did you mean digitorn?" in result.stderr


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_a_default_is_a_valid_value(dialect):
    schema = get_dialect(dialect).schema()
    found = list(_defaults(schema))
    assert found or dialect not in ("native", "digitorn", "microai")
    for part in found:
        validator = jsonschema.Draft202012Validator({**part, "$defs": schema.get("$defs", {})})
        assert validator.is_valid(part["default"]), part


def _defaults(schema: Any) -> Iterator[dict[str, Any]]:
    """Each schema with a default. A property may have that name too, and then a schema as its value."""
    if isinstance(schema, dict):
        if "default" in schema and "description" in schema and not isinstance(schema["default"], dict):
            yield schema
        for part in schema.values():
            yield from _defaults(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _defaults(part)
