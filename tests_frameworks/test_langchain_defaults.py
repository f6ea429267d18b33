"""The defaults of LangChain's tools."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from default_tools import GIVEN, PLAIN, SCHEMA, Options, check_defaults, make_function
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, Tool, tool
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel, Field

from hookline.frameworks.langchain import _defaults_of


class Written(BaseModel):
    content: str
    path: str = "of the model"
    options: Options = Field(default_factory=Options)
    extra: Options | None = None
    limit: int | None = None


class Writing(BaseTool):
    name: str = "write"
    description: str = "Writes a file."
    ran: list[Any] = []  # noqa: RUF012

    def _run(self, content: str, path: str = ".env", run_manager: Any = None, **rest: Any) -> str:
        self.ran.append({"content": content, "path": path})
        return "done"


@pytest.mark.parametrize("model", [None, Written])
@pytest.mark.parametrize("given", GIVEN)
def test_hooks_see_the_defaults_that_a_model_puts_in(given: dict[str, Any], model: Any) -> None:
    ran: list[Any] = []
    made = tool(make_function(ran)) if model is None else tool(make_function(ran), args_schema=model)
    made.invoke(given)
    check_defaults(_defaults_of(made), given, ran)


@pytest.mark.parametrize("given", PLAIN)
def test_hooks_see_the_defaults_of_a_function_that_gets_the_arguments_as_they_are(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    made = StructuredTool.from_function(make_function(ran), args_schema={"type": "object", "properties": {}})
    made.invoke(given)
    check_defaults(_defaults_of(made), given, ran)
    own = Writing(ran=[])
    given = {name: given[name] for name in given if name != "limit"}
    own.invoke(given)
    check_defaults(_defaults_of(own), given, own.ran)


def test_hooks_see_the_defaults_in_the_schema_of_a_server() -> None:
    async def call_server(runtime: ToolRuntime, **arguments: Any) -> str:
        return "done"

    made = StructuredTool(name="write", description="Writes.", args_schema=SCHEMA, coroutine=call_server)
    assert _defaults_of(made).fill({"extra": {}}) == {"extra": {"force": True}, "path": "told", "mode": "w"}


UNSET: Any = None


def test_what_langchain_injects_is_no_default() -> None:
    def write(
        content: str,
        config: RunnableConfig = UNSET,
        path: str = ".env",
        state: Annotated[Any, InjectedState] = None,
        id: Annotated[str, InjectedToolCallId] = "",
        callbacks: Any = None,
        runtime: ToolRuntime = UNSET,
    ) -> str:
        """Writes a file."""
        return "done"

    as_given = StructuredTool.from_function(write, args_schema={"type": "object", "properties": {}})
    for made in (tool(write), as_given):
        assert _defaults_of(made).fill({"content": "x"}) == {"content": "x", "path": ".env"}
    single = Tool("write", lambda content="a", path="b": content, "Writes.")
    assert _defaults_of(single).fill({"__arg1": "x"}) == {"__arg1": "x", "path": "b"}
