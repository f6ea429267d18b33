"""`run`, `post` and `script`: commands, what a program gets, and how its result is read."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.native.native_actions import parse, parse_valid, rewrite
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import RunProgram


@pytest.mark.parametrize(
    "then",
    [
        {"run": "lint -- {{input.path}}"},
        {"run": ["lint", "{{input.path}}", ""]},
        {"run": {"literal": "docker ps --format '{{.Names}}'"}},
        {"run": "lint", "stdin": "none"},
        {"run": "lint", "stdin": {"path": "{{input.path}}", "braces": "{{open_braces}}x"}},
        {"run": "lint", "env": {"A": "{{input.path}}", "B": None}},
        {"run": "lint", "inherit_env": False},
        {"run": "lint", "inherit_env": ["PATH"]},
        {"run": "lint", "only_if": ["test", "-f", "x"]},
        {"run": "lint", "reads": "json", "tell": "user", "reason": "no: {output}"},
        {"post": "http://localhost/x", "body": None},
        {"post": "http://localhost/x", "headers": {"A": "$B"}, "variables": ["B"], "tell": "agent"},
        {"script": "return 1", "variables": {"path": "{{input.path}}"}},
    ],
    ids=str,
)
def test_it_is_written_as_it_was_read(then: Any) -> None:
    assert rewrite(then) == then


@pytest.mark.parametrize(
    "then",
    [{"run": "lint", "stdin": "event"}, {"run": "lint", "inherit_env": True}, {"run": "lint", "reads": "nonzero"}],
    ids=str,
)
def test_a_default_is_not_written(then: Any) -> None:
    assert rewrite(then) == {"run": "lint"}


@pytest.mark.parametrize(
    ("event", "format"), [("tool.before", ResultFormat.NONZERO), ("tool.after", ResultFormat.NEVER)]
)
def test_how_an_exit_code_is_read_depends_on_the_event(event: str, format: ResultFormat) -> None:
    action = parse_valid({"run": "lint"}, event)
    assert isinstance(action, RunProgram)
    assert action.result_parser.format is format


def test_an_answer_to_a_post_is_json() -> None:
    action = parse_valid({"post": "http://localhost/x"})
    assert isinstance(action, PostEvent)
    assert action.result_parser.format is ResultFormat.JSON


def test_an_answer_to_a_post_that_only_tells_is_not_read() -> None:
    action = parse_valid({"post": "http://localhost/x"}, "decision.made")
    assert isinstance(action, PostEvent)
    assert action.result_parser.format is ResultFormat.NEVER
    assert rewrite({"post": "http://localhost/x"}, "decision.made") == {"post": "http://localhost/x"}


def test_only_if_gets_what_the_program_gets() -> None:
    action = parse_valid({"run": "lint", "only_if": "true", "env": {"A": 1}, "cwd": "/tmp", "stdin": "none"})
    assert isinstance(action, RunProgram)
    assert action.only_if is not None
    for name in ("stdin", "env", "inherit_env", "cwd"):
        assert getattr(action.only_if, name) == getattr(action.program, name)


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ({"run": []}, ["empty"]),
        ({"run": {"text": "x"}}, ["unknown-key", "missing-key"]),
        ({"post": "nowhere"}, ["bad-url"]),
        ({"post": "nowhere", "headers": []}, ["wrong-type", "bad-url"]),
        ({"run": 1, "env": [], "reads": "tea"}, ["wrong-type", "unknown-word", "wrong-type"]),
        ({"script": "", "variables": []}, ["wrong-type", "empty"]),
    ],
    ids=str,
)
def test_every_problem_is_found(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes
