"""What an editor shows from each dialect's JSON Schema: a description, examples and a default for each key.

- Each key has a description.
- Each key has examples, but for the keys that hookline ignores and those whose few values an editor lists by itself:
  a constant, a flag, an enum.
- A flag and an enum that may be absent have a default, or a description that says what counts then. A condition has
  none: an absent one is not tested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.config.toml_writer import write_tables
from hookline.dialects.dialect import DIALECT_NAMES, get_dialect
from hookline.hooks.hook import Hook
from hookline.project import load_text
from hookline.runtime.apps.fields import BaseDirectory
from hookline.runtime.apps.native import read_app
from hookline.testing.case_runner import default_file_name

Schema = dict[str, Any]
Wrap = Callable[[Any], Any]

IGNORED = re.compile(r"gnored by hookline|hookline does not fire|setting of the agent")
SAYS_DEFAULT = re.compile(r"default: |if absent|without it|0 means the default")
CONDITIONS = re.compile(r"\.when\.|\.input\.")
UNKNOWN = re.compile(r'"(custom|invalid)":|"office_hours"')  # not registered, or not converted
ABSENT = object()
BESIDE = {".override": {"extends": "hookline:recommended"}}
"""What else a file needs for the example of a key."""
UNLOADABLE = {"standard_agents"}  # a folder's name, not a file
LONGEST_DESCRIPTION = 300


@dataclass(frozen=True)
class SchemaKey:
    """A key of a schema; `wrap` puts a value of it into the smallest file that has it."""

    path: str
    schema: Schema
    required: bool
    wrap: Wrap

    @property
    def description(self) -> str:
        return str(self.schema.get("description", ""))


class SchemaWalk:
    """Every key, by the way that an editor finds it. The conditions of `if` and `not` only test keys."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._visited: set[str] = set()

    def find_keys(self) -> Iterator[SchemaKey]:
        return self._visit(self._root, "", lambda value: value, frozenset())

    def resolve(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            target = self._root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
            schema = {**target, **{word: value for word, value in schema.items() if word != "$ref"}}
        return schema

    def sample(self, schema: Schema, otherwise: Schema | None = None) -> Any:
        """A value; of the other schema, if this one only tests it."""
        schema = self.resolve(schema if otherwise is None or {"const", "enum"} & schema.keys() else otherwise)
        if "examples" in schema:
            return schema["examples"][0]
        for word in ("default", "const"):
            if word in schema:
                return schema[word]
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("type") == "boolean":
            return True
        for word in ("anyOf", "oneOf"):
            if word in schema and "properties" not in schema:
                return self.sample(schema[word][0])
        return self.smallest(schema)

    def smallest(self, schema: Schema, **given: Any) -> dict[str, Any]:
        """An object with the given values and the keys that it must have beside them."""
        properties = schema.get("properties", {})
        tested = [schema.get("dependentSchemas", {}).get(key, {}) for key in given]
        tried = [
            {
                key: self.sample(form.get("properties", {}).get(key, properties[key]), properties[key])
                for key in (*schema.get("required", ()), *form.get("required", ()))
                if key in properties
            }
            | given
            for form in ({}, *self._forms({**schema, "allOf": [*schema.get("allOf", ()), *tested]}))
        ]
        return next((each for each in tried if self.validator(schema).is_valid(each)), tried[0])

    def _forms(self, schema: Schema) -> Iterator[Schema]:
        for word in ("anyOf", "oneOf", "allOf"):
            for form in schema.get(word, ()):
                yield form.get("then", form)
                yield from self._forms(form)

    def validator(self, schema: Schema) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator({**schema, "$defs": self._root.get("$defs", {})})

    def has_few_values(self, schema: Schema) -> bool:
        schema = self.resolve(schema)
        if "const" in schema or "enum" in schema or schema.get("type") in ("boolean", "null"):
            return True
        parts = schema.get("anyOf", schema.get("oneOf", []))
        return bool(parts) and all(self.has_few_values(part) for part in parts)

    def _visit(self, schema: Schema | bool, path: str, wrap: Wrap, declared: frozenset[str]) -> Iterator[SchemaKey]:
        if isinstance(schema, bool):
            return
        if "$ref" in schema:
            if schema["$ref"] in self._visited:
                return
            self._visited.add(schema["$ref"])
            schema = self.resolve(schema)
        yield from self._properties(schema, path, wrap, declared)
        for part in self._alternatives(schema):
            yield from self._visit(part, path, wrap, declared | schema.get("properties", {}).keys())
        if "items" in schema:
            yield from self._visit(schema["items"], f"{path}[]", lambda value: wrap([value]), frozenset())
        if "additionalProperties" in schema:
            inside, [name, *_] = (
                schema["additionalProperties"],
                schema.get("propertyNames", {}).get("examples", ["name"]),
            )
            yield from self._visit(inside, f"{path}.*", lambda value: wrap({name: value}), frozenset())

    def _properties(self, schema: Schema, path: str, wrap: Wrap, declared: frozenset[str]) -> Iterator[SchemaKey]:
        for key, part in schema.get("properties", {}).items():
            if key in declared:  # it is said again only to test it
                continue

            def wrap_key(value: Any, key: str = key, part: Schema = part) -> Any:
                is_absent = value is ABSENT
                made = self.smallest(schema, **{key: self.sample(part) if is_absent else value})
                return wrap({name: each for name, each in made.items() if name != key or not is_absent})

            required = key in schema.get("required", ())
            yield SchemaKey(f"{path}.{key}", self.resolve(part), required, wrap_key)
            yield from self._visit(part, f"{path}.{key}", wrap_key, frozenset())

    @staticmethod
    def _alternatives(schema: Schema) -> Iterator[Schema]:
        for word in ("anyOf", "oneOf", "allOf"):
            yield from schema.get(word, ())
        for word in ("then", "else"):
            if word in schema:
                yield schema[word]


@cache
def schema_of(dialect: str) -> Schema:
    return get_dialect(dialect).schema()


def keys_of(dialect: str) -> Iterator[SchemaKey]:
    return SchemaWalk(schema_of(dialect)).find_keys()


def load(dialect: str, document: Any) -> Any:
    text, file = json.dumps(document), default_file_name(dialect)
    if dialect == "cline":
        file = "PreToolUse"
    elif dialect == "kimi_code":
        text, file = write_tables("hooks", document["hooks"]), "config.toml"
    return load_text(text, file, dialect)


def app_problems(dialect: str, document: Any) -> tuple[Problem, ...]:
    """Of the keys that only the runtime reads."""
    if dialect != "native":
        return ()
    read, _ = read_text(json.dumps(document), "hookline.yaml")
    assert read is not None
    return read_app(read, BaseDirectory(Path.cwd(), Path.cwd())).problems


def as_field_test(document: Any) -> Any:
    """With a test of a field instead of one of the tool's name, which can be few texts."""
    hooks = document.get("hooks")
    when = hooks[0].get("when") if isinstance(hooks, list) else None
    if isinstance(when, dict) and isinstance(when.get("tool"), dict):
        hooks[0]["when"] = {"input": {"value": when["tool"]}}
    return document


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_key_has_a_short_description(dialect: str) -> None:
    wrong = [key.path for key in keys_of(dialect) if not 0 < len(key.description) <= LONGEST_DESCRIPTION]
    assert wrong == []


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_key_has_examples(dialect: str) -> None:
    walk = SchemaWalk(schema_of(dialect))
    missing = [
        key.path
        for key in walk.find_keys()
        if not key.schema.get("examples")
        and not walk.has_few_values(key.schema)
        and not IGNORED.search(key.description)
    ]
    assert missing == []


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_optional_flag_and_choice_has_a_default(dialect: str) -> None:
    walk = SchemaWalk(schema_of(dialect))
    missing = [
        key.path
        for key in walk.find_keys()
        if not key.required
        and "default" not in key.schema
        and walk.has_few_values(key.schema)
        and not (CONDITIONS.search(key.path) or IGNORED.search(key.description) or SAYS_DEFAULT.search(key.description))
    ]
    assert missing == []


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_examples_and_defaults_are_valid_for_their_key(dialect: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(dialect))
    walk = SchemaWalk(schema_of(dialect))
    for key in walk.find_keys():
        values = [*key.schema.get("examples", ()), *([key.schema["default"]] if "default" in key.schema else [])]
        for value in values:
            assert walk.validator(key.schema).is_valid(value), (key.path, value)


@pytest.mark.parametrize("dialect", [name for name in DIALECT_NAMES if name not in UNLOADABLE])
def test_the_loader_accepts_every_example(dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("agents", "team-skills", "prompts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "prompts/review.md").write_text("You review changes.", "utf-8")
    for key in keys_of(dialect):
        for example in key.schema.get("examples", ()):
            document = {**as_field_test(key.wrap(example)), **BESIDE.get(key.path, {})}
            if UNKNOWN.search(json.dumps(document)):
                continue
            problems = [*load(dialect, document).problems, *app_problems(dialect, document)]
            assert [each for each in problems if each.severity == "error"] == [], (key.path, example)


def comparable(hooks: tuple[Hook, ...]) -> list[str]:
    return [re.sub(r"line=\d+|event_name='\w*'", "", repr(hook)) for hook in hooks]


@pytest.mark.parametrize("dialect", [name for name in DIALECT_NAMES if name not in UNLOADABLE])
def test_a_default_is_what_counts_without_the_key(dialect: str) -> None:
    for key in keys_of(dialect):
        if "default" not in key.schema:
            continue
        written, absent = key.wrap(key.schema["default"]), key.wrap(ABSENT)
        if UNKNOWN.search(json.dumps(written)):
            continue
        assert comparable(load(dialect, written).hooks) == comparable(load(dialect, absent).hooks), key.path


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_the_example_of_a_file_is_valid(dialect: str) -> None:
    assert schema_of(dialect)["examples"]
    for example in schema_of(dialect)["examples"]:
        jsonschema.validate(example, schema_of(dialect))


@pytest.mark.parametrize("dialect", [name for name in DIALECT_NAMES if name not in UNLOADABLE])
def test_the_example_of_a_file_loads_without_a_problem(dialect: str) -> None:
    for example in schema_of(dialect)["examples"]:
        loaded = load(dialect, example)
        assert loaded.problems == ()
        assert len(loaded.hooks) == 1
