"""Claude Code's settings: whose file it is, how long hooks take, what the schema knows, hostile files."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.dialects.dialect import recognise_dialect
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.event import Event

COMMAND = {"type": "command", "command": "true"}


def recognised_dialect(file: str, hooks: Any) -> str:
    document, _ = read_text(json.dumps({"hooks": hooks}), file)
    assert document is not None
    found = recognise_dialect(document)
    return found.code if isinstance(found, Problem) else found.name


@pytest.mark.parametrize(
    ("file", "hooks", "name"),
    [
        (".claude/settings.json", {}, "claude_code"),
        ("/home/me/.claude/settings.local.json", {"PreToolUse": []}, "claude_code"),
        ("plugin/hooks/hooks.json", {"PreToolUse": [{"hooks": [COMMAND]}]}, "claude_code"),
        ("x.json", {"Stop": [{"hooks": [COMMAND]}]}, "ambiguous-dialect"),
        ("x.json", {"Stop": [{"hooks": [COMMAND]}], "SubagentStop": []}, "claude_code"),
        ("x.json", {"PreToolUse": [{"hooks": [{**COMMAND, "if": "Bash"}]}]}, "claude_code"),
        ("x.json", {"PreToolUse": [{"hooks": [{"type": "http", "url": "http://a"}]}]}, "claude_code"),
        ("settings.json", {"PreToolUse": [{"matcher": "Bash", "hooks": [COMMAND]}]}, "ambiguous-dialect"),
        ("settings.json", {"PreToolUse": [{"matcher": "FileWriter", "hooks": [COMMAND]}]}, "ai_agents"),
        (".ai_agents/settings.json", {"PreToolUse": [{"hooks": [COMMAND]}]}, "ai_agents"),
        (".qwen/settings.json", {"Stop": [{"hooks": [COMMAND]}]}, "qwen_code"),
        (".microai/settings.json", {"SessionStart": [{"command": "x"}]}, "microai"),
    ],
)
def test_a_file_is_recognised_or_never_guessed(file: str, hooks: Any, name: str) -> None:
    assert recognised_dialect(file, hooks) == name


@pytest.mark.parametrize(
    ("event", "handler", "seconds"),
    [
        ("PreToolUse", COMMAND, 600),
        ("UserPromptSubmit", COMMAND, 30),
        ("SessionEnd", COMMAND, 1.5),
        ("SessionEnd", {**COMMAND, "timeout": 5}, 5),
        ("Stop", {"type": "prompt", "prompt": "p"}, 30),
        ("Stop", {"type": "agent", "prompt": "p"}, 60),
        ("Stop", {"type": "http", "url": "http://a"}, 600),
    ],
)
def test_how_long_a_hook_may_take(event: str, handler: Any, seconds: float) -> None:
    (hook,) = load_hooks("claude_code", {"hooks": {event: [{"hooks": [handler]}]}})
    assert hook.timeout == timedelta(seconds=seconds)


def test_powershell_is_a_program() -> None:
    (hook,) = load_hooks("claude_code", {"hooks": {"Stop": [{"hooks": [{**COMMAND, "shell": "powershell"}]}]}})
    assert isinstance(hook.then, RunProgram)
    command = hook.then.program.render(Event("stop", {}), timedelta(seconds=1))
    assert command.argv == ("pwsh", "-NoProfile", "-NonInteractive", "-Command", "true")


def test_a_plugin_knows_its_directory() -> None:
    exec_form = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run", "args": []}
    value = {"hooks": {"Stop": [{"hooks": [COMMAND, exec_form]}]}}
    shell, program = load_hooks("claude_code", value, "my{{x}}/hooks/hooks.json")
    root = str(Path("my{{x}}").absolute())
    for hook in (shell, program):
        assert isinstance(hook.then, RunProgram)
        command = hook.then.program.render(Event("stop", {}), timedelta(seconds=1))
        assert command.env["CLAUDE_PLUGIN_ROOT"] == root
    assert command.argv == (f"{root}/run",)
