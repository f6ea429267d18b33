"""Qwen Code takes Claude Code's replies, but no changed input and no context before a tool."""

from __future__ import annotations

import json

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import Reply

QWEN = get_agent("qwen-code")
SENT = payloads("qwen-code")


def test_a_changed_input_is_denied_with_the_suggestion() -> None:
    (event,) = QWEN.read("PreToolUse", SENT["PreToolUse"]).events
    decision = Decision(event.with_changes(((("tool", "input", "command"), "ls"),)))
    specific = json.loads(QWEN.reply(QWEN.read("PreToolUse", SENT["PreToolUse"]), [decision]).stdout)[
        "hookSpecificOutput"
    ]
    assert specific["permissionDecision"] == "deny"
    assert '"command":"ls"' in specific["permissionDecisionReason"]
    assert "updatedInput" not in specific


def test_context_that_the_model_never_reads_is_shown_to_the_user() -> None:
    (event,) = QWEN.read("PreToolUse", SENT["PreToolUse"]).events
    reply = QWEN.reply(QWEN.read("PreToolUse", SENT["PreToolUse"]), [Decision(event, notes=(Note("mind the tests"),))])
    assert json.loads(reply.stdout) == {"systemMessage": "mind the tests"}


def test_the_empty_prompt_after_a_tool_is_ignored() -> None:
    payload = SENT["UserPromptSubmit-empty"]
    assert QWEN.read("UserPromptSubmit", payload).events == ()
    assert QWEN.reply(QWEN.read("UserPromptSubmit", payload), ()) == Reply()


def test_the_models_own_id_of_a_call_counts() -> None:
    (event,) = QWEN.read("PreToolUse", SENT["PreToolUse"]).events
    assert event.facts["tool"]["id"] == "call_mock_1"


def test_the_result_is_what_the_model_reads() -> None:
    (event,) = QWEN.read("PostToolUse", SENT["PostToolUse"]).events
    assert event.facts["tool"]["result"].startswith("Command: echo")
