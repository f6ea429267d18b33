from __future__ import annotations

from pathlib import Path

import pytest

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.checks import find_disabled_hooks
from install_sandbox import install, make_machine

pytestmark = pytest.mark.slow


OFF, ON = '{"disableAllHooks": true}', '{"disableAllHooks": false}'
USER, PROJECT, LOCAL = (
    "home/.claude/settings.json",
    "project/.claude/settings.json",
    "project/.claude/settings.local.json",
)


@pytest.mark.parametrize(
    ("name", "files", "where"),
    [
        ("claude-code", {USER: OFF}, "~/.claude/settings.json"),
        ("claude-code", {LOCAL: OFF}, ".claude/settings.local.json"),
        ("claude-code", {PROJECT: OFF, USER: ON}, ".claude/settings.json"),
        ("claude-code", {LOCAL: ON, PROJECT: OFF, USER: OFF}, None),
        ("claude-code", {USER: ON}, None),
        ("qwen-code", {"project/.qwen/settings.json": OFF}, ".qwen/settings.json"),
        ("copilot-cli", {"home/.copilot/hooks/hookline.json": OFF}, "~/.copilot/hooks/hookline.json"),
        (
            "gemini-cli",
            {"home/.gemini/settings.json": '{"hooksConfig": {"enabled": false}}'},
            "~/.gemini/settings.json",
        ),
        ("gemini-cli", {"project/.gemini/settings.json": '{"hooksConfig": {"disabled": ["hookline"]}}'}, ".gemini/"),
        ("gemini-cli", {"home/.gemini/settings.json": '{"hooksConfig": {"enabled": true, "disabled": ["x"]}}'}, None),
    ],
)
def test_the_strongest_file_disables_hooks(tmp_path: Path, name: str, files: dict[str, str], where: str | None) -> None:
    machine = make_machine(tmp_path)
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    install(name, machine)
    messages = [finding.message for finding in find_disabled_hooks(get_agent(name), machine)]
    assert [each.startswith(where or "") for each in messages] == ([True] if where else [])
