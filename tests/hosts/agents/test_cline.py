"""Cline, as its command line program calls, and as its VS Code extension does according to its source code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_payloads import decisions, event_name, payloads
from dialect_conversion import load_hooks
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.cline import MAX_CONTEXT
from hookline.hosts.agents.merged_decision import TRUNCATION_MARK
from install_sandbox import install, make_machine

CLINE = get_agent("cline")
SENT = payloads("cline")


@pytest.mark.parametrize("file", SENT)
def test_every_reply_says_whether_to_cancel(file: str) -> None:
    (event,) = CLINE.read(event_name(file), SENT[file]).events
    for _, decide in decisions(event):
        output = json.loads(CLINE.reply(CLINE.read(event_name(file), SENT[file]), [decide(event)]).stdout)
        assert isinstance(output["cancel"], bool)
        assert output.keys() <= {"cancel", "contextModification", "errorMessage", "overrideInput"}
        assert "overrideInput" not in output or "tool_call" in SENT[file]
        assert output["cancel"] == bool(output.get("errorMessage"))


def test_an_mcp_tool_is_called_by_its_own_name() -> None:
    (event,) = CLINE.read("PreToolUse", SENT["PreToolUse-mcp"]).events
    assert event.facts["tool"]["name"] == "mcp__github__create_issue"
    assert event.facts["tool"]["input"] == {"title": "x"}


def test_context_is_cut_to_what_cline_reads() -> None:
    (event,) = CLINE.read("PostToolUse", SENT["PostToolUse-extension"]).events
    output = json.loads(
        CLINE.reply(
            CLINE.read("PostToolUse", SENT["PostToolUse-extension"]), [Decision(event, notes=(Note("x" * 60_000),))]
        ).stdout
    )
    assert len(output["contextModification"]) <= MAX_CONTEXT
    assert output["contextModification"].endswith(TRUNCATION_MARK)


def _judge(config: dict[str, object], name: str, payload: dict[str, object]) -> list[str]:
    book = Book([Layer("x", load_hooks("native", config, "hookline.json"))])
    return [book.decide_now(event).verdict.word for event in CLINE.read(name, payload).events]


def _extension(tool: str, input: dict[str, object]) -> dict[str, object]:
    """As the extension sends it: only the parameters, as texts."""
    return {key: value for key, value in _version_3(tool, input).items() if key != "tool_call"}


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
        ("run_commands", {"commands": ["rm -rf /"]}, "bash"),
        ("read_files", {"files": [{"path": "a"}, {"path": ".env", "start_line": 1}]}, "read_file"),
        ("editor", {"path": ".env", "new_text": "rm -rf"}, "write_file"),
        ("editor", {"path": ".env", "old_text": "a", "new_text": "b"}, "edit_file"),
    ],
)
@pytest.mark.parametrize("sender", [_version_3, _extension])
def test_version_3_is_guarded_too(
    sender: Callable[[str, dict[str, object]], dict[str, object]], tool: str, input: dict[str, object], guarded: str
) -> None:
    field = {"command": "rm -rf"} if guarded == "bash" else {"path": r"\.env$"}
    hook = {"id": "g", "on": "tool.before", "when": {"tool": guarded, "input": field}, "then": {"deny": "no"}}
    payload = sender(tool, input)
    assert "deny" in _judge({"hooks": [hook]}, "PreToolUse", payload)


def _change(command: str, new: str, payload: dict[str, object]) -> dict[str, object]:
    then = {"replace": {"in": "input.command", "pattern": command, "with": new}}
    hook = {"id": "c", "on": "tool.before", "when": {"tool": "bash"}, "then": then}
    book = Book([Layer("x", load_hooks("native", {"hooks": [hook]}, "hookline.json"))])
    parsed = CLINE.read("PreToolUse", payload)
    reply: dict[str, object] = json.loads(CLINE.reply(parsed, [book.decide_now(each) for each in parsed.events]).stdout)
    return reply


def test_changed_command_is_sent_in_the_tools_own_shape() -> None:
    reply = _change("plain", "altered", _version_3("run_commands", {"commands": ["echo plain"]}))
    assert reply == {"cancel": False, "overrideInput": {"commands": ["echo altered"]}}


def test_change_is_only_suggested_where_it_would_be_lost() -> None:
    """The extension ignores it, and one of several commands cannot be changed alone."""
    for payload in (
        _extension("run_commands", {"commands": ["echo plain"]}),
        _version_3("run_commands", {"commands": ["ls", "echo plain"]}),
    ):
        reply = _change("plain", "altered", payload)
        assert reply["cancel"] is True
        assert "echo altered" in str(reply["errorMessage"])


def test_failed_command_is_a_failed_tool() -> None:
    output = [{"query": "false", "result": "", "success": False}]
    payload = {
        "taskId": "c",
        "postToolUse": {"toolName": "run_commands", "result": json.dumps(output), "success": True},
    }
    (event,) = CLINE.read("PostToolUse", payload).events
    assert event.facts["tool"]["ok"] is False


@pytest.mark.parametrize("exit_code", [1, 2, 137])
def test_launcher_that_fails_cancels(tmp_path: Path, exit_code: int) -> None:
    """Cline runs the tool after any exit code."""
    machine = make_machine(tmp_path)
    install("cline", machine)
    machine.launcher.parent.mkdir(parents=True, exist_ok=True)
    machine.launcher.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    machine.launcher.chmod(0o755)
    script = machine.home / "Documents/Cline/Hooks/PreToolUse"
    done = subprocess.run([str(script)], input="{}", capture_output=True, text=True, check=False)
    reply = json.loads(done.stdout)
    assert reply["cancel"] is True
    assert "not installed any more, install it again, or remove" in reply["errorMessage"]
