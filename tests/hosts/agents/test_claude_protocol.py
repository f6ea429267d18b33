"""Claude Code's protocol, which other agents share."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.claude_protocol import (
    CLAUDE_EVENTS,
    build_output,
    claude_result_facts,
    displayed_result_facts,
    payload_facts,
)
from hookline.hosts.agents.merged_decision import MergedDecision


def facts(event: str, **payload: Any) -> dict[str, Any]:
    (found,) = payload_facts("claude_code", event, payload, claude_result_facts)
    return found


def test_every_event_is_one_of_ours() -> None:
    assert set(CLAUDE_EVENTS.values()) <= set(EVENTS)


def test_a_session_tells_why_it_started_or_ended() -> None:
    start = facts("session.start", hook_event_name="SessionStart", session_id="s", source="resume", reason="x")
    end = facts("session.end", hook_event_name="SessionEnd", session_id="s", source="x", reason="logout")
    assert start["session"] == {"id": "s", "source": "resume"}
    assert end["session"] == {"id": "s", "reason": "logout"}


@pytest.mark.parametrize(
    ("payload", "stop"),
    [
        ({}, {"reason": "end_turn"}),
        ({"stop_hook_active": True}, {"reason": "end_turn", "active": True}),
        ({"stop_hook_active": "yes", "last_assistant_message": "Done."}, {"reason": "end_turn", "message": "Done."}),
    ],
)
def test_a_stop_tells_whether_a_hook_already_made_it_continue(payload: dict[str, Any], stop: dict[str, Any]) -> None:
    assert facts("stop", **payload)["stop"] == stop


def test_a_sub_agent_names_its_transcript() -> None:
    found = facts("subagent.end", agent_id="a", agent_transcript_path="/t/a.jsonl")
    assert found["subagent"] == {"id": "a", "transcript": "/t/a.jsonl"}


def test_a_subagent_is_not_the_agent_of_its_event() -> None:
    found = facts("subagent.end", agent_id="a", agent_type="Explore", last_assistant_message="Found.")
    assert "agent" not in found
    assert found["subagent"] == {"id": "a", "name": "Explore"}
    assert found["tool"] == {"result": "Found."}
    assert facts("stop", agent_id="a")["agent"] == {"id": "a"}


def test_a_failure_is_known_by_its_event_or_by_the_response() -> None:
    failed = claude_result_facts({"hook_event_name": "PostToolUseFailure", "error": "no"})
    assert (failed["ok"], failed["error"]) == (False, "no")
    assert claude_result_facts({"hook_event_name": "PostToolUse", "tool_response": "yes"})["ok"] is True
    shown = displayed_result_facts({"tool_response": {"llmContent": "read", "error": {"message": "no"}}})
    assert (shown["ok"], shown["error"]) == (False, "no")
    assert (
        displayed_result_facts({"tool_response": {"llmContent": "read", "returnDisplay": "shown"}})["result"] == "read"
    )


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        (MergedDecision("tool.before"), {}),
        (
            MergedDecision("tool.before", Verdict.DENY, "no", context="more"),
            {
                "hookSpecificOutput": {
                    "hookEventName": "Name",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "no",
                    "additionalContext": "more",
                }
            },
        ),
        (
            MergedDecision("tool.before", new={"a": 1}),
            {"hookSpecificOutput": {"hookEventName": "Name", "updatedInput": {"a": 1}}},
        ),
        (MergedDecision("stop", Verdict.DENY, "go on"), {"decision": "block", "reason": "go on"}),
        (MergedDecision("stop", Verdict.ALLOW), {}),
        (
            MergedDecision("approval.request", Verdict.DENY, "no", halt=True),
            {
                "continue": False,
                "stopReason": "no",
                "hookSpecificOutput": {
                    "hookEventName": "Name",
                    "decision": {"behavior": "deny", "message": "no", "interrupt": True},
                },
            },
        ),
        (MergedDecision("session.end", message="hi"), {"systemMessage": "hi"}),
    ],
)
def test_an_answer_has_the_keys_of_its_event(answer: MergedDecision, output: dict[str, Any]) -> None:
    assert build_output("Name", answer) == output
