"""Fields that hooks add and a tool does not have."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.runtime.tools.bash import bash
from hookline.runtime.tools.tool_definition import BuiltInTool
from hookline.runtime.tools.unknown_fields import drop_unknown_fields

OPEN = BuiltInTool("open", "", {"type": "object", "properties": {}}, bash.kind, bash.body)


@pytest.mark.parametrize(
    ("tool", "asked", "left", "kept", "dropped"),
    [
        (bash, {"command": "a"}, {"command": "b"}, {"command": "b"}, []),
        (bash, {"command": "a"}, {"command": "a", "x": 1, "y": 2}, {"command": "a"}, ["x", "y"]),
        (bash, {"command": "a", "x": 1}, {"command": "a", "x": 2}, {"command": "a", "x": 2}, []),
        (bash, {}, {"command": "a"}, {"command": "a"}, []),
        (OPEN, {}, {"x": 1}, {"x": 1}, []),
    ],
)
def test_only_what_hooks_added_is_dropped(
    tool: BuiltInTool, asked: Any, left: Any, kept: Any, dropped: list[str]
) -> None:
    event = Event("tool.before", {"cwd": "/", "tool": {"name": tool.name, "input": left}})
    decision, names = drop_unknown_fields(Decision(event, reason="r"), tool, asked)
    assert decision.event.facts == {"cwd": "/", "tool": {"name": tool.name, "input": kept}}
    assert (decision.reason, names) == ("r", dropped)
