from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import CLAUDE_SETTINGS
from install_sandbox import read_files, running_engine

pytestmark = pytest.mark.usefixtures("claude_settings")

RECURSIVE_DELETE = ("fire", "tool.before", "--tool", "bash", "--input", '{"command": "rm -fr src"}')


@pytest.fixture
def home(claude_settings, monkeypatch) -> Path:
    """Claude Code and Cursor have their directories here."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (claude_settings.parents[1] / ".cursor").mkdir()
    return claude_settings.parents[1]


def test_without_confirmation_nothing_changes(hookline, home, claude_settings):
    before = read_files(home.parent)
    shown = hookline("setup", input="\n\n\nn\n")
    assert (shown.exit_code, "Nothing was changed." in shown.stdout) == (3, True)
    assert "+extends: [hookline:recommended]" in shown.stdout
    assert "+++ ~/.claude/settings.json" in shown.stdout
    assert "+++ ~/.cursor/hooks.json" in shown.stdout
    planned = hookline("setup", "--json")
    assert planned.exit_code == 3
    plan = json.loads(planned.stdout)
    assert (plan["agents"], plan["scope"], plan["applied"]) == (["claude-code", "cursor"], "user", False)
    assert [each["file"] for each in plan["changes"]] == [
        "~/.config/hookline/hookline.yaml",
        "~/.claude/settings.json",
        "~/.cursor/hooks.json",
    ]
    unanswered = hookline("setup", input="")
    assert (unanswered.exit_code, "--yes" in unanswered.stderr) == (3, True)
    assert read_files(home.parent) == before


def test_a_wrong_answer_is_asked_again(hookline, home):
    shown = hookline("setup", input="claude-cod\nclaude-code\nrecomended\naudit, budget\nproject\nn\n")
    assert "Did you mean claude-code?" in shown.stdout
    assert "Did you mean recommended?" in shown.stdout
    assert "+extends: [hookline:audit, hookline:budget]" in shown.stdout
    assert "+++ .claude/settings.json" in shown.stdout
    assert "cursor/hooks.json" not in shown.stdout


@pytest.mark.slow
def test_for_the_user_the_pack_acts_and_can_be_undone(hookline, home, claude_settings, monkeypatch):
    with running_engine(home) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        done = hookline("setup", "--agent", "claude-code", input="\n\ny\n")
        assert done.exit_code == 0, done.output
        assert "ok  answer: a test call was denied" in done.stdout
        assert hookline(*RECURSIVE_DELETE).exit_code == 2
        again = hookline("setup", "--agent", "claude-code", "--yes")
    assert (again.exit_code, "Everything is already set up." in again.stdout) == (0, True)
    undo = done.stdout.partition("To undo it:\n")[2].splitlines()
    assert [line.strip() for line in undo] == [
        "hookline uninstall claude-code",
        "rm ~/.config/hookline/hookline.yaml ~/.config/hookline/hookline.schema.json",
    ]
    assert hookline("uninstall", "claude-code").exit_code == 0
    assert claude_settings.read_text() == CLAUDE_SETTINGS


@pytest.mark.slow
def test_in_a_project_the_file_is_written_and_trusted(hookline, home, project, monkeypatch):
    with running_engine(home) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        done = hookline("setup", "--project", "--yes", "--json", "--agent", "claude-code", "--pack", "production")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["applied"], report["doctor"][0]["good"]) == (True, True)
    assert report["undo"] == [
        "hookline uninstall claude-code --project",
        "hookline trust --revoke",
        "rm hookline.yaml hookline.schema.json",
    ]
    assert "extends: [hookline:production]" in (project / "hookline.yaml").read_text()
    assert hookline("trust").exit_code == 0
    assert hookline("trust", "--revoke").exit_code == 0
    (project / "hookline.yaml").unlink()
    assert "ask-before-publish" not in hookline("list").output
    assert not (home / ".config").exists()


def test_a_file_that_is_there_gets_one_line(hookline, home):
    file = home / ".config/hookline/hookline.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("version: 1\nhooks: []  # none yet\n")
    plan = json.loads(hookline("setup", "--json").stdout)
    lines = plan["changes"][0]["diff"].splitlines()
    assert [line for line in lines[2:] if line[:1] in "+-"] == ["+extends: [hookline:recommended]"]
    assert plan["undo"][-1].startswith("remove the line `extends: [hookline:recommended]`")


def test_another_extends_is_not_overwritten(hookline, home):
    file = home / ".config/hookline/hookline.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("extends: [hookline:audit]\n")
    before = read_files(home.parent)
    result = hookline("setup", "--yes")
    assert (result.exit_code, "Add hookline:recommended to it yourself" in result.stderr) == (1, True)
    assert read_files(home.parent) == before


def test_a_project_file_of_somebody_else_is_not_trusted_along(hookline, home, project):
    (project / "hookline.yaml").write_text(
        "hooks:\n  - {id: theirs, on: tool.before, then: {run: ./theirs.sh}, on_error: open}\n"
    )
    before = read_files(home.parent)
    result = hookline("setup", "--yes", "--project")
    assert (result.exit_code, "Review it with `hookline trust` first" in result.stderr) == (1, True)
    assert read_files(home.parent) == before


@pytest.mark.parametrize("name", ["hookline.yaml", "hookline.schema.json"])
def test_a_link_in_a_project_is_not_followed(hookline, home, project, name):
    mine = home / "mine"
    mine.write_text("mine")
    (project / name).symlink_to(mine)
    assert f"{name} is a link to {mine}" in hookline("setup", "--yes", "--project").stderr
    assert mine.read_text() == "mine"


def test_settings_that_cannot_be_edited_stop_it_before_any_change(hookline, home, claude_settings):
    claude_settings.write_text("{")
    before = read_files(home.parent)
    result = hookline("setup", "--yes")
    assert (result.exit_code, "Claude Code: " in result.stderr) == (1, True)
    assert read_files(home.parent) == before


def test_without_an_agent_there_is_nothing_to_set_up(hookline, claude_settings, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    claude_settings.unlink()
    claude_settings.parent.rmdir()
    result = hookline("setup", "--yes")
    assert (result.exit_code, "no coding agent found" in result.stderr) == (1, True)
    assert "hookline setup --agent claude-code" in result.stderr
