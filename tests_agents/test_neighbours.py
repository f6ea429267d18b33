"""Agents that read each other's files, and projects that nobody has accepted yet."""

from __future__ import annotations

from pathlib import Path

from agents import AGENTS
from runs import SCRIPT, end_engine, hookline, new_place, run

from hookline.hosts.doctor.fake_model import ModelServer

BY_NAME = {agent.name: agent for agent in AGENTS}
UNACCEPTED = """
hooks:
  - {id: guard, on: tool.before, when: {tool: bash, input: {command: secret}}, then: {deny: Not here}}
  - {id: scan, on: tool.before, then: {run: 'echo ran > "$HOME/scanned"'}, on_error: open}
"""


def test_copilot_reads_claudes_settings_and_no_hook_speaks_twice(tmp_path: Path) -> None:
    copilot, place = BY_NAME["copilot-cli"], new_place(tmp_path)
    with ModelServer(list(SCRIPT.values())) as model:
        copilot.move_in(place)
        hookline(place, "trust", "--yes")
        for name in ("claude-code", "copilot-cli"):
            hookline(place, "install", name, "--project")
        ran = run(copilot, place, model)
    end_engine(place)
    assert ran.files.keys() == SCRIPT.keys() - {"denied"}, ran.output
    assert ran.result("reported").count("The owner reads every report") == 1


def test_project_that_nobody_accepted_can_hold_back_but_not_run_anything(tmp_path: Path) -> None:
    claude, place = BY_NAME["claude-code"], new_place(tmp_path)
    (place.project / "hookline.yaml").write_text(UNACCEPTED, "utf-8")
    with ModelServer(list(SCRIPT.values())) as model:
        claude.move_in(place)
        hookline(place, "install", claude.name, "--user")
        wary = run(claude, place, model)
        scanned = (place.home / "scanned").exists()
        hookline(place, "trust", "--yes")
        run(claude, place, model)
    end_engine(place)
    assert "denied" not in wary.files
    assert wary.files.get("passed") == "passed", wary.output
    assert not scanned
    assert (place.home / "scanned").exists()
