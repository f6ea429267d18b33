"""The headers that repeat parts of an MCP message, and a server that cannot be reached."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_NAME_HEADER, MCP_PROTOCOL_VERSION_HEADER
from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from hookline.hosts.mcp.json_rpc import Message
from hookline.hosts.mcp.upstream import UpstreamClosedError
from hookline.hosts.mcp.upstream_http import HttpUpstream, ProtocolHeaders

pytestmark = pytest.mark.slow

MODERN = sorted(MODERN_PROTOCOL_VERSIONS)[-1]


def request(method: str, id: int = 1, **params: Any) -> Message:
    return Message({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def response(result: dict[str, Any], id: int = 1) -> Message:
    return Message({"jsonrpc": "2.0", "id": id, "result": result})


def test_the_agreed_version_is_sent_after_the_initialization() -> None:
    headers = ProtocolHeaders()
    assert headers.headers_for(request("tools/call")) == {}
    assert headers.headers_for(request("initialize")) == {}
    headers.observe(response({"protocolVersion": "other"}, id=2))
    assert headers.headers_for(request("ping")) == {}
    headers.observe(response({"protocolVersion": "2025-06-18"}))
    assert headers.headers_for(request("ping")) == {MCP_PROTOCOL_VERSION_HEADER: "2025-06-18"}
    assert headers.headers_for(request("initialize")) == {}
    assert headers.headers_for(request("ping")) == {}


def test_a_modern_request_names_its_method_and_tool() -> None:
    sent = ProtocolHeaders().headers_for(
        request("tools/call", name="t", arguments={}, _meta={PROTOCOL_VERSION_META_KEY: MODERN})
    )
    assert sent == {MCP_PROTOCOL_VERSION_HEADER: MODERN, MCP_METHOD_HEADER: "tools/call", MCP_NAME_HEADER: "t"}


def test_a_list_of_tools_that_is_odd_teaches_nothing() -> None:
    headers = ProtocolHeaders()
    for number, tools in enumerate((None, "t", [None, 5, {"name": 5}, {"name": "t", "inputSchema": []}])):
        headers.headers_for(request("tools/list", number))
        headers.observe(response({"tools": tools}, number))
    sent = headers.headers_for(request("tools/call", name="t", _meta={PROTOCOL_VERSION_META_KEY: MODERN}))
    assert sent[MCP_NAME_HEADER] == "t"


class _Received(Exception):
    pass


async def first_message(upstream: HttpUpstream) -> Message:
    """Raises UpstreamClosedError."""
    received: list[Message] = []

    async def handle(message: Message) -> None:
        received.append(message)
        raise _Received

    with suppress(_Received):
        await asyncio.wait_for(upstream.dispatch(handle), 30)
    return received[0]


def test_a_server_that_cannot_be_reached_is_closed_and_says_so() -> None:
    async def connect() -> tuple[str, str]:
        upstream = HttpUpstream("http://127.0.0.1:1/mcp", {})
        try:
            await upstream.send(request("ping"))
            with pytest.raises(UpstreamClosedError) as closed:
                await first_message(upstream)
            return upstream.fallback_name, str(closed.value)
        finally:
            await upstream.close()

    name, said = asyncio.run(connect())
    assert name == "127.0.0.1"
    assert "MCP server" in said


def test_a_server_that_asks_for_a_login_says_how() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def connect() -> str:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            upstream = HttpUpstream(f"http://127.0.0.1:{port}/mcp", {})
            try:
                await upstream.send(request("ping"))
                answer = await first_message(upstream)
                return str(answer.value["error"]["message"])
            finally:
                await upstream.close()

    assert "hookline mcp --login" in asyncio.run(connect())
