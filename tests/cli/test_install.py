from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from install_sandbox import running_engine

TEXT = '{\n  // mine\n  "model": "opus"\n}\n'


@pytest.fixture(autouse=True)
def settings(project, monkeypatch):
    for name in ("CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/dev/null")
    path = project.parent / "home/.claude/settings.json"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def test_a_dry_run_shows_the_difference_and_changes_nothing(hookline, settings):
    result = hookline("install", "claude-code", "--dry-run")
    assert result.exit_code == 0
    assert "+++ ~/.claude/settings.json" in result.stdout
    assert '+  "hooks": {' in result.stdout
    assert settings.read_text() == TEXT
    assert not (settings.parents[1] / ".local").exists()


def test_install_twice_then_uninstall(hookline, settings):
    first = hookline("install", "claude-code")
    assert first.exit_code == 0, first.output
    assert "Claude Code now calls hookline on 11 events: ~/.claude/settings.json" in first.stdout
    assert os.access(settings.parents[1] / ".local/share/hookline/bridge", os.X_OK)
    assert "already" in hookline("install", "claude-code").stdout
    assert "-  // mine" not in hookline("uninstall", "claude-code", "--dry-run").stdout
    assert hookline("uninstall", "claude-code").exit_code == 0
    assert settings.read_text() == TEXT
    assert not (settings.parents[1] / ".local/share/hookline/bridge").exists()
    assert "nothing to do" in hookline("uninstall", "claude-code").stdout


def test_who_has_it_everywhere_can_bring_it_into_a_project_for_others(hookline):
    hookline("install", "claude-code")
    result = hookline("install", "claude-code", "--project")
    assert result.exit_code == 0
    assert "~/.claude/settings.json calls hookline too. An event that both report is decided once." in result.stderr
    assert "hookline is not installed here" in Path(".claude/settings.json").read_text()


def test_a_project_goes_on_without_hookline_only_where_somebody_chose_so(hookline):
    assert hookline("install", "codex", "--project", "--missing", "open").exit_code == 0
    assert "exit 2" not in Path(".codex/hooks.json").read_text()
    assert hookline("install", "codex", "--project").exit_code == 0
    assert "exit 2" in Path(".codex/hooks.json").read_text()
    assert hookline("install", "codex", "--missing", "whatever").exit_code == 1


def test_project_scope(hookline):
    Path("below").mkdir()
    Path(".git").mkdir()
    os.chdir("below")
    assert hookline("install", "gemini-cli", "--project").exit_code == 0
    assert "$HOME/.local/share/hookline/bridge" in Path("../.gemini/settings.json").read_text()
    assert hookline("uninstall", "gemini-cli", "--project").exit_code == 0
    assert not Path("../.gemini").exists()


def test_it_asks_about_each_agent_that_is_here(hookline, settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    (settings.parents[1] / ".cursor").mkdir()
    result = hookline("install", input="n\ny\n")
    assert result.exit_code == 0, result.output
    assert "Claude Code?" in result.stdout
    assert "Cursor now calls hookline" in result.stdout
    assert "not verified by running" in result.stdout
    assert settings.read_text() == TEXT
    unanswered = hookline("install", input="")
    assert (unanswered.exit_code, "--yes" in unanswered.stderr) == (3, True)
    assert "Claude Code now calls hookline" in hookline("install", "--yes").stdout


def test_one_that_cannot_be_edited_does_not_hold_up_the_others(hookline, settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    settings.write_text("{")
    (settings.parents[1] / ".qwen").mkdir()
    result = hookline("install", "--yes")
    assert result.exit_code == 1
    assert "settings.json:1" in result.stderr
    assert "Qwen Code now calls hookline" in result.stdout


def test_no_agent_installed(hookline, settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    settings.unlink()
    settings.parent.rmdir()
    assert "No coding agent" in hookline("install").stdout


def test_either_for_the_user_or_in_the_project(hookline):
    assert hookline("install", "codex", "--user", "--project").exit_code == 1


def test_a_name_that_is_nearly_right(hookline):
    assert "Did you mean codex?" in hookline("install", "codx").stderr


def test_mcp_servers_get_the_proxy_and_lose_it(hookline):
    text = '{\n  "mcpServers": {"notes": {"command": "notes", "args": ["."]}} // mine\n}\n'
    Path(".mcp.json").write_text(text)
    assert "mcp" in hookline("install", "--mcp", ".mcp.json", "--dry-run").stdout
    assert Path(".mcp.json").read_text() == text
    assert hookline("install", "--mcp", ".mcp.json").exit_code == 0
    assert '"mcp"' in Path(".mcp.json").read_text()
    assert "nothing to do" in hookline("install", "--mcp", ".mcp.json").stdout
    assert hookline("uninstall", "--mcp", ".mcp.json").exit_code == 0
    assert Path(".mcp.json").read_text() == text
    assert sorted(path.name for path in Path().iterdir()) == [".mcp.json"]


def test_a_backup_of_servers_is_as_private_as_their_file_and_always_without_the_proxy(hookline):
    file, backup = Path(".mcp.json"), Path(".mcp.json.before-hookline")
    text = '{"mcpServers": {"notes": {"command": "notes", "env": {"KEY": "secret"}}}}'
    file.write_text(text)
    file.chmod(0o600)
    hookline("install", "--mcp", ".mcp.json")
    assert (backup.read_text(), backup.stat().st_mode & 0o777) == (text, 0o600)
    more = ', "git": {"command": "git-server"}}}'
    file.write_text(file.read_text().removesuffix("}}") + more)
    hookline("install", "--mcp", ".mcp.json")
    assert backup.read_text() == text.removesuffix("}}") + more
    hookline("uninstall", "--mcp", ".mcp.json")
    assert (file.read_text(), backup.exists()) == (text.removesuffix("}}") + more, False)


@pytest.mark.parametrize("text", [None, "{}", "{"])
def test_a_file_without_servers_is_refused(hookline, text):
    if text is not None:
        Path("servers.json").write_text(text)
    result = hookline("install", "--mcp", "servers.json")
    assert result.exit_code == 1
    assert "servers.json" in result.stderr


def test_doctor_tells_what_is_wrong_and_what_to_do(hookline, settings, monkeypatch):
    assert hookline("doctor").exit_code == 1
    hookline("init")
    hookline("install", "codex")
    with running_engine(settings.parents[1]) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        result = hookline("doctor")
    assert result.exit_code == 1
    assert "!!  trust: not trusted: SessionStart" in result.stdout
    assert "ok  answer: a test call was denied" in result.stdout
    assert "ask-before-push  on tool.before  hookline.yaml:15" in result.stdout
    assert "not calling hookline: claude-code" in result.stdout


def test_doctor_for_programs(hookline, settings, monkeypatch):
    hookline("install", "claude-code")
    with running_engine(settings.parents[1]) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        result = hookline("doctor", "claude-code", "--json")
    assert result.exit_code == 0, result.stdout
    (told,) = json.loads(result.stdout)["agents"]
    assert (told["agent"], told["good"], told["hooks"]) == ("claude-code", True, [])
    assert told["round_trip_ms"] > 0
