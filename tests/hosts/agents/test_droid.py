"""Factory Droid, as it calls and as it obeyed, and where its hooks stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import REMOVED
from hookline.hosts.agents import get_agent
from hookline.hosts.install.plan import installed_entries
from install_sandbox import install, make_machine, uninstall

DROID = get_agent("droid")
SENT = payloads("droid")


def test_removed_field_is_denied_because_droid_would_keep_it() -> None:
    parsed = DROID.read("PreToolUse", SENT["PreToolUse"])
    changed = parsed.events[0].with_changes(((("tool", "input", "summary"), REMOVED),))
    output = json.loads(DROID.reply(parsed, [Decision(changed)]).stdout)["hookSpecificOutput"]
    assert output["permissionDecision"] == "deny"
    assert "updatedInput" not in output


def test_exit_code_is_in_the_last_line() -> None:
    for file, ok in (("PostToolUse", True), ("PostToolUse-failure", False)):
        (event,) = DROID.read("PostToolUse", SENT[file]).events
        assert event.facts["tool"]["ok"] is ok


@pytest.mark.parametrize(
    "text", ["{}", '{\n  "PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]\n}\n']
)
def test_entries_stand_at_the_top_of_hooks_json_if_the_user_has_one(tmp_path: Path, text: str) -> None:
    """Droid then ignores the hooks in settings.json."""
    machine = make_machine(tmp_path)
    path = machine.home / ".factory/hooks.json"
    path.parent.mkdir()
    path.write_text(text)
    install("droid", machine)
    found = json.loads(path.read_text())
    assert found.keys() == {event.name for event in DROID.events}
    assert not (path.parent / "settings.json").exists()
    ((_, where, events),) = installed_entries(DROID, machine)
    assert (where, events) == (path, found.keys())
    path.write_text(path.read_text().replace('"timeout": 60', '"timeout": 61', 1))  # the user's own edit
    uninstall("droid", machine)
    assert json.loads(path.read_text() if path.exists() else "{}") == json.loads(text)


def test_entries_stand_in_settings_json_otherwise(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    install("droid", machine)
    assert "hooks" in json.loads((machine.home / ".factory/settings.json").read_text())
    uninstall("droid", machine)
    assert not (machine.home / ".factory").exists()
