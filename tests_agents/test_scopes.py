"""Entries in a project: besides the user's own, and on a machine without hookline."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import SCRIPT, end_engine, hookline, new_sandbox, run

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.fake_model import ModelServer

BY_NAME = {agent.name: agent for agent in AGENTS}
MUST_TRUST = {"codex", "grok-build", "pi", "deepagents-code"}  # before they run a project's hooks
PROJECT_AGENTS = [agent for agent in AGENTS if agent.name not in MUST_TRUST and get_agent(agent.name).has_project_hooks]


@pytest.mark.parametrize("agent", PROJECT_AGENTS, ids=lambda agent: agent.name)
def test_project_runs_nothing_where_hookline_is_not_installed(agent: Agent, tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    with ModelServer(list(SCRIPT.values())) as model:
        agent.copy_user_files(sandbox)
        hookline(sandbox, "install", agent.name, "--project")
        (sandbox.home / ".local/share/hookline/bridge").unlink()
        ran = run(agent, sandbox, model)
    assert ran.files == {}, ran.output
    assert all("hook" in str(result) for request in ran.requests for result in request.results), (
        "blocked by something else"
    )


@pytest.mark.parametrize("name", ["claude-code", "copilot-cli"])
def test_event_of_two_entries_is_decided_once(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The engine does that; its socket needs a short path."""
    agent, sandbox = BY_NAME[name], new_sandbox(tmp_path_factory.mktemp("two"))
    with ModelServer(list(SCRIPT.values())) as model:
        agent.copy_user_files(sandbox)
        hookline(sandbox, "trust", "--yes")
        for scope in ("--user", "--project"):
            hookline(sandbox, "install", agent.name, scope)
        ran = run(agent, sandbox, model)
    end_engine(sandbox)
    assert ran.files.keys() == SCRIPT.keys() - {"denied"}, ran.output
    assert ran.known_after("reported").count("The owner reads every report") == 1
