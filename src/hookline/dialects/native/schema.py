"""JSON Schema of a native file, for editors: built from the keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from hookline.dialects.native.actions import ACTIONS, BARE_ACTIONS, STEP_KEYS
from hookline.dialects.native.app_schema import app_definitions
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS
from hookline.dialects.native.keys import (
    ActionKey,
    Key,
    Schema,
    described_schema,
    enum_schema,
    key_schema,
    list_schema,
    mapping_schema,
    object_schema,
)
from hookline.dialects.native.value_tests import SYNTAXES, TESTS
from hookline.lazy_imports import json

_LEAST_SHARED: Final = 150  # characters: a reference to something shorter saves little


_EXAMPLE: Final[Schema] = {
    "version": 1,
    "hooks": [
        {
            "id": "no-push",
            "on": "tool.before",
            "when": {"runs": {"program": "git", "subcommand": "push"}},
            "then": {"deny": "A person pushes."},
        }
    ],
}


def build_schema() -> Schema:
    return {**_share_repeated_parts(_build_whole_schema()), "examples": [_EXAMPLE]}


def _build_whole_schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:native",
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
    return object_schema({key.name: described_schema(key) for key in keys.values()})


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
    return {"anyOf": [enum_schema(BARE_ACTIONS), *actions, {**list_schema("step"), "minItems": 1}]}


def _action_schema(action: ActionKey, more: Mapping[str, Key]) -> Schema:
    schema = mapping_schema({**action.options, **more})
    named = described_schema(action)
    return {**schema, "properties": {action.name: named, **schema["properties"]}, "required": [action.name]}


def _share_repeated_parts(schema: Schema) -> Schema:
    """Moves each part that occurs more than once into `$defs`: the actions share most of their options."""
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}
    definitions: Schema = {}

    def count(part: Schema, name: str) -> Schema:
        text = json.dumps(part)
        counts[text] += 1
        return part if counts[text] > 1 else _map_parts(part, count, name)

    def share(part: Schema, name: str) -> Schema:
        text = json.dumps(part)
        if counts[text] < 2 or len(text) < _LEAST_SHARED:
            return _map_parts(part, share, name)
        if text not in names:
            names[text] = _free_name(name, {*schema["$defs"], *names.values()})
            definitions[names[text]] = _map_parts(part, share, name)
        return {"$ref": f"#/$defs/{names[text]}"}

    _map_parts(schema, count, "")
    shared = _map_parts(schema, share, "")
    shared["$defs"] |= definitions
    return shared


def _map_parts(schema: Schema, change: Callable[[Schema, str], Schema], name: str) -> Schema:
    """The schema with `change` applied to the schemas directly in it. A part is named after its key."""
    mapped: Schema = {}
    for word, value in schema.items():
        if word in ("properties", "$defs"):
            mapped[word] = {key: change(part, key) for key, part in value.items()}
        elif word == "anyOf":
            mapped[word] = [change(part, name) for part in value]
        elif word in ("items", "additionalProperties", "propertyNames") and isinstance(value, dict):
            mapped[word] = change(value, name)
        else:
            mapped[word] = value
    return mapped


def _free_name(name: str, taken: set[str]) -> str:
    return next(new for new in (name, *(f"{name}_{number}" for number in range(2, 1000))) if new not in taken)
