"""Entries in a project: beside the user's own, and on a machine that has no hookline."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import SCRIPT, end_engine, hookline, new_place, run

from hookline.hosts.doctor.fake_model import ModelServer

BY_NAME = {agent.name: agent for agent in AGENTS}
IN_PROJECTS = [agent for agent in AGENTS if agent.name != "codex"]  # which must trust a project first


@pytest.mark.parametrize("agent", IN_PROJECTS, ids=lambda agent: agent.name)
def test_project_runs_nothing_where_hookline_is_not_installed(agent: Agent, tmp_path: Path) -> None:
    place = new_place(tmp_path)
    with ModelServer(list(SCRIPT.values())) as model:
        agent.move_in(place)
        hookline(place, "install", agent.name, "--project")
        (place.home / ".local/share/hookline/bridge").unlink()
        ran = run(agent, place, model)
    assert ran.files == {}, ran.output
    assert all("hook" in str(result) for asked in ran.asked for result in asked.results), "held back by something else"


@pytest.mark.parametrize("name", ["claude-code", "copilot-cli"])
def test_event_of_two_entries_is_decided_once(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """By the engine, whose socket needs a short path."""
    agent, place = BY_NAME[name], new_place(tmp_path_factory.mktemp("two"))
    with ModelServer(list(SCRIPT.values())) as model:
        agent.move_in(place)
        hookline(place, "trust", "--yes")
        for scope in ("--user", "--project"):
            hookline(place, "install", agent.name, scope)
        ran = run(agent, place, model)
    end_engine(place)
    assert ran.files.keys() == SCRIPT.keys() - {"denied"}, ran.output
    assert ran.told("reported").count("The owner reads every report") == 1
