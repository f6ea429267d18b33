"""`hookline doctor` runs the agent itself, and says what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import diagnosed, end_engine, hookline, new_place


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_agent_is_seen_to_obey(agent: Agent, tmp_path: Path) -> None:
    place = new_place(tmp_path)
    hookline(place, "install", agent.name, "--user")
    found = diagnosed(agent, place)
    end_engine(place)
    assert found["agent"]["mark"] == "good"
    assert found["answer"]["mark"] == "good"
    assert found["proof"]["mark"] == "good", found["proof"]
