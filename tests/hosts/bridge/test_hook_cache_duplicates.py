"""The engine counts an event once when two entries of one agent tell of it."""

from __future__ import annotations

import json

import pytest

from bridge_sandbox import BridgeSandbox, deny_reason, wait_for
from hookline.hosts.bridge import client
from hookline.hosts.bridge.call_deduplicator import ENTRY_VARIABLE

pytestmark = pytest.mark.slow


def test_a_limit_counts_one_event_of_two_entries_once(desk: BridgeSandbox, c_client: list[str]) -> None:
    desk.write_hooks(
        "hooks:\n"
        "  - {id: twice, on: tool.before, then: {deny: At most twice.}, max_fires: 2}\n"
        "  - {id: told, on: tool.after, then: {tell: Once.}}\n",
        users=True,
    )
    process = desk.start_client(client.hookline_command("serve"))
    wait_for(desk.engine_pid)

    def both(event: str, **told: str) -> list[str]:
        said = []
        for entry in ("", "project"):
            desk.variables[ENTRY_VARIABLE] = entry
            said.append(desk.run_client(c_client, desk.payload(**told), event=event)[0])
        return said

    for number in "12":
        assert [deny_reason(each) for each in both("PreToolUse", tool_use_id=number)] == ["At most twice."] * 2
    assert both("PreToolUse", tool_use_id="3") == ["", ""]
    first, second = both("PostToolUse", tool_use_id="4")
    assert json.loads(first)["hookSpecificOutput"]["additionalContext"] == "Once."
    assert second == ""
    process.terminate()
    process.communicate()
