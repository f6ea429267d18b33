"""What only Microsoft's Agent Framework has: tools that the model's provider runs."""

from __future__ import annotations

import asyncio

import pytest
from agent_framework import Agent
from driver_agent_framework import TrialClient
from trial import CONFIG, Trial

from hookline.frameworks.agent_framework import RunStopped, hookline_middleware


def test_tools_that_the_provider_runs_are_refused() -> None:
    trial = Trial([])
    search = {"type": "web_search"}
    agent = Agent(TrialClient(trial), tools=[search], middleware=hookline_middleware(config=CONFIG))
    with pytest.raises(RunStopped, match="web_search"):
        asyncio.run(agent.run("Go."))
    assert trial.requests == []
    allowed = hookline_middleware(config=CONFIG, allow_hosted=True)
    assert asyncio.run(Agent(TrialClient(trial), tools=[search], middleware=allowed).run("Go.")).text == "done"
