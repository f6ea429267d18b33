"""A test of one value: where its patterns look, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.native.value_tests import parse_test
from hookline.hooks.conditions.logic import AnyOf
from hookline.hooks.conditions.text import Equals, Fact, Matches, ShellCommands
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tools import VOCABULARIES

COMMAND = ToolField(("command",), VOCABULARIES["native"])


def parse(test: Any, subject: Any = COMMAND) -> tuple[Condition | None, list[str]]:
    document, _ = read_text(json.dumps(test), "test.json")
    assert document is not None
    at = Node.of(document)
    return parse_test(at, subject, ("tool", "input", "command")), [problem.code for problem in at.problems]


@pytest.mark.parametrize(
    ("word", "subject"), [("starts", ShellCommands), ("command", ShellCommands), ("like", ToolField)]
)
def test_commands_are_read_one_by_one(word: str, subject: type) -> None:
    condition, _ = parse({word: "git push"})
    assert isinstance(condition, Matches)
    assert isinstance(condition.subject, subject)


@pytest.mark.parametrize(("test", "kind"), [("rm", Matches), (["rm", "dd"], AnyOf), (3, Equals), (False, Equals)])
def test_a_short_form_is_read_by_its_type(test: Any, kind: type) -> None:
    assert isinstance(parse(test)[0], kind)


@pytest.mark.parametrize(
    ("test", "codes"),
    [
        ({"whole": True}, ["no-pattern"]),
        ({"matches": "("}, ["bad-pattern"]),
        ({"mathces": "rm"}, ["unknown-key"]),
        ({"every": 0}, ["out-of-range"]),
        (["rm", "("], ["bad-pattern"]),
    ],
    ids=str,
)
def test_every_problem_is_found(test: Any, codes: list[str]) -> None:
    assert parse(test) == (None, codes)


def test_only_a_field_of_the_input_can_be_limited_to_text() -> None:
    limited, _ = parse({"matches": "5", "only_text": True})
    assert isinstance(limited, Matches)
    assert isinstance(limited.subject, ToolField)
    assert limited.subject.only_text
    assert parse({"matches": "5", "only_text": True}, Fact(("prompt",))) == (None, ["no-pattern"])
