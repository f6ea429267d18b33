"""Grok Build, as it calls and as it obeyed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent

GROK = get_agent("grok-build")
SENT = payloads("grok-build")


def _output(file: str, decide: Any, **more: Any) -> dict[str, Any]:
    parsed = GROK.read(event_name(file), {**SENT[file], **more})
    found: dict[str, Any] = json.loads(GROK.reply(parsed, [decide(each) for each in parsed.events]).stdout or "{}")
    return found


def _ask(event: Any) -> Decision:
    return Decision(event, Verdict.ASK, "look first")


@pytest.mark.parametrize(("mode", "word"), [("default", "ask"), ("bypassPermissions", "deny")])
def test_ask_becomes_a_deny_where_grok_would_run_the_tool(mode: str, word: str) -> None:
    specific = _output("PreToolUse", _ask, permission_mode=mode)["hookSpecificOutput"]
    assert specific["permissionDecision"] == word


@pytest.mark.parametrize("spelling", ["camelCase", "snake_case"])
def test_one_spelling_of_the_keys_is_enough(spelling: str) -> None:
    sent = SENT["PreToolUse"]
    kept = {key: value for key, value in sent.items() if ("_" in key) == (spelling == "snake_case") or key == "cwd"}
    parsed = GROK.read("PreToolUse", kept)
    (event,) = parsed.events
    assert event.facts["tool"]["input"] == sent["tool_input"]
    assert sent["permission_mode"] == "bypassPermissions"
    assert json.loads(GROK.reply(parsed, [_ask(event)]).stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_no_reply_contains_context_where_grok_loses_it_or_continues() -> None:
    for file in SENT:
        events = GROK.read(event_name(file), SENT[file]).events
        for _, decide in decisions(events[0]) if events else ():
            if event_name(file) in ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop"):
                assert "additionalContext" not in str(_output(file, decide))


def test_an_input_that_grok_has_cut_is_not_judged_by_its_beginning() -> None:
    (event,) = GROK.read("PreToolUse", SENT["PreToolUse-truncated"]).events
    assert event.facts["tool"]["input"] == {}


def test_the_stop_after_the_sessions_end_is_no_event() -> None:
    assert GROK.read("Stop", SENT["Stop-shutdown"]).events == ()


def test_result_is_the_text_that_the_model_reads() -> None:
    (event,) = GROK.read("PostToolUse", SENT["PostToolUse"]).events
    assert event.facts["tool"]["result"] == "exit: 0\nhello-from-tool\n"
    response = {"output_for_prompt": "exit: 3\n", "exit_code": 3}
    (event,) = GROK.read("PostToolUse", {**SENT["PostToolUse"], "tool_response": response}).events
    assert event.facts["tool"]["ok"] is False


def test_changed_input_of_an_mcp_tool_is_sent_whole() -> None:
    def rename(event: Any) -> Decision:
        return Decision(event.with_changes(((("tool", "input", "title"), "y"),)))

    specific = _output("PreToolUse-mcp", rename)["hookSpecificOutput"]
    assert specific["updatedInput"] == {"tool_name": "github__create_issue", "tool_input": {"title": "y"}}
