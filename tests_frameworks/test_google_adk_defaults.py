"""The defaults of the tools of Google ADK."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from default_tools import GIVEN, SCHEMA, Options, check_defaults, make_function
from google.adk.agents import LlmAgent
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hookline.frameworks.google_adk import _defaults_of

TOLD = {"extra": {"force": True}, "path": "told", "mode": "w"}


@pytest.mark.parametrize("given", GIVEN)
def test_hooks_see_the_defaults_of_a_function(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    tool = FunctionTool(make_function(ran))
    context: Any = SimpleNamespace(function_call_id="c", tool_confirmation=None, _invocation_context=None)
    asyncio.run(tool.run_async(args=given, tool_context=context))
    check_defaults(_defaults_of(tool), given, ran)


def test_what_adk_injects_is_no_default() -> None:
    def write(content: str, context: ToolContext = None, input_stream: Any = None, path: str = ".env") -> str:  # type: ignore[assignment]
        """Writes a file."""
        return "done"

    assert _defaults_of(FunctionTool(write)).fill({"content": "x"}) == {"content": "x", "path": ".env"}


class Declared(BaseTool):
    def __init__(self, **declared: Any) -> None:
        super().__init__(name="write", description="Writes.")
        self.declared = declared

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(name="write", **self.declared) if self.declared else None


def test_hooks_see_the_defaults_that_a_tool_declares() -> None:
    assert _defaults_of(Declared(parameters_json_schema=SCHEMA)).fill({"extra": {}}) == TOLD
    text = types.Schema(type=types.Type.STRING, default="told")
    declared = types.Schema(type=types.Type.OBJECT, properties={"path": text})
    assert _defaults_of(Declared(parameters=declared)).fill({}) == {"path": "told"}
    assert _defaults_of(Declared()).fill({"a": 1}) == {"a": 1}
    server = Declared()
    server._mcp_tool = SimpleNamespace(inputSchema=SCHEMA)
    assert _defaults_of(server).fill({"extra": {}}) == TOLD


def test_hooks_see_the_defaults_of_an_agent_that_is_a_tool() -> None:
    agent = LlmAgent(name="write", model="scripted", input_schema=Options)
    assert _defaults_of(AgentTool(agent)).fill({}) == {"force": True, "names": []}
    assert _defaults_of(AgentTool(LlmAgent(name="write", model="scripted"))).fill({"a": 1}) == {"a": 1}
