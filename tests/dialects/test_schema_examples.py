"""What an editor shows from each dialect's JSON Schema: a description for each key, and an example that works."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from hookline.config.toml_writer import write_tables
from hookline.dialects.dialect import DIALECT_NAMES, get_dialect
from hookline.project import load_text
from hookline.testing.case_runner import default_file_name

DEFINITIONS = ("hooks", "hook", "rule", "entry")


def described(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *(schema.get("$defs", {}).get(name, {}) for name in DEFINITIONS)):
        yield from part.get("properties", {}).items()


@pytest.mark.parametrize("name", DIALECT_NAMES)
def test_every_key_of_a_hook_has_a_description(name: str) -> None:
    schema = get_dialect(name).schema()
    targets = {f"#/$defs/{key}": part for key, part in schema.get("$defs", {}).items()}
    for key, part in described(schema):
        assert "description" in {**targets.get(part.get("$ref", ""), {}), **part}, key


@pytest.mark.parametrize("name", DIALECT_NAMES)
def test_the_example_is_valid(name: str) -> None:
    schema = get_dialect(name).schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["examples"]
    for example in schema["examples"]:
        jsonschema.validate(example, schema)


@pytest.mark.parametrize("name", [name for name in DIALECT_NAMES if name != "standard_agents"])  # a folder's name
def test_the_example_loads_without_a_problem(name: str) -> None:
    for example in get_dialect(name).schema()["examples"]:
        text, file = json.dumps(example), default_file_name(name)
        if name == "cline":
            file = "PreToolUse"
        elif name == "kimi_code":
            text, file = write_tables("hooks", example["hooks"]), "config.toml"
        loaded = load_text(text, file, name)
        assert loaded.problems == ()
        assert len(loaded.hooks) == 1
