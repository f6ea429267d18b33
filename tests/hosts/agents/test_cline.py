"""Cline, according to its source code."""

from __future__ import annotations

import json

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.cline import MAX_CONTEXT
from hookline.hosts.agents.merged_decision import TRUNCATION_MARK

CLINE = get_agent("cline")
SENT = payloads("cline")


@pytest.mark.parametrize("file", SENT)
def test_every_reply_says_whether_to_cancel(file: str) -> None:
    (event,) = CLINE.read(event_name(file), SENT[file]).events
    for _, decide in decisions(event):
        output = json.loads(CLINE.reply(CLINE.read(event_name(file), SENT[file]), [decide(event)]).stdout)
        assert isinstance(output["cancel"], bool)
        assert output.keys() <= {"cancel", "contextModification", "errorMessage"}
        assert output["cancel"] == bool(output.get("errorMessage"))


def test_an_mcp_tool_is_called_by_its_own_name() -> None:
    (event,) = CLINE.read("PreToolUse", SENT["PreToolUse-mcp"]).events
    assert event.facts["tool"]["name"] == "mcp__github__create_issue"
    assert event.facts["tool"]["input"] == {"title": "x"}


def test_context_is_cut_to_what_cline_reads() -> None:
    (event,) = CLINE.read("PostToolUse", SENT["PostToolUse"]).events
    output = json.loads(
        CLINE.reply(
            CLINE.read("PostToolUse", SENT["PostToolUse"]), [Decision(event, notes=(Note("x" * 60_000),))]
        ).stdout
    )
    assert len(output["contextModification"]) <= MAX_CONTEXT
    assert output["contextModification"].endswith(TRUNCATION_MARK)
