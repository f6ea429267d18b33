from __future__ import annotations

import pytest

from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.hub.workspaces.disabled_tools import disabled_tool_hooks
from hookline.runtime.tools.toolbox import built_in_tools

SWITCHED_OFF = {
    "bash": {"bash"},
    "filesystem": {"read_file", "write_file", "edit_file", "list_directory", "glob", "grep"},
}


@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_every_tool_of_the_group_is_denied_and_no_other(name: str) -> None:
    (extra,) = disabled_tool_hooks({name: False})
    book = Book([extra.layer])
    denied = set()
    for tool in built_in_tools():
        event = Event("tool.before", {"tool": {"name": tool.name, "kind": str(tool.kind), "input": {}}})
        if book.decide_now(event).denied:
            denied.add(tool.name)
    assert SWITCHED_OFF[name] <= denied
    assert not denied & {"fetch", "storage", "runjs"}
    assert ("bash" in denied) == (name == "bash")


def test_nothing_is_denied_where_nothing_is_off() -> None:
    assert disabled_tool_hooks({}) == disabled_tool_hooks({"bash": True}) == ()
