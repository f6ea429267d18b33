"""What only LangChain has: tools that the model's provider runs."""

from __future__ import annotations

from typing import Any

import pytest
from driver_langchain import ScriptedModel, make_tool
from langchain.agents import create_agent
from trial import CONFIG, Trial

from hookline.frameworks.langchain import HooklineMiddleware

SEARCH = {"type": "web_search_20250305", "name": "web_search"}
OWN = {"type": "bash_20250124", "name": "bash"}  # the model's own description of a tool that the agent has
FUNCTION = {"type": "function", "function": {"name": "lookup", "parameters": {}}}  # the program answers its calls


@pytest.mark.parametrize(
    ("tool", "allowed", "requests"), [(SEARCH, False, 0), (SEARCH, True, 1), (OWN, False, 1), (FUNCTION, False, 1)]
)
def test_tools_that_the_provider_runs_are_refused(tool: dict[str, Any], allowed: bool, requests: int) -> None:
    trial = Trial([])
    hooks = HooklineMiddleware(config=CONFIG, allow_hosted=allowed)
    agent = create_agent(ScriptedModel(trial=trial), [make_tool(trial), tool], middleware=[hooks])
    state = agent.invoke({"messages": [("user", "Go.")]})
    assert len(trial.requests) == requests
    assert ("allow_hosted" in state["messages"][-1].content) is (requests == 0)
