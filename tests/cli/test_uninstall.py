from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.conftest import CLAUDE_SETTINGS

pytestmark = pytest.mark.usefixtures("claude_settings")


def test_install_twice_then_uninstall(hookline, claude_settings):
    first = hookline("install", "claude-code")
    assert first.exit_code == 0, first.output
    assert "Claude Code now calls hookline on 12 events: ~/.claude/settings.json" in first.stdout
    assert os.access(claude_settings.parents[1] / ".local/share/hookline/bridge", os.X_OK)
    assert "already" in hookline("install", "claude-code").stdout
    assert "-  // mine" not in hookline("uninstall", "claude-code", "--dry-run").stdout
    assert hookline("uninstall", "claude-code").exit_code == 0
    assert claude_settings.read_text() == CLAUDE_SETTINGS
    assert not (claude_settings.parents[1] / ".local/share/hookline/bridge").exists()
    assert "nothing to do" in hookline("uninstall", "claude-code").stdout


def test_project_scope(hookline):
    Path("below").mkdir()
    Path(".git").mkdir()
    os.chdir("below")
    assert hookline("install", "gemini-cli", "--project").exit_code == 0
    assert "$HOME/.local/share/hookline/bridge" in Path("../.gemini/settings.json").read_text()
    assert hookline("uninstall", "gemini-cli", "--project").exit_code == 0
    assert not Path("../.gemini").exists()


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


def test_all_removes_every_entry_in_every_project(hookline, claude_settings):
    for project in ("one", "two"):
        Path(project, ".git").mkdir(parents=True)
        os.chdir(project)
        assert hookline("install", "gemini-cli", "--project").exit_code == 0
        os.chdir("..")
    assert hookline("install", "claude-code").exit_code == 0
    assert "-" in hookline("uninstall", "--all", "--dry-run").stdout
    assert Path("one/.gemini/settings.json").exists()
    result = hookline("uninstall", "--all")
    assert result.exit_code == 0, result.output
    assert claude_settings.read_text() == CLAUDE_SETTINGS
    assert not Path("one/.gemini").exists()
    assert not Path("two/.gemini").exists()
    assert not (claude_settings.parents[1] / ".local/share/hookline/bridge").exists()
    assert "nothing to do" in hookline("uninstall", "--all").stdout


def test_all_restores_the_files_of_mcp_clients(hookline):
    text = '{"mcpServers": {"notes": {"command": "notes"}}}'
    for name in ("one.json", "two.json", "gone.json", "broken.json"):
        Path(name).write_text(text)
        assert hookline("install", "--mcp", name).exit_code == 0
    Path("gone.json").unlink()
    Path("broken.json").write_text("{")
    assert hookline("uninstall", "--mcp", "two.json").exit_code == 0
    records = Path(os.environ["HOME"], ".local/state/hookline/installed")
    before = sorted(records.iterdir())
    assert hookline("uninstall", "--all", "--dry-run").exit_code == 1
    assert Path("one.json").read_text() != text
    assert sorted(records.iterdir()) == before
    result = hookline("uninstall", "--all")
    assert result.exit_code == 1
    assert "broken.json" in result.stderr
    assert Path("one.json").read_text() == Path("two.json").read_text() == text
    Path("broken.json").write_text(text)
    assert hookline("uninstall", "--all").exit_code == 0
    assert "No coding agent calls hookline; nothing to do." in hookline("uninstall", "--all").stdout


def test_a_record_of_an_mcp_file_that_cannot_be_read_is_named(hookline):
    records = Path(os.environ["HOME"], ".local/state/hookline/installed")
    records.mkdir(parents=True)
    (records / "mcp-1.json").write_text("{")
    result = hookline("uninstall", "--all")
    assert result.exit_code == 1
    assert "mcp-1.json cannot be read" in result.stderr


def test_a_file_that_is_empty_without_the_entries_goes_without_a_record_too(hookline, claude_settings):
    Path(".git").mkdir()
    assert hookline("install", "cursor", "--project").exit_code == 0
    for record in (claude_settings.parents[1] / ".local/state/hookline/installed").glob("*.json"):
        record.unlink()
    assert hookline("uninstall", "cursor", "--project").exit_code == 0
    assert not Path(".cursor/hooks.json").exists()


def test_a_link_to_a_file_elsewhere_is_not_followed(hookline, tmp_path):
    outside = tmp_path / "mine.json"
    outside.write_text('{"mcpServers": {"notes": {"command": "notes"}}}')
    Path("repository").mkdir()
    Path("repository/.mcp.json").symlink_to(outside)
    before = outside.read_text()
    result = hookline("install", "--mcp", "repository/.mcp.json")
    assert (result.exit_code, "is a link" in result.stderr) == (1, True)
    assert outside.read_text() == before


@pytest.mark.parametrize("is_repository", [False, True])
def test_a_linked_directory_of_a_repository_is_not_followed(hookline, tmp_path, is_repository):
    outside = tmp_path / "mine"
    outside.mkdir()
    if is_repository:
        (outside / ".git").mkdir()
    (outside / "mcp.json").write_text('{"servers": {"notes": {"command": "notes"}}}')
    Path("repository/.git").mkdir(parents=True)
    Path("repository/.vscode").symlink_to(outside)
    Path("repository/own").mkdir()
    Path("repository/own/mcp.json").write_text('{"servers": {"notes": {"command": "notes"}}}')
    Path("repository/inside").symlink_to("own")
    before = (outside / "mcp.json").read_text()
    result = hookline("install", "--mcp", "repository/.vscode/mcp.json")
    assert (result.exit_code, "is a link" in result.stderr) == (1, True)
    assert (outside / "mcp.json").read_text() == before
    assert hookline("install", "--mcp", "repository/inside/mcp.json").exit_code == 0
