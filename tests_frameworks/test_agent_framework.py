"""What only Microsoft's Agent Framework has: tools that the model's provider runs, streams that are read in turns."""

from __future__ import annotations

import asyncio

import pytest
from agent_framework import Agent
from driver_agent_framework import TrialClient, make_agent
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


def test_streams_that_are_read_in_turns_are_two_runs() -> None:
    """A halt of one does not end the other."""
    hooks = hookline_middleware(config=CONFIG)
    halted, other = Trial([["echo a"], ["echo halt-me"]]), Trial([["echo b"], ["echo c"], ["echo d"]])
    agents = [make_agent(trial, hooks)[0] for trial in (halted, other)]

    async def go() -> list[str]:
        ends, streams = [], [aiter(agent.run("Go.", stream=True)) for agent in agents]
        while streams:
            for stream in list(streams):
                try:
                    await anext(stream)
                except (StopAsyncIteration, RunStopped) as end:
                    ends.append(type(end).__name__)
                    streams.remove(stream)
        return ends

    assert asyncio.run(go()) == ["RunStopped", "StopAsyncIteration"]
    assert halted.ran == ["echo a"]
    assert other.ran == ["echo b", "echo c", "echo d"]
