from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.runtime.tools.function_tool import defined_tool, function_tool
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.standard_agents import NotDefined, collecting, define_agent, define_tool

pytestmark = pytest.mark.anyio


class Point(BaseModel):
    x: int
    y: int = 0


@dataclass
class Sum:
    total: int


def add(a: int, b: Annotated[int, Field(description="the second", le=10)] = 1, *, unit: Literal["m", "s"] = "m") -> str:
    """Adds two numbers."""
    return f"{a + b}{unit}"


def test_the_schema_is_the_functions_types() -> None:
    tool = function_tool(add)
    assert (tool.name, tool.description, tool.kind) == ("add", "Adds two numbers.", ToolKind.OTHER)
    fields = tool.schema["properties"]
    assert tool.schema["required"] == ["a"]
    assert tool.schema["additionalProperties"] is False
    assert fields["a"]["type"] == "integer"
    assert fields["b"] == {"default": 1, "description": "the second", "maximum": 10, "title": "B", "type": "integer"}
    assert fields["unit"]["enum"] == ["m", "s"]


async def test_plain_and_async_functions_are_called(place) -> None:
    async def slowly(point: Point, schema: list[str], place: ToolContext) -> dict[str, Any]:
        return {"x": point.x, "schema": schema, "agent": place.agent}

    def where() -> str:
        return threading.current_thread().name

    assert (await function_tool(add).perform({"a": "2", "unit": "s"}, place)).content == "3s"
    got = await function_tool(slowly).perform({"point": {"x": 1}, "schema": ["a"]}, place)
    assert got.content == {"x": 1, "schema": ["a"], "agent": "ann"}
    assert (await function_tool(where).perform({}, place)).content == "hookline-functions"
    assert (await function_tool(partial(add, 2), name="two").perform({}, place)).content == "3m"


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (None, ""),
        ("text", "text"),
        (5, 5),
        (Point(x=1), {"x": 1, "y": 0}),
        (Sum(3), {"total": 3}),
        ([b"\xff", {1}, float("nan")], ["_w==", [1], None]),
        (b"a card", "a card"),
        (iter(["first", b"\xff", "last"]), ["first", "_w==", "last"]),
        ({"rows": iter([b"\xff", "last"])}, {"rows": ["_w==", "last"]}),
        ({"n": [bytearray(b"\xc3\xbc"), float("inf")]}, {"n": ["\u00fc", None]}),
        (ToolResult("kept", False, "why"), "kept"),
        ({"status": "fine"}, {"status": "fine"}),
    ],
)
async def test_what_it_returns_becomes_json(place, returned, content) -> None:
    assert (await function_tool(lambda: returned, name="give").perform({}, place)).content == content


@pytest.mark.parametrize(
    ("input", "error"),
    [
        ({}, "a: Field required"),
        ({"a": "x"}, "a: Input should be a valid integer"),
        ({"a": 1, "b": 11}, "b: Input should be less than or equal to 10"),
        ({"a": 1, "c": 2}, "c: Extra inputs are not permitted"),
        ({"a": 1, "unit": "km"}, "unit: Input should be 'm' or 's'"),
    ],
)
async def test_a_wrong_input_is_an_error_that_names_the_field(place, input, error: str) -> None:
    result = await function_tool(add).perform(input, place)
    assert not result.ok
    assert error in result.error


async def test_what_it_raises_is_its_answer(place) -> None:
    def broken() -> None:
        raise ValueError("no\nway")

    def over() -> None:
        raise StopIteration("x")

    async def leaving() -> None:
        raise SystemExit(3)

    assert (await function_tool(broken).perform({}, place)).error == "no\nway"
    assert (await function_tool(over).perform({}, place)).error == "x"
    assert (await function_tool(leaving).perform({}, place)).error == "3"


@pytest.mark.timing
async def test_it_has_a_deadline(place) -> None:
    async def forever() -> None:
        await asyncio.sleep(1000)

    def stuck() -> None:
        time.sleep(3)

    short = timedelta(seconds=0.1)
    for function in (forever, stuck):
        began = time.monotonic()
        result = await function_tool(function, timeout=short).perform({}, place)
        assert result.error == "it did not answer within 0.1 s"
        assert time.monotonic() - began < 2.5


@pytest.mark.timing
async def test_the_deadline_ends_a_function_that_catches_its_cancellation(place) -> None:
    async def stubborn() -> str:
        for _ in range(300):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.1)
        return "late"

    began = time.monotonic()
    result = await function_tool(stubborn, timeout=timedelta(seconds=0.1)).perform({}, place)
    assert result.error == "it did not answer within 0.1 s"
    assert time.monotonic() - began < 5


async def test_a_function_that_cancels_itself_fails(place) -> None:
    async def gone() -> None:
        raise asyncio.CancelledError

    assert (await function_tool(gone).perform({}, place)).error == "CancelledError"


async def test_cancelling_reaches_it(place) -> None:
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()

    task = asyncio.ensure_future(function_tool(forever).perform({}, place))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_the_input_is_a_copy(place) -> None:
    input = {"items": [1]}
    await function_tool(lambda items: items.append(2), name="add").perform(input, place)
    assert input == {"items": [1]}


def spread(*things: int) -> None: ...
def anything(**things: int) -> None: ...
def unreadable(thing: threading.Thread) -> None: ...
def handed(function: Callable[[], None]) -> None: ...


@pytest.mark.parametrize("function", [spread, anything, unreadable, handed, 5])
def test_what_is_no_tool_is_refused(function) -> None:
    with pytest.raises(HooklineError):
        function_tool(function)


ARGS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


async def test_a_defined_tool_is_handed_the_thread_and_the_input(place) -> None:
    async def look(state, args):
        agent = await state.load_agent("ann")
        with pytest.raises(NotDefined):
            await state.load_agent("bob")
        await state.write_file("a.txt", "x")
        run = state.execution
        return [
            state.thread_id,
            state.agent_id,
            state.user_id,
            run.flow_id,
            run.current_side,
            run.step_count,
            agent.name,
            args,
        ]

    with collecting() as definitions:
        define_agent(name="ann")
        tool = defined_tool(define_tool(name="look", description="Looks.", execute=look, args=ARGS), definitions)
    assert (tool.name, tool.description, tool.schema) == ("look", "Looks.", ARGS)
    result = await tool.perform({"city": "Bern"}, place)
    assert result.content == ["t", "ann", "uma", "f1", "b", 3, "ann", {"city": "Bern"}]
    assert await place.thread.read_file("a.txt") == b"x"
    assert (await tool.perform({}, place)).error == "city is missing"


@pytest.mark.parametrize("execute", [lambda: "ok", lambda state: "ok", lambda state, args: "ok", lambda *all: "ok"])
async def test_a_defined_tool_takes_as_much_as_it_wants(place, execute) -> None:
    with collecting():
        tool = defined_tool(define_tool(name="t", description="", execute=execute))
    assert (await tool.perform({}, place)).content == "ok"


def test_a_defined_tool_that_wants_more_is_refused() -> None:
    with collecting(), pytest.raises(HooklineError, match="the tool t"):
        defined_tool(define_tool(name="t", description="", execute=lambda a, b, c: None))


PICTURE = {"name": "p.png", "mimeType": "image/png", "data": b"\x89PNG"}
STORED = {"id": "f1", "type": "file", "path": "a.txt", "name": "a.txt", "mimeType": "text/plain", "size": 1}


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("text", ToolResult("text")),
        ({"temperature": 5}, ToolResult({"temperature": 5})),
        ({"status": "success", "result": "fine"}, ToolResult("fine")),
        ({"status": "success"}, ToolResult(None)),
        (None, ToolResult(None)),
        ({"status": "error", "error": "no"}, ToolResult(None, False, "no")),
        ({"status": "error"}, ToolResult(None, False, "the tool failed")),
        ({"status": "error", "error": "no", "error_code": 7}, ToolResult(None, False, "no", more={"error_code": 7})),
        ({"status": "error", "reason": "no"}, ToolResult(None, False, "the tool failed", more={"reason": "no"})),
        ({"status": "success", "result": "fine", "took": 3}, ToolResult("fine", more={"took": 3})),
        (
            {"status": "error", "error": "no", "stack": "line 1"},
            ToolResult(None, False, "no", more={"stack": "line 1"}),
        ),
        ({"status": "success", "temperature": 5}, ToolResult({"status": "success", "temperature": 5})),
        (
            {"status": "success", "result": "here", "attachments": [PICTURE, STORED]},
            ToolResult("here", attachments=({**PICTURE, "data": base64.b64encode(b"\x89PNG").decode()}, STORED)),
        ),
    ],
)
async def test_a_defined_tool_may_say_how_it_went(place, returned, expected: ToolResult) -> None:
    with collecting():
        tool = defined_tool(define_tool(name="t", description="", execute=lambda state: returned))
    assert await tool.perform({}, place) == expected


@pytest.mark.parametrize("attachments", [[{"name": "x"}], ["x"], [{"data": 5, "name": "x", "mimeType": "y"}], 5])
async def test_attachments_that_are_none_are_an_error(place, attachments) -> None:
    with collecting():
        returned = {"status": "success", "attachments": attachments}
        tool = defined_tool(define_tool(name="t", description="", execute=lambda: returned))
    assert "an attachment without name" in (await tool.perform({}, place)).error
