"""Conditions on the kind of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import Event
from hookline.hooks.tools import ToolKind


def with_fact(value: Any) -> Event:
    return Event("stop", {"x": value})


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ({"name": "bash"}, ToolKind.SHELL),
        ({"name": "bash", "kind": "read"}, ToolKind.READ),
        ({"name": "odd"}, ToolKind.OTHER),
        ({"name": "bash", "kind": 5}, ToolKind.SHELL),
    ],
)
def test_the_declared_kind_counts_else_that_of_the_name(tool: Any, kind: ToolKind) -> None:
    event = Event("tool.before", {"tool": tool})
    assert [each for each in ToolKind if ToolKindIs(each).holds(event)] == [kind]
    assert not ToolKindIs(ToolKind.OTHER).holds(Event("stop", {}))


def test_a_tool_kind_says_why_it_did_not_hold() -> None:
    condition = ToolKindIs(ToolKind.SHELL)
    assert not condition.holds(with_fact("text"))
    assert condition.why_not(with_fact("text")) == "the tool's kind is other, not shell"
