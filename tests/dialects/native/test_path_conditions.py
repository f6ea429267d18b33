"""`outside` and `inside`: how they are read and written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.native.conditions import parse_condition, write_condition
from hookline.dialects.native.dialect import DEFAULT_TIMEOUT
from hookline.dialects.native.keys import HookInfo
from hookline.hooks.tools import VOCABULARIES

INFO = HookInfo("tool.before", VOCABULARIES["native"], DEFAULT_TIMEOUT, "x")


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ({"outside": "workspace"}, "a path of the call is outside the workspace"),
        ({"outside": ["workspace", "/tmp"]}, "a path of the call is outside the workspace and /tmp"),
        ({"inside": ["./a", "~/.ssh"]}, "a path of the call is inside ./a or ~/.ssh"),
        ({"inside": {"directory": "./a", "unparsed": "ignored"}}, "a path of the call is inside ./a"),
    ],
    ids=str,
)
def test_a_condition_is_written_as_it_is_read(when: Any, words: str) -> None:
    document, _ = read_text(json.dumps(when), "when.json")
    assert document is not None
    at = Node.of(document)
    condition = parse_condition(at, INFO)
    assert condition is not None
    assert not at.problems
    assert write_condition(condition) == when
    assert str(condition) == words
