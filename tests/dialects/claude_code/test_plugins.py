"""Plugins of Claude Code, in the files that it writes itself."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Event
from hookline.project import SourceLayer, find_sources, load_for_directory

HOOKS = {"PreToolUse": [{"hooks": [{"type": "command", "command": 'echo "$CLAUDE_PLUGIN_ROOT" >&2; exit 2'}]}]}


def write_json(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With one plugin for the user and one for a project, both on."""
    home, project = tmp_path / "home", tmp_path / "project"
    entries: dict[str, Any] = {}
    for name, more in (("mine@m", {"scope": "user"}), ("ours@m", {"scope": "project", "projectPath": str(project)})):
        root = home / ".claude/plugins/cache/m" / name[:4] / "1.0.0"
        write_json(root / "hooks/hooks.json", {"description": "x", "hooks": HOOKS})
        entries[name] = [{**more, "installPath": str(root), "version": "1.0.0"}]
    write_json(home / ".claude/plugins/installed_plugins.json", {"version": 2, "plugins": entries})
    write_json(home / ".claude/settings.json", {"enabledPlugins": {"mine@m": True}})
    write_json(project / ".claude/settings.json", {"enabledPlugins": {"ours@m": True}})
    (project / ".git").mkdir()
    return home


def plugins(directory: Path, home: Path) -> list[str]:
    found = [source for source in find_sources(directory, home) if "plugins" in source.display_path]
    assert all(source.layer is SourceLayer.USER and source.project is None for source in found)
    return [source.path.parts[-4] for source in found]


def test_those_that_are_on_are_found(home: Path) -> None:
    project = home.parent / "project"
    (project / "below").mkdir()
    assert plugins(project, home) == plugins(project / "below", home) == ["mine", "ours"]
    assert plugins(home.parent, home) == ["mine"]
    write_json(project / ".claude/settings.local.json", {"enabledPlugins": {"ours@m": False}})
    assert plugins(project, home) == ["mine"]
    write_json(home / ".claude/settings.json", '{"enabledPlugins": {"mine@m": false}} // off')
    assert plugins(project, home) == []


def test_a_project_switches_no_plugin_of_the_user(home: Path) -> None:
    other = home.parent / "other"
    (other / ".git").mkdir(parents=True)
    write_json(other / ".claude/settings.json", {"enabledPlugins": {"ours@m": True, "mine@m": False}})
    assert plugins(other, home) == ["mine"]
    write_json(home / ".claude/settings.json", {})
    write_json(other / ".claude/settings.json", {"enabledPlugins": {"ours@m": True, "mine@m": True}})
    assert plugins(other, home) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"plugins": []}',
        '{"plugins": {"mine@m": {}}}',
        '{"plugins": {"mine@m": [1, {"scope": "user"}]}}',
    ],
)
def test_a_list_that_says_something_else_lists_nothing(home: Path, text: str) -> None:
    write_json(home / ".claude/plugins/installed_plugins.json", text)
    assert plugins(home.parent / "project", home) == []


def test_their_hooks_act_and_know_their_directory(home: Path) -> None:
    book = load_for_directory(home.parent, home)
    facts = {"tool": {"name": "Bash", "kind": "shell", "input": {"command": "ls"}}, "cwd": str(home.parent)}
    decision = asyncio.run(book.decide(Event("tool.before", facts)))
    assert decision.denied
    assert decision.reason == str(home / ".claude/plugins/cache/m/mine/1.0.0")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"PreToolUse": HOOKS["PreToolUse"]}, "not-read"),
        ({"events": HOOKS}, "not-read"),
        (["x"], "wrong-type"),
        ({"hooks": {"PreToolUsed": HOOKS["PreToolUse"]}}, "unknown-event"),
        ({"hooks": {"PreToolUse": [{"hooks": [{"type": "later"}]}]}}, "unknown-word"),
    ],
)
def test_a_hooks_file_that_cannot_be_understood_is_an_error(home: Path, value: Any, code: str) -> None:
    file = home / ".claude/plugins/cache/m/mine/1.0.0/hooks/hooks.json"
    write_json(file, value)
    (home.parent / "elsewhere").mkdir()
    book = load_for_directory(home.parent / "elsewhere", home)
    errors = [problem for problem in book.problems if problem.severity == "error"]
    assert code in [problem.code for problem in errors]
    assert str(file) in errors[0].file


def test_keys_that_claude_code_ignores_leave_a_plugins_hooks_in_force(home: Path) -> None:
    group = {"id": "g", "_comment": "x", "hooks": [{**HOOKS["PreToolUse"][0]["hooks"][0], "description": "y"}]}
    write_json(home / ".claude/plugins/cache/m/mine/1.0.0/hooks/hooks.json", {"hooks": {"PreToolUse": [group]}})
    (home.parent / "elsewhere").mkdir()
    book = load_for_directory(home.parent / "elsewhere", home)
    assert [hook.event for hook in book.hooks] == ["tool.before"]
    assert {problem.severity for problem in book.problems} == {"warning"}
