"""Hooks of every dialect act in every framework."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from trial import FRAMEWORK, Trial, driver

DRIVER: Any = driver()
GREP = 'if grep -q {word}; then echo "Not {word}." >&2; exit 2; fi'
FILES = {
    "hookline.yaml": "standard_agents: agents\nhooks:\n"
    "  - {id: native, on: tool.before, when: {input: {command: native}}, then: {deny: Not native.}}\n",
    ".claude/settings.json": {
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": GREP.format(word="claude-word")}]}
            ]
        }
    },
    ".ai_agents/settings.json": {
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": GREP.format(word="ai-word")}]}]}
    },
    ".microai/settings.json": {
        "hooks": {"PreToolUse": [{"matcher": "Bash(microai:*)", "command": "exit 1", "continueOnFailure": False}]}
    },
    ".flo/hooks.json": {
        "hooks": {"PreToolUse": [{"inputMatchers": {"command": "flo"}, "action": "deny", "reason": "Not flo."}]}
    },
    "digitorn.yaml": """runtime:
  hooks:
    - id: digitorn
      on: tool_end
      condition: {type: tool_name, match: bash}
      action: {type: inject_message, content: Digitorn was here.}
""",
    "agents/main.py": """from hookline.standard_agents import define_agent, define_hook


@define_hook(hook="before_store_tool_result", id="count")
async def count(state, tool_call, result):
    messages = await state.get_messages()
    return {**result, "result": f"{result['result']} after {len(messages)} messages of {state.thread_id is not None}"}


define_agent(name="main", hooks=["count"])
""",
}
DENIED = ("native", "claude-word", "ai-word", "microai", "flo")


@pytest.fixture
def project(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose hooks the user trusts."""
    home, folder = own_state / "home", own_state / "project"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name, content in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    trust = [sys.executable, "-m", "hookline", "trust", "--yes"]
    done = subprocess.run(trust, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.skipif(FRAMEWORK == "claude_agent_sdk", reason="Claude Code has tools of its own")
def test_hooks_of_every_dialect(project: Path) -> None:
    trial = Trial([[f"{word} x"] for word in (*DENIED, "free")], options={"directory": project})
    DRIVER.run(trial)
    assert trial.ran == ["free x"]
    for word in DENIED:
        assert f"Not {word}." in trial.read_last or word == "microai"
    assert "Digitorn was here." in trial.read_last
    assert " messages of True" in trial.read_last or getattr(DRIVER, "AGENT", "main") != "main"
