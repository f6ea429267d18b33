"""The native format: the schema knows what loads."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.config.problem import Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.dialects.native.actions import ACTIONS
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.dialect import HOOK_KEYS
from hookline.project import load_text

NATIVE = get_dialect("native")
SCHEMA = jsonschema.Draft202012Validator(NATIVE.schema())
BEYOND_SHAPE = {"bad-pattern", "bad-template", "bad-expression", "duplicate-id", "unknown-condition", "unknown-action"}

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


def errors_of(hook: Any) -> list[Any] | None:
    document, _ = read_text(json.dumps({"hooks": [hook]}), "hookline.json")
    assert document is not None
    errors = [problem for problem in NATIVE.load(document).problems if problem.severity == "error"]
    return None if any(problem.code in BEYOND_SHAPE for problem in errors) else errors


def agree(hook: Any) -> None:
    errors = errors_of(hook)
    if errors is not None:
        assert SCHEMA.is_valid({"hooks": [hook]}) is not bool(errors), errors


@pytest.mark.parametrize("text", DURATIONS)
def test_a_duration_loads_if_and_only_if_the_schema_accepts_it(text: str) -> None:
    agree({"on": "stop", "then": "deny", "timeout": text})


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
    assert errors_of(hook) is not None
    assert (errors_of(hook) == []) is loads
    agree(hook)


@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_a_hook_loads_if_and_only_if_the_schema_accepts_it(data: st.DataObject) -> None:
    then = st.dictionaries(st.sampled_from([*ACTIONS, "env", "cwd", "stdin", "tell", "reads"]), ANYTHING, max_size=2)
    when = st.dictionaries(st.sampled_from([*CONDITIONS]), ANYTHING, max_size=2)
    odd = st.dictionaries(st.sampled_from([*HOOK_KEYS, "other"]), ANYTHING, max_size=1)
    made = data.draw(st.fixed_dictionaries({"on": st.just("tool.before"), "then": then | ANYTHING}))
    agree({**made, **data.draw(st.fixed_dictionaries({}, optional={"when": when})), **data.draw(odd)})


@pytest.mark.parametrize("on_error", ["closed", {"deny": "No scanner."}])
@pytest.mark.parametrize("event", ["tool.before", "tool.after", "tool.store"])
def test_an_on_error_is_written_as_it_was_said(event: str, on_error: Any) -> None:
    then = [{"run": ["lint"], "on_error": on_error}, {"log": "done"}]
    hooks = [{"id": "x", "on": event, "then": then, "on_error": on_error}]
    document, _ = read_text(json.dumps({"hooks": hooks}), "hookline.json")
    assert document is not None
    written = NATIVE.write(NATIVE.load(document).hooks)
    assert written.not_expressible == ()
    again, _ = read_text(json.dumps(written.value), "hookline.json")
    assert again is not None
    hook = again.value["hooks"][0]
    assert (hook["on_error"], hook["then"]["chain"][0]["on_error"]) == (on_error, on_error)


def test_an_unknown_action_is_one_problem_that_names_each_action_once():
    problems = load_text("hooks: [{id: a, on: tool.before, then: {dnye: x}}]", "hookline.yaml").problems
    [problem] = [each for each in problems if each.severity is Severity.ERROR]
    meant, _, known = problem.hint.partition(" Known: ")
    assert (problem.code, meant) == ("unknown-key", "Did you mean deny?")
    words = known.rstrip(".").split(", ")
    assert len(words) == len(set(words))
