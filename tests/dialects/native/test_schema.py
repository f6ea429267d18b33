"""The JSON Schema accepts exactly the hooks that load."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.dialects.native.actions import ACTIONS
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.dialect import HOOK_KEYS
from hookline.hooks.actions.call_tool import TellWhen
from hookline.hooks.outcome import Audience

NATIVE = get_dialect("native")
SCHEMA = jsonschema.Draft202012Validator(NATIVE.schema())
NOT_IN_SCHEMA = {"bad-pattern", "bad-template", "bad-expression", "duplicate-id", "unknown-condition", "unknown-action"}

DURATIONS = [
    "0s", "1s", "24h", "24.0h", "24.1h", "25h", "023h", "1440m", "1441m", "86400s", "86400.5s", "86400000ms", "86400001ms",
    "1.5h", " 1s", "1s ", "1 s", "1s\n", "-1s", "1", "1d", ".5s", "1.s", "0.001ms", "0.0001ms", "0.000s", "0.0000001s",
    "0.000001s", "1234567890123ms", "000000000001s", "0000000000001s", "1.1234567890123s", "\u0661s",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**9), st.sampled_from([0.0, 1.0, -1.0, 1.5, 1e20, 1e300]),
    st.sampled_from(["", "bash", "tool.before", "deny", "input", "input.a", ".prompt", "nothing.a", "10s", "25h", "always"]),
)  # fmt: skip
NAMES = st.sampled_from(["", "input", "input.a", "result", "..prompt", "prompts", "fact", "deny", "text", "in", "0"])
ANYTHING = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=2) | st.dictionaries(NAMES, part, max_size=2), max_leaves=3
)


def load_errors(hook: Any) -> list[Any] | None:
    """None if one of the errors is of a kind that a schema cannot express."""
    document, _ = read_text(json.dumps({"hooks": [hook]}), "hookline.json")
    assert document is not None
    errors = [problem for problem in NATIVE.load(document).problems if problem.severity == "error"]
    return None if any(problem.code in NOT_IN_SCHEMA for problem in errors) else errors


def assert_schema_agrees(hook: Any) -> None:
    errors = load_errors(hook)
    if errors is not None:
        assert SCHEMA.is_valid({"hooks": [hook]}) is not bool(errors), errors


@pytest.mark.parametrize("text", DURATIONS)
def test_a_duration_loads_if_and_only_if_the_schema_accepts_it(text: str) -> None:
    assert_schema_agrees({"on": "stop", "then": "deny", "timeout": text})


@pytest.mark.parametrize(
    ("key", "value", "loads"),
    [
        ("timeout", "25h", False),
        ("order", 1.0, True),
        ("order", 1.5, False),
        ("max_fires", 2.0, True),
        ("when", {"turn": -1}, False),
        ("when", {"turn": 1.5}, False),
        ("when", {"fact": {"nothing": 1}}, False),
        ("then", {"set": {"": 1}}, False),
        ("then", {"set": {"input.path": 1}}, True),
        ("then", {"set": {"input": 1}}, False),
        ("then", {"set": {".tool..input.": "x"}}, False),
        ("then", {"set": {"input": "{{input.a}}"}}, True),
        ("then", {"set": {"input": {"a": 1}}}, True),
        ("then", {"remove": "input"}, False),
        ("then", {"append": {"tool.input": "x"}}, False),
        ("then", {"remove": ["inputs"]}, False),
        ("then", {"append": {"nothing": "x"}}, False),
        ("then", {"replace": {"in": "nothing", "pattern": "x", "with": "y"}}, False),
    ],
)
def test_schema_and_loader_agree(key: str, value: Any, loads: bool) -> None:
    hook = {"on": "tool.before", "then": "deny", key: value}
    assert load_errors(hook) is not None
    assert (load_errors(hook) == []) is loads
    assert_schema_agrees(hook)


@given(data=st.data())
def test_a_hook_loads_if_and_only_if_the_schema_accepts_it(data: st.DataObject) -> None:
    then = st.dictionaries(st.sampled_from([*ACTIONS, "env", "cwd", "stdin", "tell", "reads"]), ANYTHING, max_size=2)
    when = st.dictionaries(st.sampled_from([*CONDITIONS]), ANYTHING, max_size=2)
    odd = st.dictionaries(st.sampled_from([*HOOK_KEYS, "other"]), ANYTHING, max_size=1)
    made = data.draw(st.fixed_dictionaries({"on": st.just("tool.before"), "then": then | ANYTHING}))
    assert_schema_agrees({**made, **data.draw(st.fixed_dictionaries({}, optional={"when": when})), **data.draw(odd)})


def test_whole_needs_a_pattern() -> None:
    when = {"prompt": {"whole": True}}
    assert not SCHEMA.is_valid({"hooks": [{"on": "prompt.submit", "when": when, "then": "deny"}]})
    when["prompt"] |= {"python": "x"}
    assert SCHEMA.is_valid({"hooks": [{"on": "prompt.submit", "when": when, "then": "deny"}]})


def test_only_a_step_has_the_keys_of_a_step() -> None:
    step = {"deny": "no", "name": "first", "ends_chain": True}
    assert SCHEMA.is_valid({"hooks": [{"on": "tool.before", "then": [step]}]})
    assert not SCHEMA.is_valid({"hooks": [{"on": "tool.before", "then": step}]})


def test_an_option_belongs_to_its_action() -> None:
    for tell in TellWhen:
        assert SCHEMA.is_valid({"hooks": [{"on": "tool.before", "then": {"call": "lint", "tell": tell}}]})
        assert not SCHEMA.is_valid({"hooks": [{"on": "tool.before", "then": {"run": "lint", "tell": tell}}]})
    for audience in Audience:
        assert SCHEMA.is_valid({"hooks": [{"on": "tool.before", "then": {"run": "lint", "tell": audience}}]})


def test_the_schema_is_plain_json() -> None:
    schema = NATIVE.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def test_every_key_of_a_hook_has_a_description_without_links() -> None:
    for name, schema in NATIVE.schema()["$defs"]["hook"]["properties"].items():
        assert schema.get("description"), name
        assert "](" not in schema["description"]


def test_parts_that_occur_twice_are_shared() -> None:
    schema = NATIVE.schema()
    step = schema["$defs"]["step"]["anyOf"][1]["properties"]["on_error"]
    assert step["$ref"].removeprefix("#/$defs/") in schema["$defs"]
    assert schema["$id"]
