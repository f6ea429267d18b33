"""Native files: what is written back is what was read, and every problem is reported at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline.config.problem import Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import LoadResult, get_dialect
from hookline.dialects.native.actions import ACTIONS
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.keys import Key
from hookline.dialects.native.value_tests import TESTS
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.hook import Hook
from hookline.project import load_file, load_text

NATIVE = get_dialect("native")

WITH_EVERY_KEY = """
id: all-keys
on: tool.after
when: {kind: shell}
then: {run: [lint, '{{input.path}}'], stdin: none, env: {A: '1', B: null}, inherit_env: [PATH], cwd: /tmp, only_if: 'true',
  reads: json, tell: user, reason: 'no: {output}'}
timeout: 5s
on_error: {deny: 'lint failed: {failure}'}
names: flo
order: 3
group: mine
background: true
enabled: false
tags: [a, b]
scope: {agent: reviewer, prompt: p, session: s}
max_fires: 3
cooldown: 10s
cooldown_turns: 2
"""


def load(text: str) -> LoadResult:
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    return NATIVE.load(document)


def load_one(hook: str) -> Hook:
    result = load(f"hooks: [{hook}]")
    assert [problem for problem in result.problems if problem.severity is Severity.ERROR] == []
    return result.hooks[0]


def write_and_load(hook: Hook) -> Hook:
    written = NATIVE.write([hook])
    assert written.not_expressible == ()
    again, *_ = load(json.dumps(written.value)).hooks
    return replace(again, origin=hook.origin)


@pytest.mark.parametrize("key", [key for key in CONDITIONS.values() if key.example], ids=lambda key: key.name)
def test_a_condition_is_written_as_it_was_read(key: Key) -> None:
    hook = load_one(f"{{id: x, on: {key.example_event}, when: {{{key.example}}}, then: deny}}")
    assert write_and_load(hook) == hook


@pytest.mark.parametrize("key", TESTS.values(), ids=lambda key: key.name)
def test_a_test_is_written_as_it_was_read(key: Key) -> None:
    hook = load_one(f"{{id: x, on: tool.before, when: {{fact: {{input.value: {key.example}}}}}, then: deny}}")
    assert write_and_load(hook) == hook


@pytest.mark.parametrize("key", [key for key in ACTIONS.values() if key.example], ids=lambda key: key.name)
def test_an_action_is_written_as_it_was_read(key: Key) -> None:
    hook = load_one(f"{{id: x, on: {key.example_event}, then: {key.example}, on_error: open}}")
    assert write_and_load(hook) == hook


def test_every_key_of_a_hook_is_written_as_it_was_read() -> None:
    document, _ = read_text(WITH_EVERY_KEY, "hook.yaml")
    assert document is not None
    hook = load_one(json.dumps(document.value))
    (written,) = NATIVE.write([hook]).value["hooks"]
    assert written == document.value
    assert write_and_load(hook) == hook


def test_what_a_hook_does_not_say_is_not_written() -> None:
    hook = load_one("{id: x, on: tool.before, then: {deny: no}}")
    assert NATIVE.write([hook]).value["hooks"] == [{"id": "x", "on": "tool.before", "then": {"deny": "no"}}]


@pytest.mark.parametrize("on_error", ["closed", {"deny": "No scanner."}])
@pytest.mark.parametrize("event", ["tool.before", "tool.after", "tool.store"])
def test_an_on_error_is_written_as_it_was_read(event: str, on_error: Any) -> None:
    then = [{"run": ["lint"], "on_error": on_error}, {"log": "done"}]
    result = load(json.dumps({"hooks": [{"id": "x", "on": event, "then": then, "on_error": on_error}]}))
    (hook,) = NATIVE.write(result.hooks).value["hooks"]
    assert (hook["on_error"], hook["then"]["chain"][0]["on_error"]) == (on_error, on_error)


@pytest.mark.parametrize("then", ["{set: {}}", "{remove: []}", "{append: {}}", "{replace: []}"])
def test_an_action_that_changes_nothing_is_still_an_action(then: str) -> None:
    hook = load_one(f"{{id: x, on: tool.after, then: {then}}}")
    assert write_and_load(hook) == hook


def test_a_null_is_written_as_null() -> None:
    hook = load_one(
        "{id: x, on: tool.before, when: {input: {a: null}}, then: {judge: ok?, with: null}, on_error: open}"
    )
    (written,) = NATIVE.write([hook]).value["hooks"]
    assert written["when"] == {"fact": {"tool.input.a": {"is": None}}}
    assert written["then"] == {"judge": "ok?", "with": None}


@pytest.mark.parametrize(
    ("written", "hint"),
    [("dnye", "Did you mean deny?"), ("zork", "Known, among others: hold_if_broken, ask, log, run, body.")],
)
def test_an_unknown_action_is_one_problem_with_the_closest_ones(written: str, hint: str) -> None:
    problems = load_text(f"hooks: [{{id: a, on: tool.before, then: {{{written}: x}}}}]", "hookline.yaml").problems
    [problem] = [each for each in problems if each.severity is Severity.ERROR]
    assert (problem.code, problem.hint) == ("unknown-key", hint)


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        (
            "delete",
            "Write write: a tool that deletes files counts as one that writes them. For rm in a shell, write runs: rm.",
        ),
        ("[read, Bash]", "Write shell."),
        ("wrte", "Did you mean write?"),
    ],
)
def test_a_kind_that_does_not_exist_gets_what_to_write(kind: str, hint: str) -> None:
    problems = load(f"hooks: [{{id: a, on: tool.before, when: {{kind: {kind}}}, then: {{deny: x}}}}]").problems
    assert [problem.hint for problem in problems] == [hint]


def test_an_action_and_its_options_are_all_checked() -> None:
    result = load("hooks: [{id: x, on: tool.before, then: {post: nowhere, headers: [], reads: tea}, on_error: open}]")
    assert {problem.code for problem in result.problems} == {"bad-url", "wrong-type", "unknown-word"}
    assert [type(hook.then) for hook in result.hooks] == [InvalidAction]


def test_a_mapping_names_every_missing_key() -> None:
    result = load("hooks: [{id: x, on: tool.after, then: {replace: {in: result}}}]")
    assert [problem.what.partition(": ")[2] for problem in result.problems] == [
        "pattern is missing.",
        "with is missing.",
    ]


@pytest.mark.parametrize(
    ("key", "hint"),
    [("block", "It belongs in then: write deny: reason."), ("approve", "It belongs in then: write allow: true.")],
)
def test_an_action_of_another_format_beside_then_gets_what_to_write(key: str, hint: str) -> None:
    problems = load(f"hooks: [{{id: a, on: tool.before, {key}: x, then: {{deny: x}}}}]").problems
    assert [problem.hint for problem in problems] == [hint]


def test_a_file_that_only_names_python_folders_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "any.yaml").write_text("standard_agents: agents\n")
    assert [each.code for each in load_file(tmp_path / "any.yaml").problems] == ["empty-folder"]
