"""The defaults of the tools of Strands Agents."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from default_tools import GIVEN, SCHEMA, check_defaults, make_function
from strands import ToolContext, tool
from strands.tools.mcp.mcp_agent_tool import MCPAgentTool
from strands.tools.tools import PythonAgentTool

from hookline.frameworks.strands import _defaults_of

TOLD = {"extra": {"force": True}, "path": "told", "mode": "w"}


@pytest.mark.parametrize("given", GIVEN)
def test_hooks_see_the_defaults_that_the_model_of_a_function_puts_in(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    made: Any = tool(make_function(ran))

    async def go() -> None:
        async for _ in made.stream({"toolUseId": "c", "name": "write", "input": given}, {}):
            pass

    asyncio.run(go())
    check_defaults(_defaults_of(made), given, ran)


def test_what_strands_injects_is_no_default() -> None:
    @tool(context=True)
    def write(content: str, tool_context: ToolContext | None = None, agent: Any = None, path: str = ".env") -> str:
        """Writes a file."""
        return "done"

    assert _defaults_of(write).fill({"content": "x"}) == {"content": "x", "path": ".env"}


def test_hooks_see_the_defaults_in_a_schema() -> None:
    spec: Any = {"name": "write", "description": "Writes.", "inputSchema": {"json": SCHEMA}}
    module = PythonAgentTool("write", spec, lambda use, **rest: {})  # type: ignore[arg-type, return-value]
    assert _defaults_of(module).fill({"extra": {}}) == TOLD
    listed: Any = SimpleNamespace(name="write", description="", inputSchema=SCHEMA, input_schema=SCHEMA)
    listed.outputSchema = listed.output_schema = listed.annotations = None
    server = MCPAgentTool(listed, SimpleNamespace())  # type: ignore[arg-type]
    assert _defaults_of(server).fill({"extra": {}}) == TOLD
