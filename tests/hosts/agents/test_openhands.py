"""OpenHands, according to the source of its SDK."""

from __future__ import annotations

import json

import pytest

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note, Verdict
from hookline.hosts.agents import get_agent

OPENHANDS = get_agent("openhands")
SENT = payloads("openhands")


@pytest.mark.parametrize("name", ["PreToolUse", "UserPromptSubmit", "Stop"])
def test_deny_is_a_decision_at_the_top(name: str) -> None:
    parsed = OPENHANDS.read(name, SENT[name])
    reply = OPENHANDS.reply(parsed, [Decision(each, Verdict.DENY, "no") for each in parsed.events])
    assert json.loads(reply.stdout) == {"decision": "deny", "reason": "no"}


def test_context_stands_beside_it() -> None:
    parsed = OPENHANDS.read("SessionStart", SENT["SessionStart"])
    reply = OPENHANDS.reply(parsed, [Decision(parsed.events[0], notes=(Note("mind the tests"),))])
    assert json.loads(reply.stdout) == {"additionalContext": "mind the tests"}


@pytest.mark.parametrize(("file", "kind"), [("PreToolUse-edit", "edit"), ("PreToolUse-create", "write")])
def test_its_editor_is_what_its_command_says(file: str, kind: str) -> None:
    (event,) = OPENHANDS.read("PreToolUse", SENT[file]).events
    assert event.facts["tool"]["kind"] == kind
