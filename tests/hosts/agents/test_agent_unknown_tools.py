"""Shell, write and edit calls as other agents send them, by names that no table of ours has: a guard hears each."""

from __future__ import annotations

from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.engine.book import Book, Layer
from hookline.hosts.agents import get_agent

GUARDS = Book(
    [
        Layer(
            "guards",
            load_hooks(
                "native",
                {
                    "hooks": [
                        {
                            "id": "shell",
                            "on": "tool.before",
                            "when": {"tool": "bash", "input": {"command": "out.txt"}},
                            "then": {"deny": "no"},
                        },
                        {
                            "id": "files",
                            "on": "tool.before",
                            "when": {"tool": ["write_file", "edit_file"], "input": {"path": r"\.env$"}},
                            "then": {"deny": "no"},
                        },
                        {"id": "all", "on": "tool.before", "when": {"kind": ["shell", "write"]}, "then": "allow"},
                    ]
                },
                "hookline.json",
            ),
        )
    ]
)
COMMAND = "echo hello-from-tool > out.txt; cat out.txt"


@pytest.mark.parametrize(
    ("tool", "input", "by"),
    [
        ("run_terminal_command", {"command": COMMAND, "description": "mock"}, "shell"),  # Grok
        ("launch-process", {"command": COMMAND, "wait": True, "max_wait_seconds": 20, "cwd": "/p"}, "shell"),  # Auggie
        ("Execute", {"command": COMMAND, "summary": "mock", "riskLevel": "low"}, "shell"),  # Droid
        ("terminal", {"command": COMMAND}, "shell"),  # Hermes
        ("exec", {"command": COMMAND, "workdir": "/p"}, "shell"),  # OpenClaw
        ("execute", {"command": COMMAND}, "shell"),  # deepagents
        ("bash", {"command": COMMAND, "description": "mock call"}, "shell"),  # Pi, Kilo
        ("background_process", {"action": "start", "command": COMMAND}, "shell"),  # Kilo
        ("run_commands", {"commands": ["ls", COMMAND]}, "shell"),  # Cline 3
        ("search_replace", {"file_path": ".env", "old_string": "a", "new_string": "b"}, "files"),  # Grok
        ("Create", {"file_path": ".env", "content": "x"}, "files"),  # Droid
        ("edit", {"path": ".env", "edits": [{"oldText": "a", "newText": "b"}]}, "files"),  # Pi
        ("write", {"path": ".env", "content": "x"}, "files"),  # Pi
        ("save-file", {"path": ".env", "file_content": "x"}, "files"),  # Auggie
        ("str-replace-editor", {"command": "str_replace", "path": ".env", "old_str": "a"}, "files"),  # Auggie
        ("remove-files", {"path": ".env"}, "files"),
    ],
)
def test_a_guard_hears_it(tool: str, input: dict[str, Any], by: str) -> None:
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": tool, "tool_input": input}
    decisions = [GUARDS.decide_now(event) for event in get_agent("claude-code").read("PreToolUse", payload).events]
    assert by in {decision.by for decision in decisions}


def test_no_guess_allows() -> None:
    payload = {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "tool_name": "local_shell",
        "tool_input": {"command": "ls"},
    }
    (event,) = get_agent("claude-code").read("PreToolUse", payload).events
    assert GUARDS.decide_now(event).verdict.word == "silent"
