"""Copilot CLI denies a tool whenever a hook's exit code is not 0, and its payloads have two shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Note, Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.copilot_cli import MAX_CONTEXT
from hookline.hosts.agents.merged_decision import TRUNCATION_MARK

COPILOT = get_agent("copilot-cli")
SENT = payloads("copilot-cli")


def _event(file: str) -> Event:
    (event,) = COPILOT.read(event_name(file), SENT[file]).events
    return event


def _reply_json(file: str, decision: Decision) -> Any:
    return json.loads(COPILOT.reply(COPILOT.read(event_name(file), SENT[file]), [decision]).stdout)


@pytest.mark.parametrize("file", SENT)
def test_the_exit_code_is_always_0(file: str) -> None:
    event = _event(file)
    for _, decide in decisions(event):
        assert COPILOT.reply(COPILOT.read(event_name(file), SENT[file]), [decide(event)]).exit_code == 0


@pytest.mark.parametrize(
    ("camel", "pascal"), [("preToolUse", "PreToolUse"), ("postToolUse", "PostToolUse"), ("agentStop", "Stop")]
)
def test_both_shapes_have_the_same_facts(camel: str, pascal: str) -> None:
    one, other = _event(camel), _event(pascal)
    assert one.name == other.name
    for fact in ("kind", "input", "result", "ok"):
        assert one.read(("tool", fact)) == other.read(("tool", fact))


def test_each_shape_gets_its_own_reply() -> None:
    denied = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    assert _reply_json("preToolUse", Decision(_event("preToolUse"), Verdict.DENY, "no")) == denied
    output = _reply_json("PreToolUse", Decision(_event("PreToolUse"), Verdict.DENY, "no"))
    assert output == {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}}


def test_arguments_sent_as_text_are_decoded() -> None:
    assert _event("preToolUse-text").facts["tool"]["input"] == {"command": "ls"}


def test_a_denied_prompt_is_not_shown_to_the_model() -> None:
    output = _reply_json("userPromptTransformed", Decision(_event("userPromptTransformed"), Verdict.DENY, "no secrets"))
    assert "no secrets" in output["modifiedTransformedPrompt"]
    assert "run the tool" not in output["modifiedTransformedPrompt"]


def test_a_changed_prompt_keeps_what_copilot_put_around_it() -> None:
    event = _event("userPromptTransformed")
    output = _reply_json("userPromptTransformed", Decision(event.with_changes(((("prompt",), "stop"),))))
    assert output["modifiedTransformedPrompt"].startswith("<current_datetime>")
    assert output["modifiedTransformedPrompt"].endswith("</current_datetime>\n\nstop")


def test_context_is_cut_to_what_copilot_reads() -> None:
    output = _reply_json("postToolUse", Decision(_event("postToolUse"), notes=(Note("ü" * 20_000),)))
    assert len(output["additionalContext"].encode()) <= MAX_CONTEXT
    assert output["additionalContext"].endswith(TRUNCATION_MARK)


@pytest.mark.parametrize("file", ["postToolUse-failure", "postToolUseFailure"])
def test_a_failed_tool_says_so(file: str) -> None:
    tool = _event(file).facts["tool"]
    assert tool["ok"] is False
    assert tool["error"]


def test_a_prompt_fires_once_only() -> None:
    assert [each.name for each in COPILOT.events if each.event == "prompt.submit"] == ["userPromptTransformed"]
