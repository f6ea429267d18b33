"""`runs` and `pipes`: how they are read and written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.native.conditions import parse_condition, write_condition
from hookline.dialects.native.dialect import DEFAULT_TIMEOUT
from hookline.dialects.native.keys import HookInfo
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import VOCABULARIES

INFO = HookInfo("tool.before", VOCABULARIES["native"], DEFAULT_TIMEOUT, "x")


def parse(when: Any) -> tuple[Condition | None, list[str]]:
    document, _ = read_text(json.dumps(when), "when.json")
    assert document is not None
    at = Node.of(document)
    return parse_condition(at, INFO), [problem.code for problem in at.problems]


@pytest.mark.parametrize(
    ("when", "written"),
    [
        ({"runs": "rm"}, {"runs": {"program": "rm"}}),
        ({"runs": ["dd", "mkfs"]}, {"runs": {"program": ["dd", "mkfs"]}}),
        (
            {"runs": {"program": "git", "subcommand": "push", "flags": ["force"], "unparsed": "ignored"}},
            {"runs": {"program": "git", "subcommand": "push", "flags": ["force"], "unparsed": "ignored"}},
        ),
        ({"pipes": {"from": ["curl", "wget"], "to": "sh"}}, {"pipes": {"from": ["curl", "wget"], "to": "sh"}}),
    ],
    ids=str,
)
def test_a_condition_is_written_as_it_is_read(when: Any, written: Any) -> None:
    condition, problems = parse(when)
    assert problems == []
    assert condition is not None
    assert write_condition(condition) == written


@pytest.mark.parametrize(
    "when", [{"runs": "git push"}, {"runs": {"program": "r*"}}, {"pipes": {"from": "a b", "to": "sh"}}]
)
def test_a_program_is_a_name(when: Any) -> None:
    assert parse(when) == (None, ["bad-program"])
