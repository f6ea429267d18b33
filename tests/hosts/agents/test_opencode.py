"""What the opencode plugin sends, and the replies it gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent

OPENCODE = get_agent("opencode")
SENT = payloads("opencode")
WORDS = {"deny", "args", "prompt", "result", "status", "context", "message"}


def _event(file: str) -> Event:
    (event,) = OPENCODE.read(event_name(file), SENT[file]).events
    return event


def _reply_json(file: str, decision: Decision) -> Any:
    return json.loads(OPENCODE.reply(OPENCODE.read(event_name(file), SENT[file]), [decision]).stdout)


@pytest.mark.parametrize("file", SENT)
def test_every_reply_has_known_keys_only(file: str) -> None:
    events = OPENCODE.read(event_name(file), SENT[file]).events
    for _, decide in decisions(events[0]) if events else ():
        reply = OPENCODE.reply(OPENCODE.read(event_name(file), SENT[file]), [decide(event) for event in events])
        assert json.loads(reply.stdout).keys() <= WORDS
        assert (reply.stderr, reply.exit_code) == ("", 0)


def test_changed_arguments_are_complete() -> None:
    event = _event("tool.execute.before")
    output = _reply_json("tool.execute.before", Decision(event.with_changes(((("tool", "input", "command"), "pwd"),))))
    assert output == {"args": {"command": "pwd", "description": "mock"}}


def test_a_permission_that_is_asked_cannot_be_answered() -> None:
    """opencode only tells plugins about it, and what it asks about is a call like any other."""
    event = _event("permission.asked")
    output = _reply_json("permission.asked", Decision(event, Verdict.DENY, "no"))
    assert output.keys() == {"message"}
    assert "no" in output["message"]
    assert (event.facts["tool"]["kind"], event.facts["tool"]["id"]) == ("shell", "call_mock_1")
    assert event.facts["tool"]["input"]["command"].startswith("echo hello")


def test_the_text_parts_are_the_prompt() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "file"}, {"type": "text", "text": "b"}, 3]
    (event,) = OPENCODE.read("chat.message", {"input": {}, "output": {"parts": parts}}).events
    assert event.facts["prompt"] == "a\nb"
