"""Cursor, according to its documentation."""

from __future__ import annotations

import json

import pytest

from agent_payloads import event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent

CURSOR = get_agent("cursor")
SENT = payloads("cursor")


@pytest.mark.parametrize(
    ("file", "name", "kind", "input"),
    [
        ("beforeShellExecution", "Shell", "shell", {"command": "ls", "cwd": "/home/dev/project"}),
        ("beforeReadFile", "Read", "read", {"file_path": "/home/dev/project/.env"}),
        ("beforeMCPExecution", "mcp__github__create_issue", "other", {"title": "x"}),
        (
            "afterFileEdit",
            "Edit",
            "edit",
            {"file_path": "/home/dev/project/a.py", "old_string": "a", "new_string": "b"},
        ),
    ],
)
def test_events_of_single_tools_are_read_as_calls(file: str, name: str, kind: str, input: object) -> None:
    (event,) = CURSOR.read(event_name(file), SENT[file]).events
    tool = event.facts["tool"]
    assert (tool["name"], tool["kind"], tool["input"]) == (name, kind, input)


def test_no_call_fires_twice() -> None:
    installed = [each.name for each in CURSOR.events if each.event.startswith("tool.")]
    assert installed == ["preToolUse", "postToolUse", "postToolUseFailure"]


def test_a_denied_stop_continues_with_the_reason() -> None:
    (event,) = CURSOR.read("stop", SENT["stop"]).events
    reply = CURSOR.reply(CURSOR.read("stop", SENT["stop"]), [Decision(event, Verdict.DENY, "run the tests")])
    assert json.loads(reply.stdout) == {"followup_message": "run the tests"}


def test_the_users_address_is_not_a_fact() -> None:
    for file, payload in SENT.items():
        assert "dev@example.com" not in str(CURSOR.read(event_name(file), payload).events)


@pytest.mark.parametrize(("told", "active"), [({"loop_count": 0}, False), ({"loop_count": 2}, True), ({}, None)])
def test_a_stop_says_whether_a_hook_has_made_it_continue(told: dict[str, int], active: bool | None) -> None:
    (event,) = get_agent("cursor").read("stop", {"status": "completed", **told}).events
    assert event.facts["stop"].get("active") is active
