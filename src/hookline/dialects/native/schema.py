"""JSON Schema of a native file, for editors: built from the keys."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.dialects.native.actions import ACTIONS, BARE_ACTIONS, STEP_KEYS
from hookline.dialects.native.app_schema import app_definitions
from hookline.dialects.native.conditions import CONDITIONS, SYNTAXES, TESTS
from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS
from hookline.dialects.native.keys import (
    ActionKey,
    Key,
    Schema,
    enum_schema,
    key_schema,
    list_schema,
    mapping_schema,
    object_schema,
)


def build_schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hookline hooks",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {key.name: key_schema(key) for key in FILE_KEYS.values()},
        "$defs": {
            **app_definitions(),
            "hook": mapping_schema(HOOK_KEYS),
            "when": {"anyOf": [_tests_schema(CONDITIONS), list_schema("when"), enum_schema(("always", "never"))]},
            "test": _test_schema(),
            "then": _then_schema({}),
            "step": _then_schema(STEP_KEYS),
        },
    }


def _tests_schema(keys: Mapping[str, Key]) -> Schema:
    """A test has no default, so it cannot be null by accident."""
    return object_schema({key.name: key.schema for key in keys.values()})


def _test_schema() -> Schema:
    needs_pattern = {"anyOf": [{"required": [word]} for word in SYNTAXES]}
    return {
        "anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            list_schema("test"),
            {**_tests_schema(TESTS), "dependentSchemas": {"whole": needs_pattern}},
        ]
    }


def _then_schema(more: Mapping[str, Key]) -> Schema:
    actions = [_action_schema(key, more) for key in ACTIONS.values()]
    return {"anyOf": [enum_schema(BARE_ACTIONS), *actions, list_schema("step")]}


def _action_schema(action: ActionKey, more: Mapping[str, Key]) -> Schema:
    schema = mapping_schema({**action.options, **more})
    return {**schema, "properties": {action.name: action.schema, **schema["properties"]}, "required": [action.name]}
