"""Keys: reading and writing a mapping with them, and that every declared key is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.native.actions import ACTIONS, BARE_ACTIONS, STEP_KEYS
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    ActionKey,
    Key,
    LazyKeys,
    choice_key,
    flag_key,
    integer_key,
    key_table,
    mapping_schema,
    read_mapping,
    text_key,
    write_mapping,
)
from hookline.dialects.native.value_tests import SYNTAXES, TESTS
from hookline.hooks.conditions.numbers import COMPARISONS
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import escape_braces, parse_template
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.matchers import MATCHERS

KEYS = key_table(
    text_key("text", required=True, help="a text", write=lambda value: value["text"]),
    choice_key("to", Audience, help="whom", write=lambda value: value.get("to", NOT_WRITTEN)),
    integer_key("count", least=1, help="how many", write=lambda value: value.get("count", NOT_WRITTEN)),
    flag_key("loud", help="never written"),
)


def read(text: str) -> tuple[dict[str, Any] | None, list[str]]:
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    at = Node.of(document)
    return read_mapping(at, KEYS, "a sample", None), [problem.code for problem in at.problems]


def all_keys() -> Iterator[Key]:
    def within(keys: Mapping[str, Key]) -> Iterator[Key]:
        for key in keys.values():
            yield key
            yield from within(key.mapping)
            if isinstance(key, ActionKey) and key.name not in key.options:
                yield from within(key.options)

    for table in (FILE_KEYS, HOOK_KEYS, CONDITIONS, TESTS, ACTIONS, STEP_KEYS):
        yield from within(table)


@pytest.mark.parametrize("table", [CONDITIONS, ACTIONS], ids=["conditions", "actions"])
def test_a_table_names_every_key_that_its_modules_declare(table: LazyKeys[Key]) -> None:
    assert [key.name for key in table.values()] == list(table)


def test_a_key_is_loaded_with_the_others_of_its_place() -> None:
    table: LazyKeys[Key] = LazyKeys({"deny": "answers.ANSWER_KEYS", "own": KEYS["text"]})
    assert ("deny" in table, "ask" in table, len(table)) == (True, False, 2)
    assert table["deny"].name == "deny"
    assert "ask" in table, "a key that the table does not name is not lost"
    assert table["own"] is KEYS["text"]
    with pytest.raises(KeyError):
        table["none"]


def test_a_mapping_is_read_by_its_keys() -> None:
    assert read("{text: a, to: user, count: 2}") == ({"text": "a", "to": Audience.USER, "count": 2}, [])


def test_every_problem_of_a_mapping_is_found() -> None:
    assert read("{to: nobody, count: 0, other: 1}") == (
        None,
        ["unknown-key", "missing-key", "unknown-word", "out-of-range"],
    )


def test_what_is_not_a_mapping_is_one_problem() -> None:
    assert read("[text]") == (None, ["wrong-type"])


def test_a_mapping_is_written_in_the_order_of_its_keys() -> None:
    assert list(write_mapping(KEYS, {"count": 2, "text": "a"}).items()) == [("text", "a"), ("count", 2)]


def test_null_is_written() -> None:
    assert write_mapping(KEYS, {"text": None}) == {"text": None}


def test_the_schema_of_a_mapping_names_its_required_keys() -> None:
    schema = mapping_schema(KEYS)
    assert schema["required"] == ["text"]
    choice = {"anyOf": [{"enum": ["agent", "user"]}, {"type": "null"}]}
    assert schema["properties"]["to"] == {"description": "whom", **choice}


@pytest.mark.parametrize("text", ["plain", "{{", "a {{tool.name}} b", "}} {{{{ x"])
def test_escaped_text_renders_to_itself(text: str) -> None:
    template = parse_template(escape_braces(text), PlaceholderResolver(VOCABULARIES["native"]))
    assert template.render(Event("tool.before", {"tool": {"name": "bash"}})) == text


def test_every_key_has_help_in_the_style_of_the_tables() -> None:
    for key in all_keys():
        assert key.help, key.name
        assert not key.help.endswith("."), key.help
        assert key.help[0] in "`[" or key.help[0].islower() or key.help.startswith(("MCP", "JSON")), key.help


def test_a_required_key_has_no_default() -> None:
    assert [key.name for key in all_keys() if key.required and key.default] == []


def test_an_example_uses_its_key() -> None:
    keys = [*CONDITIONS.values(), *TESTS.values(), *ACTIONS.values()]
    assert [
        key.name for key in keys if key.name not in ("custom", "invalid") and f"{key.name}:" not in key.example
    ] == []


def test_every_matcher_and_comparison_is_a_test() -> None:
    assert TESTS.keys() >= {*SYNTAXES, *MATCHERS, *COMPARISONS} - {"tool"}


def test_bare_actions_are_actions() -> None:
    assert set(BARE_ACTIONS) <= ACTIONS.keys()
