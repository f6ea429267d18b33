from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import CLAUDE_SETTINGS

pytestmark = pytest.mark.usefixtures("claude_settings")


def test_a_dry_run_shows_the_difference_and_changes_nothing(hookline, claude_settings):
    result = hookline("install", "claude-code", "--dry-run")
    assert result.exit_code == 0
    assert "+++ ~/.claude/settings.json" in result.stdout
    assert '+  "hooks": {' in result.stdout
    assert claude_settings.read_text() == CLAUDE_SETTINGS
    assert not (claude_settings.parents[1] / ".local").exists()


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


def test_it_asks_about_each_agent_that_is_here(hookline, claude_settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    (claude_settings.parents[1] / ".cursor").mkdir()
    result = hookline("install", input="n\ny\n")
    assert result.exit_code == 0, result.output
    assert "Claude Code?" in result.stdout
    assert "Cursor now calls hookline" in result.stdout
    assert "not tested by running it" in result.stdout
    assert claude_settings.read_text() == CLAUDE_SETTINGS
    unanswered = hookline("install", input="")
    assert (unanswered.exit_code, "--yes" in unanswered.stderr) == (3, True)
    assert "Claude Code now calls hookline" in hookline("install", "--yes").stdout


def test_one_that_cannot_be_edited_does_not_hold_up_the_others(hookline, claude_settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    claude_settings.write_text("{")
    (claude_settings.parents[1] / ".qwen").mkdir()
    result = hookline("install", "--yes")
    assert result.exit_code == 1
    assert "settings.json:1" in result.stderr
    assert "Qwen Code now calls hookline" in result.stdout


def test_no_agent_installed(hookline, claude_settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    claude_settings.unlink()
    claude_settings.parent.rmdir()
    assert "No coding agent" in hookline("install").stdout


def test_either_for_the_user_or_in_the_project(hookline):
    assert hookline("install", "codex", "--user", "--project").exit_code == 1


def test_hooks_are_not_served_over_http(hookline):
    """Where nobody answers, some agents run the tool."""
    assert "No such option" in hookline("install", "claude-code", "--http").stderr


def test_a_name_that_is_nearly_right(hookline):
    assert "Did you mean codex?" in hookline("install", "codx").stderr


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
