"""The thread that hook code may read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.errors import UnavailableError
from hookline.frameworks.conversation import Conversation
from hookline.hooks.host import ToolResult


async def call(name: str, input: dict[str, Any]) -> ToolResult:
    return ToolResult(f"{name} {input}")


def test_messages_are_those_that_the_framework_showed() -> None:
    thread = Conversation("t1", call)
    thread.show_messages([{"role": "user", "content": str(at)} for at in range(5)], dict)
    first = asyncio.run(thread.get_messages())
    assert [each["content"] for each in first] == ["0", "1", "2", "3", "4"]
    assert {"id", "created_at", "role", "content"} == set(first[0])
    last = asyncio.run(thread.get_messages(2, 1))
    assert [each["content"] for each in last] == ["2", "3"]
    thread.show_messages([{"role": "user", "content": str(at)} for at in range(6)], dict)
    assert asyncio.run(thread.get_messages())[0]["created_at"] == first[0]["created_at"]


def test_tools_can_be_called_and_nothing_can_be_stored() -> None:
    thread = Conversation("t1", call)
    assert asyncio.run(thread.invoke_tool("x", {})).content == "x {}"
    for work in (
        thread.inject_message({}),
        thread.update_message("m1", {}),
        thread.read_file("x"),
        thread.write_file("x", b"", ""),
        thread.list_files(),
        thread.queue_tool("x", {}),
    ):
        with pytest.raises(UnavailableError):
            asyncio.run(work)


def test_a_halt_aborts_it() -> None:
    thread = Conversation("t1", call)
    thread.abort.abort("enough")
    assert thread.abort.aborted
