"""The defaults of pydantic-ai's tools."""

from __future__ import annotations

from typing import Any

import pytest
from default_tools import GIVEN, PLAIN, SCHEMA, Options, make_function
from pydantic_ai import Agent, DeferredToolRequests, FunctionToolset, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset
from trial import CONFIG, record

from hookline.frameworks.pydantic_ai import HooklineCapability
from hookline.hosts.python.guard import to_plain_value


def run(given: dict[str, Any], hooks: str = "", **more: Any) -> list[Any]:
    """Calls the tool once. Returns the inputs that hooks saw before and after."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        called = len(messages) > 1
        return ModelResponse(parts=[TextPart("done") if called else ToolCallPart("write", given, "c")])

    capability = HooklineCapability(config=CONFIG)
    agent: Any = Agent(
        FunctionModel(answer), capabilities=[capability], output_type=[str, DeferredToolRequests], **more
    )
    agent.run_sync("Go.")
    capability.close()
    return [each["input"] for each in record() if each["event"] in ("tool.before", "tool.after")]


@pytest.mark.parametrize("is_wrapped", [False, True])
@pytest.mark.parametrize("given", GIVEN)
def test_hooks_see_the_defaults_that_are_put_in(given: dict[str, Any], is_wrapped: bool) -> None:
    ran: list[Any] = []
    tool = Tool(make_function(ran))
    toolset = FunctionToolset([tool]).prefixed("a").renamed({"write": "a_write"})
    shown = run(given, toolsets=[toolset]) if is_wrapped else run(given, tools=[tool])
    assert shown == [to_plain_value(ran[0])] * 2


@pytest.mark.parametrize("given", PLAIN)
def test_hooks_see_the_defaults_of_a_function_with_a_schema_of_its_own(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    shown = run(given, tools=[Tool.from_schema(make_function(ran), "write", "Writes.", SCHEMA)])
    assert shown == [{**to_plain_value(ran[0]), "mode": "w"}] * 2


def test_hooks_see_the_defaults_of_a_model_that_is_the_only_argument() -> None:
    ran: list[Any] = []

    def write(options: Options) -> str:
        """Writes."""
        ran.append(options)
        return "done"

    assert run({}, tools=[write]) == [{"options": {"force": True, "names": []}}] * 2
    assert ran == [Options()]


def test_hooks_see_the_defaults_of_a_tool_that_the_program_runs() -> None:
    tools = ExternalToolset([ToolDefinition(name="write", parameters_json_schema=SCHEMA)])
    given = {"content": "x", "extra": {}}
    assert run(given, toolsets=[tools]) == [{"content": "x", "extra": {"force": True}, "path": "told", "mode": "w"}]
