"""Cline, according to its source code."""

from __future__ import annotations

import json

import pytest

from agent_payloads import decisions, event_name, payloads
from dialect_conversion import load_hooks
from hookline.engine.book import Book, Layer
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


def _judge(config: dict[str, object], name: str, payload: dict[str, object]) -> list[str]:
    book = Book([Layer("x", load_hooks("native", config, "hookline.json"))])
    return [book.decide_now(event).verdict.word for event in CLINE.read(name, payload).events]


def _version_3(tool: str, input: dict[str, object]) -> dict[str, object]:
    """As version 3.0 sends it: the parameters are texts, `tool_call` has the real input."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in input.items()}
    return {
        "taskId": "conv_1",
        "workspaceRoots": ["/w"],
        "hookName": "tool_call",
        "tool_call": {"id": "call_1", "name": tool, "input": input},
        "preToolUse": {"toolName": tool, "parameters": texts},
    }


@pytest.mark.parametrize(
    ("tool", "input", "guarded"),
    [
        ("run_commands", {"commands": ["echo x", "rm -rf /"]}, "bash"),
        ("read_files", {"files": [{"path": "a"}, {"path": ".env", "start_line": 1}]}, "read_file"),
        ("editor", {"path": ".env", "new_text": "rm -rf"}, "write_file"),
        ("editor", {"path": ".env", "old_text": "a", "new_text": "b"}, "edit_file"),
    ],
)
def test_version_3_is_guarded_too(tool: str, input: dict[str, object], guarded: str) -> None:
    field = {"command": "rm -rf"} if guarded == "bash" else {"path": r"\.env$"}
    hook = {"id": "g", "on": "tool.before", "when": {"tool": guarded, "input": field}, "then": {"deny": "no"}}
    payload = _version_3(tool, input)
    assert "deny" in _judge({"hooks": [hook]}, "PreToolUse", payload)
