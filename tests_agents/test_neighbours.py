"""Agents that read each other's files, and projects that are not trusted yet."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from agents import AGENTS
from runs import SCRIPT, end_engine, hookline, new_sandbox, run

from hookline.hosts.doctor.fake_model import ModelServer

BY_NAME = {agent.name: agent for agent in AGENTS}
UNTRUSTED_HOOKS = """
hooks:
  - {id: guard, on: tool.before, when: {tool: bash, input: {command: secret}}, then: {deny: Not here}}
  - {id: scan, on: tool.before, then: {run: 'echo ran > "$HOME/scanned"'}, on_error: open}
"""


def test_copilot_reads_claudes_settings_and_no_hook_fires_twice(tmp_path: Path) -> None:
    copilot, sandbox = BY_NAME["copilot-cli"], new_sandbox(tmp_path)
    with ModelServer(list(SCRIPT.values())) as model:
        copilot.copy_user_files(sandbox)
        hookline(sandbox, "trust", "--yes")
        for name in ("claude-code", "copilot-cli"):
            hookline(sandbox, "install", name, "--project")
        ran = run(copilot, sandbox, model)
    end_engine(sandbox)
    assert ran.files.keys() == SCRIPT.keys() - {"denied"}, ran.output
    assert ran.result("reported").count("The owner reads every report") == 1


@pytest.mark.parametrize("matcher", ["", "*"])
def test_claudes_hooks_run_once_in_copilot_whether_it_reads_the_file_or_not(tmp_path: Path, matcher: str) -> None:
    """Copilot rejects a file with an empty matcher."""
    copilot, sandbox = BY_NAME["copilot-cli"], new_sandbox(tmp_path)
    (sandbox.project / "hookline.yaml").unlink()
    guard = 'case "$(cat)" in *secret*) echo Keep it. >&2; exit 2;; esac'
    groups = {
        "PreToolUse": [(matcher, 'echo any >> "$HOME/ran"'), ("Bash", f'echo guard >> "$HOME/ran"; {guard}')],
        "UserPromptSubmit": [("", 'echo prompt >> "$HOME/ran"; echo Mind the gap.')],
    }
    hooks = {
        event: [{"matcher": each, "hooks": [{"type": "command", "command": command}]} for each, command in listed]
        for event, listed in groups.items()
    }
    (sandbox.project / ".claude").mkdir()
    (sandbox.project / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
    with ModelServer(list(SCRIPT.values())) as model:
        copilot.copy_user_files(sandbox)
        hookline(sandbox, "trust", "--yes")
        hookline(sandbox, "install", copilot.name, "--project")
        ran = run(copilot, sandbox, model)
    end_engine(sandbox)
    assert ran.files.keys() == SCRIPT.keys() - {"denied"}, ran.output
    calls = Counter((sandbox.home / "ran").read_text("utf-8").split())
    assert calls == {"any": len(SCRIPT), "guard": len(SCRIPT), "prompt": 1}
    if matcher == "":  # hookline runs them as Claude Code does
        assert "Keep it." in ran.result("denied")
        assert "Mind the gap." in ran.known_after("denied")


def test_untrusted_project_can_deny_but_not_run_anything(tmp_path: Path) -> None:
    claude, sandbox = BY_NAME["claude-code"], new_sandbox(tmp_path)
    (sandbox.project / "hookline.yaml").write_text(UNTRUSTED_HOOKS, "utf-8")
    with ModelServer(list(SCRIPT.values())) as model:
        claude.copy_user_files(sandbox)
        hookline(sandbox, "install", claude.name, "--user")
        untrusted = run(claude, sandbox, model)
        scanned = (sandbox.home / "scanned").exists()
        hookline(sandbox, "trust", "--yes")
        run(claude, sandbox, model)
    end_engine(sandbox)
    assert "denied" not in untrusted.files
    assert untrusted.files.get("passed") == "passed", untrusted.output
    assert not scanned
    assert (sandbox.home / "scanned").exists()
