"""`set`, `remove`, `append` and `replace`."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.native.native_actions import hook_info, parse, parse_valid, rewrite
from hookline.dialects.native.actions import write_action
from hookline.hooks.actions.change import Append, ChangeFacts, Remove, Replace, Set
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.templates import DataTemplate

ALL_FOUR = {
    "replace": {"in": "result", "pattern": "a", "with": ""},
    "append": {"result": "b"},
    "remove": "input.c",
    "set": {"input.d": {"e": "{{input.f}}"}},
}


def test_the_changes_run_in_one_order() -> None:
    action = parse_valid(ALL_FOUR)
    assert isinstance(action, ChangeFacts)
    assert [type(edit) for edit in action.edits] == [Set, Remove, Append, Replace]


def test_the_changes_are_written_together() -> None:
    assert rewrite(ALL_FOUR) == {
        "set": {"tool.input.d": {"e": "{{input.f}}"}},
        "remove": ["tool.input.c"],
        "append": {"tool.result": "b"},
        "replace": [{"in": "tool.result", "pattern": "a", "with": ""}],
    }


def test_a_dot_in_a_name_is_quoted() -> None:
    written = write_action(ChangeFacts((Remove(("tool", "input", "a.b")),)), hook_info())
    assert written == {"remove": ['tool.input."a.b"']}


def test_edits_in_another_order_than_the_keys_are_a_chain() -> None:
    one, two = DataTemplate(1), DataTemplate(2)
    path = ("tool", "input", "a")
    edits = (Remove(path), Set(path, one), Set(path, two), Remove(("tool", "input", "b")))
    assert write_action(ChangeFacts(edits), hook_info())["chain"] == [
        {"remove": ["tool.input.a"]},
        {"set": {"tool.input.a": 1}},
        {"set": {"tool.input.a": 2}, "remove": ["tool.input.b"]},
    ]


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ({"set": {"nothing": 1}}, ["unknown-fact"]),
        ({"set": {"input": 1}}, ["no-object"]),
        ({"remove": ["input"]}, ["no-object"]),
        ({"append": {"input": "x"}}, ["no-object"]),
        ({"append": {"result": 1}}, ["wrong-type"]),
        ({"replace": {"in": "nothing", "pattern": "("}}, ["missing-key", "unknown-fact", "bad-pattern"]),
        ({"set": {"input.a": 1}, "deny": "x"}, ["unknown-key"]),
    ],
    ids=str,
)
def test_every_problem_is_found(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes
