"""Cursor, according to its documentation and to what the hook runtime in its SDK sends and obeys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_payloads import event_name, payloads
from dialect_conversion import load_hooks
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.outcome import Note, Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.cursor import MAX_CONTEXT
from hookline.hosts.agents.entries import MissingPolicy
from hookline.hosts.agents.machine import InstallScope
from hookline.hosts.doctor.checks import examine_agent
from install_sandbox import install, make_machine

CURSOR = get_agent("cursor")
SENT = payloads("cursor")


@pytest.mark.parametrize(
    ("file", "name", "kind", "input"),
    [
        ("beforeShellExecution-documented", "Shell", "shell", {"command": "ls", "cwd": "/home/dev/project"}),
        ("beforeReadFile", "Read", "read", {"file_path": "/home/dev/project/.env"}),
        ("beforeMCPExecution-documented", "mcp__github__create_issue", "other", {"title": "x"}),
        (
            "afterFileEdit",
            "Edit",
            "edit",
            {"file_path": "/home/dev/project/a.py", "old_string": "a", "new_string": "b"},
        ),
    ],
)
def test_events_of_single_tools_are_read_as_calls(file: str, name: str, kind: str, input: object) -> None:
    (event,) = CURSOR.read(event_name(file), SENT[file]).events
    tool = event.facts["tool"]
    assert (tool["name"], tool["kind"], tool["input"]) == (name, kind, input)


def test_no_call_fires_twice() -> None:
    installed = [each.name for each in CURSOR.events if each.event.startswith("tool.")]
    assert installed == ["preToolUse", "postToolUse", "postToolUseFailure"]


def test_a_denied_stop_continues_with_the_reason() -> None:
    (event,) = CURSOR.read("stop", SENT["stop"]).events
    reply = CURSOR.reply(CURSOR.read("stop", SENT["stop"]), [Decision(event, Verdict.DENY, "run the tests")])
    assert json.loads(reply.stdout) == {"followup_message": "run the tests"}


def test_the_users_address_is_not_a_fact() -> None:
    for file, payload in SENT.items():
        assert "dev@example.com" not in str(CURSOR.read(event_name(file), payload).events)


@pytest.mark.parametrize(("told", "active"), [({"loop_count": 0}, False), ({"loop_count": 2}, True), ({}, None)])
def test_a_stop_says_whether_a_hook_has_made_it_continue(told: dict[str, int], active: bool | None) -> None:
    (event,) = get_agent("cursor").read("stop", {"status": "completed", **told}).events
    assert event.facts["stop"].get("active") is active


def _judge(when: dict[str, Any], then: dict[str, Any], name: str, payload: dict[str, Any]) -> dict[str, Any]:
    hook = {"id": "g", "on": "tool.before", "when": when, "then": then}
    book = Book([Layer("x", load_hooks("native", {"hooks": [hook]}, "hookline.json"))])
    parsed = CURSOR.read(name, payload)
    reply: dict[str, Any] = json.loads(CURSOR.reply(parsed, [book.decide_now(each) for each in parsed.events]).stdout)
    return reply


@pytest.mark.parametrize("file", ["preToolUse-mcp", "beforeMCPExecution"])
@pytest.mark.parametrize("tool", ["mcp*", "mcp.linear.create_issue", "mcp.*.create_issue"])
def test_mcp_tools_are_guarded_whether_cursor_names_the_server_or_not(file: str, tool: str) -> None:
    reply = _judge({"tool": tool}, {"deny": "no"}, event_name(file), SENT[file])
    assert reply["permission"] == "deny"


@pytest.mark.parametrize(
    ("tool", "input", "guarded"),
    [
        ("List", {"file_path": "/p/.env"}, "list_directory"),
        ("Fetch", {"url": "http://x/.env"}, "fetch"),
        ("Delete", {"file_path": "/p/.env"}, "write_file"),
        ("WriteShellStdin", {"shell_id": "1", "chars_length": 4}, "bash"),
    ],
)
def test_tools_that_its_documentation_does_not_name_are_guarded(tool: str, input: dict[str, Any], guarded: str) -> None:
    payload = {**SENT["preToolUse"], "tool_name": tool, "tool_input": input}
    assert _judge({"tool": guarded}, {"deny": "no"}, "preToolUse", payload)["permission"] == "deny"


REPLACE = {"replace": {"in": "input.command", "pattern": "echo", "with": "printf"}}
SET_TITLE = {"set": {"input.title": "y"}}


def test_changed_command_and_mcp_input_are_applied() -> None:
    reply = _judge({"tool": "bash"}, REPLACE, "preToolUse", SENT["preToolUse"])
    assert reply == {"updated_input": {**SENT["preToolUse"]["tool_input"], "command": "printf hello-from-tool"}}
    assert _judge({"tool": "mcp*"}, SET_TITLE, "preToolUse", SENT["preToolUse-mcp"]) == {
        "updated_input": {"title": "y"}
    }


def test_change_of_another_tool_is_only_suggested() -> None:
    payload = {**SENT["preToolUse"], "tool_name": "Write", "tool_input": {"file_path": "/p/a", "content": "echo"}}
    then = {"replace": {"in": "input.content", "pattern": "echo", "with": "printf"}}
    reply = _judge({"tool": "write_file"}, then, "preToolUse", payload)
    assert reply["permission"] == "deny"
    assert "printf" in reply["user_message"]


@pytest.mark.parametrize(
    "name", ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure"]
)
def test_context_is_added_and_short_enough(name: str) -> None:
    parsed = CURSOR.read(name, SENT[name])
    for text in ("mind the tests", "x" * 20_000):
        reply = json.loads(CURSOR.reply(parsed, [Decision(parsed.events[0], notes=(Note(text),))]).stdout)
        assert reply["additional_context"].startswith(text[:10])
        assert len(reply["additional_context"]) <= MAX_CONTEXT


def test_failure_of_hookline_blocks_where_cursor_can_block(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    install("cursor", machine)
    hooks = json.loads((machine.home / ".cursor/hooks.json").read_text())["hooks"]
    closed = {event for event, entries in hooks.items() if entries[0].get("failClosed")}
    assert closed == {"beforeSubmitPrompt", "preToolUse", "subagentStart"}
    install("cursor", machine, InstallScope.PROJECT, MissingPolicy.OPEN)
    assert "failClosed" not in (machine.project / ".cursor/hooks.json").read_text()


def test_two_slashes_in_a_text_are_refused_because_cursor_ignores_the_file(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    path = machine.home / ".cursor/hooks.json"
    path.parent.mkdir()
    entry = {"command": "curl http://localhost/x"}
    path.write_text(json.dumps({"version": 1, "hooks": {"stop": [entry]}}))
    with pytest.raises(HooklineError, match="//"):
        install("cursor", machine)
    path.unlink()
    install("cursor", machine)
    assert "Cursor ignores" not in str(examine_agent(CURSOR, machine, Book(())).findings)
    installed = json.loads(path.read_text())
    installed["hooks"]["stop"].append(entry)
    path.write_text(json.dumps(installed))
    (finding,) = [each for each in examine_agent(CURSOR, machine, Book(())).findings if each.about == "entry"]
    assert (finding.mark, "takes the // in" in finding.message) == ("problem", True)
