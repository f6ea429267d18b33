"""An MCP server that is started as a command."""

from __future__ import annotations

import asyncio

import pytest

from hookline.hosts.mcp.json_rpc import Message
from hookline.hosts.mcp.upstream import ProcessUpstream, UpstreamClosedError

pytestmark = pytest.mark.slow


async def listen(script: str) -> tuple[list[object], str]:
    """The messages of a server, and how it ended."""
    upstream = await ProcessUpstream.start(["sh", "-c", script])
    heard: list[object] = []

    async def handle(message: Message) -> None:
        heard.append(message.value)

    try:
        await upstream.dispatch(handle)
    except UpstreamClosedError as error:
        return heard, str(error)
    finally:
        await upstream.close()
    raise AssertionError("it ended without saying how")


async def _refuse(message: Message) -> None:
    raise AssertionError(message)


def test_messages_come_until_the_server_ends_and_other_lines_are_dropped() -> None:
    script = """printf '{"jsonrpc":"2.0","method":"a"}\\nstarting...\\n\\n{"jsonrpc":"2.0","method":"b"}\\n'; exit 3"""
    heard, end = asyncio.run(listen(script))
    assert heard == [{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "2.0", "method": "b"}]
    assert end == "the MCP server ended with exit code 3"


def test_a_message_is_one_line_for_the_server() -> None:
    async def echo() -> object:
        upstream = await ProcessUpstream.start(["cat"])
        try:
            assert upstream.fallback_name == "cat"
            await upstream.send(Message({"jsonrpc": "2.0", "method": "a\nb"}))
            echoed: list[object] = []

            async def handle(message: Message) -> None:
                echoed.append(message.value)
                await upstream.finish()

            with pytest.raises(UpstreamClosedError):
                await upstream.dispatch(handle)
            return echoed
        finally:
            await upstream.close()

    assert asyncio.run(echo()) == [{"jsonrpc": "2.0", "method": "a\nb"}]


def test_a_server_that_finishes_ends_by_itself() -> None:
    async def finish() -> str:
        upstream = await ProcessUpstream.start(["cat"])
        await upstream.finish()
        with pytest.raises(UpstreamClosedError) as closed:
            await upstream.dispatch(_refuse)
        await upstream.close()
        return str(closed.value)

    assert asyncio.run(finish()) == "the MCP server ended with exit code 0"
