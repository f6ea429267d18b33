"""Claude Code: payloads and replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict, withheld_text
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import Reply

CLAUDE = get_agent("claude-code")
SENT = payloads("claude-code")


def _event(file: str) -> Event:
    (event,) = CLAUDE.read(file, SENT[file]).events
    return event


def _reply_json(file: str, decision: Decision) -> Any:
    return json.loads(CLAUDE.reply(CLAUDE.read(file, SENT[file]), [decision]).stdout)


def test_a_changed_input_leaves_the_permission_to_claude() -> None:
    event = _event("PreToolUse")
    decision = Decision(event.with_changes(((("tool", "input", "command"), "pwd"),)))
    assert _reply_json("PreToolUse", decision)["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "updatedInput": {"command": "pwd", "description": "mock call"},
    }


def test_a_failure_is_a_tool_that_did_not_succeed() -> None:
    tool = _event("PostToolUseFailure").facts["tool"]
    assert (tool["ok"], tool["error"]) == (False, "Command exited with code 1")
    assert "result" not in tool


def test_a_changed_shell_result_keeps_its_shape() -> None:
    event = _event("PostToolUse")
    output = _reply_json("PostToolUse", Decision(event.with_changes(((("tool", "result"), "***"),))))
    assert output["hookSpecificOutput"]["updatedToolOutput"] == {**event.facts["tool"]["result"], "stdout": "***"}


def test_a_changed_result_of_another_shape_is_context() -> None:
    payload = {**SENT["PostToolUse"], "tool_name": "Read", "tool_response": {"type": "text", "file": {}}}
    (event,) = CLAUDE.read("PostToolUse", payload).events
    decision = Decision(event.with_changes(((("tool", "result"), "***"),)))
    output = json.loads(CLAUDE.reply(CLAUDE.read("PostToolUse", payload), [decision]).stdout)
    assert output["hookSpecificOutput"] == {
        "hookEventName": "PostToolUse",
        "additionalContext": "A hook changed this result. Read it as:\n***",
    }


@pytest.mark.parametrize("result", [{"type": "text", "file": {}}, [{"type": "text", "text": "a"}]])
def test_a_withheld_result_of_another_shape_stops_the_agent(result: Any) -> None:
    payload = {**SENT["PostToolUse"], "tool_name": "Read", "tool_response": result}
    parsed = CLAUDE.read("PostToolUse", payload)
    decision = Decision(parsed.events[0].with_changes(((("tool", "result"), withheld_text("redact")),)))
    assert json.loads(CLAUDE.reply(parsed, [decision]).stdout) == {
        "continue": False,
        "stopReason": "This result must not be used: [withheld: hook redact could not check it]",
    }


def test_a_sub_agents_calls_name_it() -> None:
    (event,) = CLAUDE.read("PreToolUse", SENT["PreToolUse-mcp"]).events
    assert event.facts["agent"] == {"id": "a1", "name": "Explore"}


def test_the_project_is_where_the_environment_says() -> None:
    (event,) = CLAUDE.read("PreToolUse", SENT["PreToolUse"], "/home/dev").events
    assert (event.facts["cwd"], event.facts["workspace"]) == ("/home/dev/project", "/home/dev")


def test_a_halt_stops_claude_and_denies_the_tool() -> None:
    output = _reply_json("PreToolUse", Decision(_event("PreToolUse"), Verdict.DENY, "enough", halt=True))
    assert (output["continue"], output["stopReason"]) == (False, "enough")
    assert output["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_events_without_a_counterpart_are_ignored() -> None:
    for file in ("MessageDisplay", "PostToolBatch"):
        assert CLAUDE.read(file, SENT[file]).events == ()
        assert CLAUDE.reply(CLAUDE.read(file, SENT[file]), ()) == Reply()
