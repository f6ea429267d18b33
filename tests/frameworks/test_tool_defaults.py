"""The defaults of a tool come from where its framework takes them, and are read once."""

from __future__ import annotations

import gc
from typing import Any

import pydantic
import pytest

from hookline.frameworks import tool_defaults
from hookline.frameworks.tool_defaults import (
    DefaultSources,
    ToolDefaults,
    defaults_of,
    function_defaults,
    schema_defaults,
    value_defaults,
)


def test_one_source_over_another() -> None:
    over = function_defaults(lambda a=1, b=2: None).over(schema_defaults({"properties": {"b": {"default": 3}}}))
    assert over.fill({}) == {"a": 1, "b": 2}
    over = value_defaults({"b": 9}).over(function_defaults(lambda a=1, b=2: None))
    assert over.fill({}) == {"a": 1, "b": 9}
    assert over.without(["a", "z"]).fill({}) == {"b": 9}


class Tool:
    def __init__(self, function: Any) -> None:
        self.function = function
        self.reads = 0

    def run(self, path: str = "own") -> None: ...

    def hidden(self) -> tuple[str, ...]:
        self.reads += 1
        return ()

    def defaults(self, schema: Any = None) -> ToolDefaults:
        return defaults_of(self, DefaultSources(None, self.function, schema, hidden=self.hidden))


def test_a_tool_is_read_once() -> None:
    tool = Tool(lambda path=".env": None)
    assert [tool.defaults().fill({}) for _ in range(3)] == [{"path": ".env"}] * 3
    assert tool.reads == 1
    tool = Tool(None)
    for _ in range(3):
        assert defaults_of(tool, DefaultSources(None, tool.run, dict, hidden=tool.hidden)).fill({}) == {"path": "own"}
    assert tool.reads == 1, "a bound method and a new schema are new objects each time"


def test_a_tool_with_another_function_is_read_again() -> None:
    tool = Tool(lambda path=".env": None)
    tool.defaults()
    tool.function = lambda path="other": None
    assert tool.defaults().fill({}) == {"path": "other"}
    schema = {"properties": {"mode": {"default": "w"}}}
    assert tool.defaults(schema).fill({}) == {"path": "other", "mode": "w"}
    assert tool.defaults(dict(schema)) is not tool.defaults(schema)
    assert tool.defaults(schema) is tool.defaults(schema)
    model = pydantic.create_model("Made", a=(int, 1))
    assert defaults_of(tool, DefaultSources(model)).fill({}) == {"a": 1}


@pytest.mark.parametrize("as_default", [True, False])
def test_nothing_is_remembered_of_a_tool_that_is_gone(as_default: bool) -> None:
    gc.collect()
    before = len(tool_defaults._remembered)
    for _ in range(100):
        tool = Tool(None)
        tool.function = (lambda tool=tool, tools=[tool]: 1) if as_default else (lambda path=".env", of=tool.run: of)
        assert tool.defaults().fill({})
    del tool
    gc.collect()
    assert len(tool_defaults._remembered) == before


def test_a_tool_that_cannot_be_remembered_is_read_each_time() -> None:
    assert defaults_of(3, DefaultSources(values={"a": 1})).fill({}) == {"a": 1}
    assert defaults_of(3, DefaultSources(values={"a": 2})).fill({}) == {"a": 2}


def test_a_source_that_cannot_be_read_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Any:
        raise RuntimeError("no")

    tool = Tool(lambda path=".env": None)
    for _ in range(2):
        assert tool.defaults(fail).fill({"a": 1}) == {"a": 1, "path": ".env"}
    assert [each.getMessage() for each in caplog.records] == ["hooks may not see all defaults of the tool Tool"]
