"""The defaults of CrewAI's tools."""

from __future__ import annotations

from typing import Any

import pytest
from crewai.tools import BaseTool, tool
from crewai.tools.structured_tool import CrewStructuredTool
from default_tools import GIVEN, Options, check_defaults, make_function
from pydantic import BaseModel, Field
from trial import CONFIG, record

from hookline.frameworks.crewai import HooklineHooks, _defaults_of


class Written(BaseModel):
    content: str
    path: str = "of the model"
    options: Options = Field(default_factory=Options)
    extra: Options | None = None
    limit: int | None = None


class Writing(BaseTool):
    name: str = "write"
    description: str = "Writes a file."
    args_schema: type[BaseModel] = Written
    ran: list[Any] = []  # noqa: RUF012

    def _run(self, content: str, path: str = ".env", limit: Any = 1, options: Any = None, extra: Any = None) -> str:
        self.ran.append({"content": content, "path": path, "limit": limit, "options": options, "extra": extra})
        return "done"


@pytest.mark.parametrize("method", ["run", "invoke"])
@pytest.mark.parametrize("kind", ["function", "class"])
@pytest.mark.parametrize("given", GIVEN)
def test_hooks_see_the_defaults_that_the_model_puts_in(given: dict[str, Any], kind: str, method: str) -> None:
    ran: list[Any] = []
    made: Any = Writing(ran=ran) if kind == "class" else tool("write")(make_function(ran))
    ran = getattr(made, "ran", ran)
    if method == "invoke":
        made = made.to_structured_tool()
        made.invoke(given)
    else:
        made.run(**given)
    check_defaults(_defaults_of(made), given, ran)


def test_a_tool_without_a_model_of_its_arguments_has_those_of_its_function() -> None:
    class Any_(BaseModel):
        pass

    class Free(BaseTool):
        name: str = "write"
        description: str = "Writes a file."
        args_schema: type[BaseModel] = Any_

        def _run(self, path: str = ".env", **rest: Any) -> str:
            return path

    assert _defaults_of(Free()).fill({}) == {"path": Free().run()}
    bare = CrewStructuredTool(name="write", description="Writes.", func=lambda path="a": path)
    assert _defaults_of(bare).fill({}) == {"path": "a"}


@pytest.mark.parametrize("given", GIVEN)
def test_a_tool_that_the_program_runs_is_decided_once(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    hooks = HooklineHooks(config=CONFIG).install()
    try:
        tool("write")(make_function(ran)).run(**given)
    finally:
        hooks.close()
    entries = [each for each in record() if each["event"] == "tool.before"]
    assert (len(ran), len(entries)) == (1, 1)
    assert entries[0]["input"]["path"] == given.get("path", ".env")
