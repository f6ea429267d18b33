"""The defaults of the tools of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agents import Agent, FunctionTool, RunContextWrapper, Runner, function_tool, handoff
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from default_tools import GIVEN, SCHEMA, Options, check_defaults, make_function
from pydantic import Field
from trial import CONFIG, record

from hookline.frameworks.openai_agents import HooklineHooks, _defaults_of


@pytest.mark.parametrize("given", GIVEN)
def test_hooks_see_the_defaults_that_the_model_of_a_function_puts_in(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    tool = function_tool(make_function(ran), strict_mode=False)
    context: Any = ToolContext(None, tool_name="write", tool_call_id="c", tool_arguments=json.dumps(given))
    asyncio.run(tool.on_invoke_tool(context, json.dumps(given)))
    check_defaults(_defaults_of(tool, tool.__wrapped__), given, ran)


def test_the_context_is_no_argument_and_a_field_says_its_default() -> None:
    @function_tool
    def write(context: RunContextWrapper[Any], content: str, path: str = Field(".env", description="the file")) -> str:
        """Writes a file."""
        return "done"

    assert _defaults_of(write, write.__wrapped__).fill({"content": "x"}) == {"content": "x", "path": ".env"}


def test_hooks_see_the_defaults_in_a_schema() -> None:
    async def invoke(context: Any, arguments: str) -> str:
        return "done"

    tool = FunctionTool("write", "Writes.", SCHEMA, invoke, strict_json_schema=False)
    assert _defaults_of(tool, None).fill({"extra": {}}) == {"extra": {"force": True}, "path": "told", "mode": "w"}


@pytest.mark.parametrize("given", GIVEN)
def test_a_call_without_its_defaults_asks_nobody(given: dict[str, Any]) -> None:
    """The SDK asks a person about such a call if the tool's own policy cannot see what it runs with."""
    ran: list[Any] = []
    calls = [[function_call("write", given, call_id="c")], [assistant_message("done")]]
    agent = Agent("main", model=ScriptedModel(calls), tools=[function_tool(make_function(ran), strict_mode=False)])
    hooks = HooklineHooks(config=CONFIG)
    result = Runner.run_sync(hooks.install(agent), "Go.")
    hooks.close()
    assert (len(ran), result.interruptions) == (1, [])
    inputs = [each["input"] for each in record() if each["event"] in ("tool.before", "tool.after")]
    assert [each["path"] for each in inputs] == [given.get("path", ".env")] * 2


def test_hooks_see_the_defaults_of_a_handoff() -> None:
    other = Agent("other", model=ScriptedModel([[assistant_message("done")]]))
    given = handoff(other, on_handoff=lambda context, options: None, input_type=Options)
    calls = [[function_call("transfer_to_other", {}, call_id="c")]]
    hooks = HooklineHooks(config=CONFIG)
    agent = hooks.install(Agent("main", model=ScriptedModel(calls), handoffs=[given]))
    Runner.run_sync(agent, "Go.")
    hooks.close()
    shown = next(each["input"] for each in record() if each["event"] == "tool.before")
    assert (shown["agent"], shown["force"]) == ("other", True)
