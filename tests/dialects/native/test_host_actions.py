"""`call`, `pipe`, `judge`, `compact` and `diagnose`."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.native.native_actions import parse, parse_valid, rewrite
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.failing import InvalidAction

EVERY_OPTION_OF_CALL = {
    "call": "lint",
    "with": {"path": "{{input.path}}"},
    "literal": {"text": "{{x}}"},
    "tell": "errors",
    "prefix": "Lint: ",
    "place": "result",
    "role": "system",
    "reads": "json",
}


@pytest.mark.parametrize(
    "then",
    [
        {"call": "lint", "with": {}},
        EVERY_OPTION_OF_CALL,
        {"judge": "ok?"},
        {"judge": "ok?", "with": "{{prompt}}"},
        {"judge": "ok?", "with": None},
        {"judge": "ok?", "investigate": True},
        {"compact": {"strategy": "truncate", "keep_recent": 0, "summary_max_tokens": 1, "target_pressure": 0.5}},
        {"diagnose": True},
        {"diagnose": {"path": ["p"], "content": [], "publish": False, "inject": True, "read_from_disk": False}},
    ],
    ids=str,
)
def test_it_is_written_as_it_was_read(then: Any) -> None:
    assert rewrite(then) == then


def test_a_pipe_is_a_call() -> None:
    pipe = {"pipe": {"to": "index", "map": {"text": "{{prompt}}"}, "extra": {"a": 1}}}
    assert rewrite(pipe) == {"call": "index", "with": {"text": "{{prompt}}"}, "literal": {"a": 1}}


def test_one_field_of_diagnose_leaves_the_others() -> None:
    assert parse_valid({"diagnose": {"path": "file"}}) == Diagnose(path_fields=("file",))


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ({"call": "", "with": [], "tell": "maybe"}, ["wrong-type", "unknown-word", "empty"]),
        ({"pipe": {"map": {}, "too": "x"}}, ["unknown-key", "missing-key"]),
        ({"compact": {"keep_recent": -1, "target_pressure": 2}}, ["out-of-range", "out-of-range"]),
        ({"compact": False}, ["wrong-type"]),
        ({"diagnose": {"publish": 1}}, ["wrong-type"]),
    ],
    ids=str,
)
def test_every_problem_is_found(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes
