"""Kiro, according to its documentation."""

from __future__ import annotations

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note, Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import Reply

KIRO = get_agent("kiro")
SENT = payloads("kiro")


@pytest.mark.parametrize("file", SENT)
def test_only_tools_and_prompts_are_blocked_and_always_with_a_reason(file: str) -> None:
    events = KIRO.read(event_name(file), SENT[file]).events
    for _, decide in decisions(events[0]):
        reply = KIRO.reply(KIRO.read(event_name(file), SENT[file]), [decide(event) for event in events])
        can_block = event_name(file) in ("preToolUse", "PreToolUse", "UserPromptSubmit")
        assert reply.exit_code in ((0, 2) if can_block else (0,))
        assert reply.exit_code == 0 or reply.stderr.strip()


def test_context_is_plain_text() -> None:
    (event,) = KIRO.read("userPromptSubmit", SENT["userPromptSubmit"]).events
    reply = KIRO.reply(
        KIRO.read("userPromptSubmit", SENT["userPromptSubmit"]), [Decision(event, notes=(Note("be brief"),))]
    )
    assert reply == Reply("be brief")


def test_each_operation_is_an_event() -> None:
    one, other = KIRO.read("preToolUse", SENT["preToolUse-fs_read"]).events
    assert (one.facts["tool"]["input"]["path"], other.facts["tool"]["input"]["path"]) == ("/a", "/b")
    reply = KIRO.reply(
        KIRO.read("preToolUse", SENT["preToolUse-fs_read"]), [Decision(one), Decision(other, Verdict.DENY, "no")]
    )
    assert reply == Reply(stderr="no", exit_code=2)


@pytest.mark.parametrize(("file", "kind"), [("preToolUse-create", "write"), ("preToolUse-fs_write", "edit")])
def test_the_same_tool_writes_and_edits(file: str, kind: str) -> None:
    (event,) = KIRO.read("preToolUse", SENT[file]).events
    assert event.facts["tool"]["kind"] == kind


def test_a_result_that_is_only_text_names_the_exit_code() -> None:
    (event,) = KIRO.read("PostToolUse", SENT["PostToolUse-text"]).events
    assert (event.facts["tool"]["ok"], event.facts["tool"]["error"]) == (False, "exit code 1")
