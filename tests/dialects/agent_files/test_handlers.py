"""Commands, URLs, MCP tools and prompts in the hook files of agents."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.hook import Hook


def hook_of(name: str, event: str, file: str = "file.json", **handler: Any) -> Hook:
    entry = handler if name in ("cursor", "copilot_cli", "windsurf", "kiro") else {"hooks": [handler]}
    document, _ = read_text(json.dumps({"hooks": {event: [entry]}}), file)
    assert document is not None
    (hook,) = get_dialect(name).load(document).hooks
    return hook


@pytest.mark.parametrize(
    ("name", "event", "handler", "seconds"),
    [
        ("codex", "PreToolUse", {"timeout": 5}, 5),
        ("codex", "PreToolUse", {}, 600),
        ("codex", "SessionEnd", {}, 1),
        ("gemini_cli", "BeforeTool", {"timeout": 5000}, 5),
        ("gemini_cli", "BeforeTool", {}, 60),
        ("qwen_code", "PreToolUse", {"timeout": 5}, 5),
        ("qwen_code", "PreToolUse", {"timeout": 5000}, 5),
        ("droid", "PreToolUse", {}, 60),
        ("cursor", "preToolUse", {}, 60),
        ("copilot_cli", "preToolUse", {"timeoutSec": 5, "timeout": 9}, 5),
        ("copilot_cli", "preToolUse", {}, 30),
        ("kiro", "preToolUse", {"timeout_ms": 500}, 0.5),
        ("windsurf", "pre_run_command", {}, 30),
        ("droid", "PreToolUse", {"timeout": 10**9}, 86_400),
        ("droid", "PreToolUse", {"timeout": 0}, 60),
    ],
)
def test_a_timeout_counts_as_the_agent_counts(name: str, event: str, handler: dict[str, Any], seconds: float) -> None:
    assert hook_of(name, event, type="command", command="true", **handler).timeout == timedelta(seconds=seconds)


def test_other_types_than_commands() -> None:
    post = hook_of("qwen_code", "PreToolUse", type="http", url="https://a.b/c", headers={"X": "y"}).then
    assert isinstance(post, PostEvent)
    assert post.headers == (("X", "y"),)
    call = hook_of("codex", "PreToolUse", type="mcp_tool", server="s", tool="t", input={"a": "{{b}}"}).then
    assert isinstance(call, CallTool)
    assert (call.tool, call.input.value) == ("mcp__s__t", {"a": "{{b}}"})
    assert isinstance(hook_of("cursor", "preToolUse", type="prompt", prompt="safe?").then, AskModel)


def test_a_project_s_commands_run_in_the_project_and_a_user_s_beside_their_file() -> None:
    project = hook_of("cursor", "preToolUse", command="./a.sh").then
    own = hook_of("cursor", "preToolUse", "~/.cursor/hooks.json", command="./a.sh").then
    below = hook_of("windsurf", "pre_run_command", command="x", working_directory="sub").then
    assert isinstance(project, RunProgram)
    assert isinstance(own, RunProgram)
    assert isinstance(below, RunProgram)
    assert project.program.cwd is not None
    assert project.program.cwd.source == "{{workspace}}"
    assert own.program.cwd is not None
    assert own.program.cwd.source.endswith("/.cursor")
    assert below.program.cwd is not None
    assert below.program.cwd.source == "{{workspace}}/sub"


def test_a_directory_below_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    action = hook_of("windsurf", "pre_run_command", command="x", working_directory="~/tools").then
    assert isinstance(action, RunProgram)
    assert action.program.cwd is not None
    assert action.program.cwd.source == "/home/ann/tools"
