"""Gemini CLI ignores a deny in Claude Code's shape, and reads stderr if stdout is empty."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import REMOVED, Event
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent

GEMINI = get_agent("gemini-cli")
SENT = payloads("gemini-cli")


def _event(file: str) -> Event:
    (event,) = GEMINI.read(event_name(file), SENT[file]).events
    return event


def _reply_json(file: str, decision: Decision) -> Any:
    return json.loads(GEMINI.reply(GEMINI.read(event_name(file), SENT[file]), [decision]).stdout)


@pytest.mark.parametrize("file", SENT)
def test_stderr_is_empty_and_the_exit_code_is_0(file: str) -> None:
    events = GEMINI.read(event_name(file), SENT[file]).events
    for _, decide in decisions(events[0]) if events else ():
        reply = GEMINI.reply(GEMINI.read(event_name(file), SENT[file]), [decide(event) for event in events])
        assert (reply.stderr, reply.exit_code) == ("", 0)


@pytest.mark.parametrize("file", ["BeforeTool", "BeforeAgent", "AfterAgent"])
def test_the_decision_is_at_the_top_level(file: str) -> None:
    output = _reply_json(file, Decision(_event(file), Verdict.DENY, "no"))
    assert (output["decision"], output["reason"]) == ("deny", "no")
    assert "hookSpecificOutput" not in output


def test_only_changed_fields_are_sent() -> None:
    event = _event("BeforeTool")
    decision = Decision(
        event.with_changes(((("tool", "input", "command"), "pwd"), (("tool", "input", "dir_path"), "/")))
    )
    assert _reply_json("BeforeTool", decision)["hookSpecificOutput"]["tool_input"] == {
        "command": "pwd",
        "dir_path": "/",
    }


def test_a_removed_field_is_denied_with_the_suggestion() -> None:
    event = _event("BeforeTool")
    output = _reply_json("BeforeTool", Decision(event.with_changes(((("tool", "input", "command"), REMOVED),))))
    assert output["decision"] == "deny"
    assert '{"description":"mock"}' in output["reason"]


def test_a_failed_tool_says_so() -> None:
    tool = _event("AfterTool-error").facts["tool"]
    assert (tool["ok"], tool["error"]) == (False, "File not found: /x")


def test_a_changed_result_replaces_what_the_model_reads() -> None:
    event = _event("AfterTool")
    output = _reply_json("AfterTool", Decision(event.with_changes(((("tool", "result"), "***"),))))
    assert output == {"decision": "deny", "reason": "***"}


@pytest.mark.parametrize(
    ("details", "tool"),
    [
        (
            {"type": "edit", "filePath": "/a", "fileName": "a"},
            {"name": "replace", "kind": "edit", "input": {"file_path": "/a"}},
        ),
        (
            {"type": "mcp", "serverName": "s", "toolName": "t", "toolArgs": {"x": 1}},
            {"name": "mcp__s__t", "kind": "other", "input": {"x": 1}},
        ),
        ({"type": "info"}, None),
    ],
)
def test_a_permission_request_describes_its_call(details: dict[str, Any], tool: Any) -> None:
    (event,) = GEMINI.read("Notification", {"notification_type": "ToolPermission", "details": details}).events
    assert event.facts.get("tool") == tool
    assert event.facts["approval"]["details"] == details
