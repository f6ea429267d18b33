from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.cli.facts_input import MAX_NESTING, parse_json_argument, read_facts
from hookline.errors import HooklineError

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["tool", "session", "host", "user", "cwd", "prompt", "messages", "turn", "agent", "context", "time"]
)


def test_options_say_it_over_the_facts():
    facts = read_facts('{"tool": {"name": "a", "id": 1}, "prompt": "p"}', "bash", '{"command": "ls"}', "q")
    assert facts == {"tool": {"name": "bash", "id": 1, "input": {"command": "ls"}}, "prompt": "q"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "invalid JSON"),
        ("{", "line 1"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": 1e999}', "too large"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "'b' appears twice in one object"),
        ('{"a": ' + "9" * 5000 + "}", "--facts: "),
        ("[" * 100_000, "nested"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested"),
        ("[]", "not a list"),
        ("null", "not null"),
        ("3", "not a number"),
        ('"x"', "not text"),
        ("true", "not true or false"),
    ],
)
def test_what_is_no_object_of_facts_is_said_clearly(text, said):
    with pytest.raises(HooklineError, match="--facts: ") as error:
        read_facts(text, None, None, None)
    assert said in str(error.value)
    assert len(str(error.value)) < 300


def test_nesting_up_to_the_bound_is_read():
    text = '{"a":' * MAX_NESTING + "1" + "}" * MAX_NESTING
    assert parse_json_argument(text, "--facts")["a"]


def test_facts_come_from_a_file_or_stdin(hookline):
    Path("facts.json").write_text('\ufeff{"prompt": "p"}', encoding="utf-8")
    for result in (
        hookline("fire", "prompt.submit", "--json", "--facts", "@facts.json"),
        hookline("fire", "prompt.submit", "--json", "--facts", "-", input='{"prompt": "p"}'),
    ):
        assert json.loads(result.stdout)["facts"]["prompt"] == "p"


@pytest.mark.parametrize("place", ["@missing.json", "@.", "@a\0b"])
def test_a_file_that_cannot_be_read_is_said(project, place):
    with pytest.raises(HooklineError, match="cannot be read"):
        read_facts(place, None, None, None)


def test_bytes_that_are_no_text_are_said(project):
    Path("bad.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(HooklineError, match="not UTF-8: byte 7"):
        read_facts("@bad.json", None, None, None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=ANY_JSON | st.dictionaries(NAMES, ANY_JSON, max_size=5))
def test_any_json_as_facts_is_a_decision_or_an_error(hookline, value):
    Path("hookline.yaml").write_text(
        "hooks:\n"
        "  - {id: a, on: tool.before, when: {tool: bash, input: {command: x}}, then: deny}\n"
        "  - {id: b, on: tool.before, when: {pressure: 0.5, turn: {every: 2}, says: hi}, then: {ask: '{{session.id}}'}}\n"
        "  - {id: c, on: tool.before, scope: {agent: z}, cooldown: 1s, then: {set: {input.a: '{{tool}}'}}}\n"
    )
    for flags in (["--json"], ["--explain"]):
        result = hookline("fire", "tool.before", "--facts", json.dumps(value), *flags)
        assert result.exit_code in (0, 1, 2, 3)
        assert "this is a bug" not in result.stderr
        if result.exit_code != 1 and flags == ["--json"]:
            json.loads(result.stdout.encode("utf-8"))
