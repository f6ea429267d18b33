"""`when`: how conditions are written as short as they can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.native.conditions import parse_condition, write_condition
from hookline.dialects.native.dialect import DEFAULT_TIMEOUT
from hookline.dialects.native.keys import HookInfo
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import VOCABULARIES

INFO = HookInfo("tool.before", VOCABULARIES["native"], DEFAULT_TIMEOUT, "x")


def parse(when: Any) -> tuple[Condition | None, list[str]]:
    document, _ = read_text(json.dumps(when), "when.json")
    assert document is not None
    at = Node.of(document)
    return parse_condition(at, INFO), [problem.code for problem in at.problems]


def rewrite(when: Any) -> Any:
    condition, problems = parse(when)
    assert problems == []
    assert condition is not None
    return write_condition(condition)


@pytest.mark.parametrize(
    "when",
    [
        {"tool": "bash"},
        {"tool": ["write_file", "edit_file"]},
        {"kind": "shell", "input": {"command": "rm"}},
        {"input": {"path": {"glob": "src/**"}}},
        {"not": {"input": {"a": "x"}}},
        {"any": [{"kind": "shell"}, {"tool": "bash"}]},
        {"says": {"keyword": "deploy", "last": 5}},
        {"all": [{"kind": "shell"}, {"kind": "write"}]},
        "never",
    ],
    ids=str,
)
def test_what_is_short_stays_short(when: Any) -> None:
    assert rewrite(when) == when


@pytest.mark.parametrize(
    ("when", "written"),
    [
        ("always", {}),
        ([{"kind": "shell"}, {"tool": "bash"}], {"kind": "shell", "tool": "bash"}),
        ([{"input": {"a": "x"}}, {"input": {"b": "y"}}], {"input": {"a": "x", "b": "y"}}),
        ([{"input": {"a": "x"}}, {"input": {"a": "y"}}], {"all": [{"input": {"a": "x"}}, {"input": {"a": "y"}}]}),
        ({"turn": 3}, {"fact": {"turn.number": {"equals": 3}}}),
        ({"tokens": 3}, {"fact": {"context.tokens": {"above": 3}}}),
        ({"failed": True}, {"fact": {"tool.ok": {"is": False}}}),
        ({"tool": "/^db_/"}, {"tool": {"matches": "^db_"}}),
    ],
    ids=str,
)
def test_other_forms_become_the_shortest_one(when: Any, written: Any) -> None:
    assert rewrite(when) == written


def test_without_when_a_hook_always_matches() -> None:
    assert parse_condition(None, INFO) is ALWAYS


@pytest.mark.parametrize(
    ("when", "codes"),
    [
        ({"tool": "a/b"}, ["bad-pattern"]),
        ({"fact": {"nothing.here": 1}}, ["unknown-fact"]),
        ({"expr": "turn +"}, ["bad-expression"]),
        (
            {"wenn": 1, "kind": "shel", "says": {"last": 0}},
            ["unknown-key", "unknown-word", "missing-key", "out-of-range"],
        ),
        ({"any": {"kind": "shell"}}, ["wrong-type"]),
        ({"tool": []}, ["empty"]),
        ({"runs": []}, ["empty"]),
        ({"runs": {"program": []}}, ["empty"]),
        ({"not": {"runs": []}}, ["empty"]),
        ({"inside": []}, ["empty"]),
        ({"error_code": []}, ["empty"]),
    ],
    ids=str,
)
def test_every_problem_is_found(when: Any, codes: list[str]) -> None:
    condition, problems = parse(when)
    assert condition is None
    assert problems == codes
