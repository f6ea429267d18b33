"""The defaults of LlamaIndex' tools."""

from __future__ import annotations

from typing import Any

import pytest
from default_tools import PLAIN, Options, check_defaults, make_function
from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context
from pydantic import BaseModel, Field
from trial import CONFIG, record

from hookline.frameworks.llama_index import HooklineHooks, _defaults_of


@pytest.fixture
def hooks() -> Any:
    made = HooklineHooks(config=CONFIG)
    yield made
    made.close()


@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("given", PLAIN)
def test_hooks_see_the_defaults_of_a_function(hooks: Any, given: dict[str, Any], is_called: bool) -> None:
    ran: list[Any] = []
    tool = hooks.guard_tool(FunctionTool.from_defaults(make_function(ran)))
    tool(**given) if is_called else tool.call(**given)
    check_defaults(_defaults_of(tool), given, ran)
    assert [each["input"]["path"] for each in record() if each["event"] == "tool.before"] == [given.get("path", ".env")]


def test_hooks_see_the_arguments_that_the_program_gives_a_tool(hooks: Any) -> None:
    ran: list[Any] = []
    made = FunctionTool.from_defaults(make_function(ran), partial_params={"path": "of the program", "limit": 9})
    hooks.guard_tool(made)(content="x")
    check_defaults(_defaults_of(made), {"content": "x"}, ran)
    assert ran[0]["path"] == "of the program"


def test_fields_are_defaults() -> None:
    def write(content: str, ctx: Context, path: str = Field(".env", description="the file")) -> str:
        """Writes a file."""
        return "done"

    write.__annotations__["ctx"] = Context
    made = HooklineHooks(config=CONFIG).guard_tool(FunctionTool.from_defaults(write))
    assert _defaults_of(made).fill({"content": "x"}) == {"content": "x", "path": ".env"}


class Written(BaseModel):
    content: str
    mode: str = "w"
    options: Options = Field(default_factory=Options)


def test_hooks_see_the_defaults_of_a_tool_that_is_no_function(hooks: Any) -> None:
    class Writing(BaseTool):
        @property
        def metadata(self) -> ToolMetadata:
            return ToolMetadata(name="write", description="Writes.", fn_schema=Written)

        def __call__(self, content: Any = None, path: str = ".env") -> ToolOutput:
            return ToolOutput(tool_name="write", content=path, raw_input={}, raw_output=path)

    made = hooks.guard_tool(Writing())
    assert made(content="x").content == ".env"
    shown = next(each["input"] for each in record() if each["event"] == "tool.before")
    assert (shown["path"], shown["mode"]) == (".env", "w")
    assert _defaults_of(made).fill({"options": {}})["options"] == {"force": True}
