"""Gemini CLI ignores a deny in Claude's shape, and reads stderr where stdout is empty."""

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


def _said(file: str, made: Decision) -> Any:
    return json.loads(GEMINI.reply(GEMINI.read(event_name(file), SENT[file]), [made]).stdout)


@pytest.mark.parametrize("file", SENT)
def test_nothing_is_ever_on_stderr_and_the_exit_code_is_0(file: str) -> None:
    events = GEMINI.read(event_name(file), SENT[file]).events
    for _, decide in decisions(events[0]) if events else ():
        reply = GEMINI.reply(GEMINI.read(event_name(file), SENT[file]), [decide(event) for event in events])
        assert (reply.stderr, reply.exit_code) == ("", 0)


@pytest.mark.parametrize("file", ["BeforeTool", "BeforeAgent", "AfterAgent"])
def test_the_decision_stands_at_the_top(file: str) -> None:
    said = _said(file, Decision(_event(file), Verdict.DENY, "no"))
    assert (said["decision"], said["reason"]) == ("deny", "no")
    assert "hookSpecificOutput" not in said


def test_only_changed_fields_are_sent() -> None:
    event = _event("BeforeTool")
    made = Decision(event.with_changes(((("tool", "input", "command"), "pwd"), (("tool", "input", "dir_path"), "/"))))
    assert _said("BeforeTool", made)["hookSpecificOutput"]["tool_input"] == {"command": "pwd", "dir_path": "/"}


def test_a_removed_field_cannot_be_merged_away() -> None:
    event = _event("BeforeTool")
    said = _said("BeforeTool", Decision(event.with_changes(((("tool", "input", "command"), REMOVED),))))
    assert said["decision"] == "deny"
    assert '{"description":"mock"}' in said["reason"]


def test_a_failed_tool_says_so() -> None:
    tool = _event("AfterTool-error").facts["tool"]
    assert (tool["ok"], tool["error"]) == (False, "File not found: /x")


def test_a_changed_result_replaces_what_the_model_reads() -> None:
    event = _event("AfterTool")
    said = _said("AfterTool", Decision(event.with_changes(((("tool", "result"), "***"),))))
    assert said == {"decision": "deny", "reason": "***"}


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
def test_a_question_tells_the_call_as_far_as_it_can(details: dict[str, Any], tool: Any) -> None:
    (event,) = GEMINI.read("Notification", {"notification_type": "ToolPermission", "details": details}).events
    assert event.facts.get("tool") == tool
    assert event.facts["approval"]["details"] == details
