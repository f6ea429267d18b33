"""Shell, write and edit calls as other agents send them, by names that no table of ours has: a guard hears each."""

from __future__ import annotations

from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
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
    assert by in {decision.by for decision in _decide("claude-code", tool, input)}


@pytest.mark.parametrize("agent", ["droid", "kimi-code", "letta-code", "deepagents-code"])
@pytest.mark.parametrize(
    ("tool", "input", "by"),
    [
        ("process", {"command": COMMAND}, "shell"),  # of OpenClaw and Hermes
        ("files", {"cmd": COMMAND}, "shell"),  # these are of hookline's own agent
        ("memory.list", {"command": COMMAND}, "shell"),
        ("glob", {"command": ["bash", "-c", COMMAND]}, "shell"),
        ("sql", {"script": COMMAND}, "shell"),  # of Copilot
        ("view", {"command": COMMAND}, "shell"),  # the same, and a read there
        ("batch", {"calls": [{"tool": "process", "input": {"command": COMMAND}}]}, "shell"),
        ("storage", {"path": ".env", "content": "x"}, "files"),
        ("finish", {"path": ".env", "old_string": "a", "new_string": "b"}, "files"),  # of OpenHands
    ],
)
def test_a_name_in_the_table_of_another_agent_hides_nothing(
    agent: str, tool: str, input: dict[str, Any], by: str
) -> None:
    decisions = _decide(agent, tool, input)
    assert by in {decision.by for decision in decisions}


@pytest.mark.parametrize("tool", ["process", "view"])
def test_what_its_fields_say_allows_nothing(tool: str) -> None:
    verdicts = [decision.verdict.word for decision in _decide("droid", tool, {"command": "ls"})]
    assert sorted(verdicts) == ["allow", "silent"]


@pytest.mark.parametrize(("agent", "tool"), [("claude-code", "SlashCommand"), ("openhands", "task_tracker")])
def test_an_agents_own_table_is_certain(agent: str, tool: str) -> None:
    (decision,) = _decide(agent, tool, {"command": COMMAND})
    assert decision.by is None


def _decide(agent: str, tool: str, input: dict[str, Any]) -> list[Decision]:
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": tool, "tool_input": input}
    return [GUARDS.decide_now(event) for event in get_agent(agent).read("PreToolUse", payload).events]


def test_no_guess_allows() -> None:
    (decision,) = _decide("claude-code", "local_shell", {"command": "ls"})
    assert decision.verdict.word == "silent"
