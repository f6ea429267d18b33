"""`hookline doctor` runs the agent itself and reports the result."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import end_engine, hookline, new_sandbox, run_doctor


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_agent_obeys(agent: Agent, tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    hookline(sandbox, "install", agent.name, "--user")
    found = run_doctor(agent, sandbox)
    end_engine(sandbox)
    assert found["agent"]["mark"] == "good"
    assert found["answer"]["mark"] == "good"
    assert found["proof"]["mark"] == "good", found["proof"]
