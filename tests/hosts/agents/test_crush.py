"""Crush, according to its documentation."""

from __future__ import annotations

import json
from pathlib import Path

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import REMOVED
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.machine import InstallScope
from install_sandbox import install, make_machine

CRUSH = get_agent("crush")
SENT = payloads("crush")


def _reply(decide: Decision, name: str = "PreToolUse") -> object:
    return json.loads(CRUSH.reply(CRUSH.read(name, SENT[name]), [decide]).stdout)


def test_deny_halt_and_change() -> None:
    (event,) = CRUSH.read("PreToolUse", SENT["PreToolUse"]).events
    assert _reply(Decision(event, Verdict.DENY, "no")) == {"decision": "deny", "reason": "no"}
    assert _reply(Decision(event, Verdict.DENY, "enough", halt=True)) == {
        "decision": "deny",
        "reason": "enough",
        "halt": True,
    }
    changed = event.with_changes(((("tool", "input", "command"), "pwd"),))
    assert _reply(Decision(changed)) == {"updated_input": {"command": "pwd"}}


def test_removed_field_is_denied_because_crush_would_keep_it() -> None:
    (event,) = CRUSH.read("PreToolUse", SENT["PreToolUse"]).events
    removed = event.with_changes(((("tool", "input", "command"), REMOVED),))
    reply = _reply(Decision(removed))
    assert isinstance(reply, dict)
    assert reply["decision"] == "deny"


def test_project_file_is_the_one_that_is_there(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    (machine.project / ".crush.json").write_text("{}")
    install("crush", machine, InstallScope.PROJECT)
    assert "hooks" in json.loads((machine.project / ".crush.json").read_text())
    assert not (machine.project / "crush.json").exists()
