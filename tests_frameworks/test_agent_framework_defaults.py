"""The defaults of the tools of Microsoft's Agent Framework."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_framework import FunctionInvocationContext, FunctionTool, tool
from default_tools import PLAIN, SCHEMA, check_defaults, make_function
from driver_agent_framework import run
from pydantic import BaseModel, Field
from trial import Trial, record

from hookline.frameworks.agent_framework import _defaults_of


class Written(BaseModel):
    content: str
    path: str = "of the model"
    limit: int | None = None


class Renamed(BaseModel):
    path: str = Field("of the model", alias="filePath")


@pytest.mark.parametrize("model", [None, Written])
@pytest.mark.parametrize("given", PLAIN)
def test_hooks_see_the_defaults_of_the_function(given: dict[str, Any], model: Any) -> None:
    """The framework drops those of the model."""
    ran: list[Any] = []
    made = FunctionTool(name="write", func=make_function(ran), input_model=model)
    asyncio.run(made.invoke(arguments=given))
    check_defaults(_defaults_of(made), given, ran)
    made = FunctionTool(name="write", func=FunctionTool(name="inner", func=make_function(ran)), input_model=model)
    assert _defaults_of(made).fill(given)["path"] == given.get("path", ".env")


def test_what_the_framework_injects_is_no_default() -> None:
    @tool
    def write(content: str, ctx: FunctionInvocationContext | None = None, path: str = ".env") -> str:
        """Writes a file."""
        return "done"

    assert _defaults_of(write).fill({"content": "x"}) == {"content": "x", "path": ".env"}


def test_an_argument_has_only_the_name_under_which_it_is_given() -> None:
    made = FunctionTool(name="write", func=lambda path=".env": path, input_model=Renamed)
    assert _defaults_of(made).fill({"filePath": "a"}) == {"filePath": "a"}
    assert _defaults_of(made).fill({}) == {"filePath": "of the model"}


def test_hooks_see_the_defaults_in_a_schema() -> None:
    def call_server(**arguments: Any) -> str:
        return "done"

    made = FunctionTool(name="write", func=call_server, input_model=SCHEMA)
    told = {"extra": {"force": True}, "path": "told", "mode": "w"}
    assert _defaults_of(made).fill({"extra": {}}) == told
    assert _defaults_of(FunctionTool(name="write", input_model=SCHEMA)).fill({"extra": {}}) == told


@pytest.mark.parametrize("approves", [True, False])
def test_a_call_without_its_defaults_is_decided_once(approves: bool) -> None:
    """The framework gives the call back with the person's answer, and runs the tool with what is in the request."""
    trial = Trial([["git push"]], approves=approves)
    run(trial)
    assert trial.modes == (["own"] if approves else [])
    asked = [each for each in record() if each["event"] == "tool.before"]
    assert [each["input"] for each in asked] == [{"command": "git push", "mode": "own"}]
