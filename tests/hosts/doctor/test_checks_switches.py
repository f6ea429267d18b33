from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.doctor.checks import find_disabled_hooks, find_managed_files
from hookline.hosts.doctor.finding import Mark
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
        ("copilot-cli", {"home/.copilot/settings.json": OFF}, "~/.copilot/settings.json"),
        ("copilot-cli", {"project/.github/copilot/settings.json": OFF}, ".github/copilot/settings.json"),
        (
            "copilot-cli",
            {"project/.github/copilot/settings.local.json": ON, "project/.github/copilot/settings.json": OFF},
            None,
        ),
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


@pytest.mark.parametrize(
    ("name", "file", "text", "switch"),
    [
        (
            "claude-code",
            "etc/claude-code/managed-settings.json",
            '{"allowManagedHooksOnly": true}',
            "allowManagedHooksOnly",
        ),
        ("claude-code", "etc/claude-code/managed-settings.d/10-team.json", OFF, "disableAllHooks"),
        ("claude-code", "etc/claude-code/managed-settings.json", "{}", ""),
        ("claude-code", "etc/claude-code/managed-settings.json", "not JSON", ""),
        ("codex", "etc/codex/requirements.toml", "allow_managed_hooks_only = true", "allow_managed_hooks_only"),
        ("codex", "etc/codex/requirements.toml", "", ""),
        (
            "gemini-cli",
            "etc/gemini-cli/settings.json",
            '{"hooksConfig": {"enabled": false}}',
            "hooksConfig.enabled: false",
        ),
        ("copilot-cli", "etc/github-copilot/policy.d/a.json", "{}", ""),
        ("cursor", "etc/cursor/hooks.json", '{"version": 1, "hooks": {}}', ""),
        ("windsurf", "etc/windsurf/hooks.json", '{"hooks": {}}', ""),
        ("auggie", "etc/augment/settings.json", "{}", ""),
        ("qwen-code", "etc/qwen-code/settings.json", OFF, "disableAllHooks"),
    ],
)
def test_a_file_of_the_administrator_is_named(tmp_path: Path, name: str, file: str, text: str, switch: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (finding,) = find_managed_files(get_agent(name), replace(make_machine(tmp_path), root=tmp_path))
    assert finding.mark is (Mark.PROBLEM if switch else Mark.UNKNOWN)
    assert str(path) in finding.message
    assert switch in finding.message


def test_without_files_of_an_administrator_nothing_is_said(tmp_path: Path) -> None:
    machine = replace(make_machine(tmp_path), root=tmp_path)
    assert [list(find_managed_files(get_agent(name), machine)) for name in AGENT_NAMES] == [[]] * len(AGENT_NAMES)
