"""One hooks file, without any agent's name in it, guards every agent."""

from __future__ import annotations

import json

import pytest

from agent_payloads import event_name, payloads
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.project import load_text

BOOK = load_text(
    r"""
hooks:
  - id: no-echo
    on: tool.before
    when: {tool: bash, input: {command: '^(echo|ls|rm)\b'}}
    then: {deny: No echo here}
  - id: no-env
    on: tool.before
    when: {tool: [write_file, edit_file, read_file], input: {path: '\.env$|^/a$|/a\.py$'}}
    then: {deny: Hands off}
  - id: no-issues
    on: tool.before
    when: {tool: [mcp.github.create_issue, mcp.postgres.query]}
    then: {deny: No issues}
""",
    "hookline.yaml",
    "native",
)
SHELL = {name: get_agent(name).sample_call("/p")[0] for name in AGENT_NAMES}
FILES = [
    ("claude-code", "PreToolUse-MultiEdit"),
    ("codex", "PreToolUse-apply_patch"),
    ("opencode", "tool.execute.before-patch"),
    ("qwen-code", "PreToolUse-write"),
    ("cursor", "beforeReadFile"),
    ("windsurf", "pre_read_code"),
    ("windsurf", "pre_write_code"),
    ("windsurf", "pre_write_code-new"),
    ("kiro", "preToolUse-fs_read"),
    ("kiro", "preToolUse-fs_write"),
    ("kiro", "preToolUse-create"),
    ("droid", "PreToolUse-edit"),
    ("vscode-copilot", "PreToolUse-edit"),
    ("pi", "tool_call-edit"),
    ("auggie", "PreToolUse-edit"),
    ("openhands", "PreToolUse-edit"),
    ("openhands", "PreToolUse-create"),
    ("letta-code", "PreToolUse-edit"),
    ("crush", "PreToolUse-edit"),
    ("openclaw", "before_tool_call-edit"),
    ("kimi-code", "PreToolUse-edit"),
    ("deepagents-code", "PreToolUse-edit"),
    ("hermes", "pre_tool_call-patch"),
]
TOOLS = [
    ("claude-code", "PreToolUse-mcp"),
    ("gemini-cli", "BeforeTool-mcp"),
    ("cursor", "beforeMCPExecution-documented"),
    ("cline", "PreToolUse-mcp"),
    ("windsurf", "pre_mcp_tool_use"),
    ("kiro", "preToolUse-mcp"),
    ("kilo", "tool.execute.before-mcp"),
    ("grok-build", "PreToolUse-mcp"),
    ("vscode-copilot", "PreToolUse-mcp"),
    ("hermes", "pre_tool_call-mcp"),
    ("auggie", "PreToolUse-mcp"),
    ("crush", "PreToolUse-mcp"),
]


def _reply_text(name: str, file: str) -> str:
    agent, payload = get_agent(name), payloads(name)[file]
    events = agent.read(event_name(file), payload).events
    reply = agent.reply(agent.read(event_name(file), payload), [BOOK.decide_now(event) for event in events])
    return reply.stdout + reply.stderr


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_shell_is_guarded(name: str) -> None:
    assert "No echo here" in _reply_text(name, SHELL[name])


def test_copilots_other_shapes_are_guarded() -> None:
    assert "No echo here" in _reply_text("copilot-cli", "PreToolUse")
    assert "No echo here" in _reply_text("copilot-cli", "preToolUse-text")


@pytest.mark.parametrize(("name", "file"), FILES)
def test_every_file_is_guarded(name: str, file: str) -> None:
    assert "Hands off" in _reply_text(name, file)


@pytest.mark.parametrize(("name", "file"), TOOLS)
def test_every_mcp_tool_is_guarded(name: str, file: str) -> None:
    assert "No issues" in _reply_text(name, file)


def test_a_field_given_twice_is_guarded_as_the_agent_reads_it() -> None:
    """Each agent's tool reads its own name for the path; another beside it is no way around a guard."""
    for name, event, payload in (
        ("claude-code", "PreToolUse", {"tool_name": "Write", "tool_input": {"path": "x", "file_path": "/p/.env"}}),
        ("cursor", "preToolUse", {"tool_name": "Write", "tool_input": {"path": "x", "file_path": "/p/.env"}}),
        (
            "kiro",
            "preToolUse",
            {"tool_name": "fs_write", "tool_input": {"file_path": "x", "path": "/p/.env", "command": "create"}},
        ),
    ):
        (read,) = get_agent(name).read(event, payload).events
        assert BOOK.decide_now(read).denied, name


def test_replies_are_empty_or_json() -> None:
    for name in AGENT_NAMES:
        output = _reply_text(name, SHELL[name])
        if name not in ("windsurf", "kiro", "kimi-code", "letta-code"):
            assert isinstance(json.loads(output), dict)
