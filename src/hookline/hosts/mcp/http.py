"""An MCP server behind a URL, through the official package's transport: sessions, event streams, resumption."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY, jsonrpc_message_adapter
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from hookline.hosts.mcp.lines import LONGEST
from hookline.hosts.mcp.message import Message, object_in
from hookline.hosts.mcp.server import Ended

_log = logging.getLogger("hookline")

_WAITING: Final = 64  # messages that may wait to be passed on
_TIMEOUT: Final = httpx2.Timeout(30, read=None)  # how long an answer may take is the client's to say


class Remote:
    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = dict(headers)
        self._stamps = Stamps()
        self._said: asyncio.Queue[Message | None] = asyncio.Queue(_WAITING)
        self._ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._how = "the MCP server closed the connection"
        self._closing = False
        self._connection = asyncio.ensure_future(self._connected())

    @property
    def fallback_name(self) -> str:
        return urlsplit(self._url).hostname or "server"

    async def messages(self) -> AsyncIterator[Message]:
        while (message := await self._said.get()) is not None:
            self._stamps.hear(message)
            yield message
        raise Ended(self._how)

    async def send(self, message: Message) -> None:
        try:
            said = jsonrpc_message_adapter.validate_python(message.value, by_name=False)
        except ValidationError:
            _log.warning("a message of the client cannot be sent over HTTP: it is no JSON-RPC 2.0")
            return
        headers = self._stamps.headers(message)
        write = await asyncio.shield(self._ready)
        try:
            await write.send(SessionMessage(said, ClientMessageMetadata(headers=headers)))
        except (BrokenResourceError, ClosedResourceError):
            raise Ended(self._how) from None

    async def finish(self) -> None:
        await self.close()

    async def close(self) -> None:
        self._closing = True
        self._connection.cancel()
        with suppress(asyncio.CancelledError):
            await self._connection
        while not self._said.empty():
            self._said.get_nowait()
        self._said.put_nowait(None)

    async def _connected(self) -> None:
        """A task of its own: a request that fails cancels the whole transport, and must not cancel the proxy."""
        try:
            await self._relay()
        except* (httpx2.HTTPError, OSError) as errors:
            self._how = f"the MCP server cannot be reached: {_first(errors)}"
        finally:
            if not self._ready.done():
                self._ready.set_exception(Ended(self._how))
                self._ready.exception()
            if not self._closing:
                await self._said.put(None)

    async def _relay(self) -> None:
        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=_TIMEOUT) as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=LONGEST) as (read, write),
        ):
            self._ready.set_result(write)
            while True:
                try:
                    said = await read.receive()
                except (EndOfStream, ClosedResourceError):
                    return
                if isinstance(said, Exception):
                    _log.warning("the MCP server said something that is no message: %s", type(said).__name__)
                else:
                    value = said.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                    await self._said.put(Message(value))


def _first(errors: BaseExceptionGroup[Any]) -> str:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


class Stamps:
    """The headers that mirror what a message says: over stdio a client has no need of them."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._asked: dict[str, str] = {}  # requests whose answers we look at
        self._mirrored: dict[str, dict[tuple[str, ...], str]] = {}  # tool → its inputs that stand in headers

    def headers(self, message: Message) -> dict[str, str]:
        method = message.method or ""
        if method in ("initialize", "tools/list") and message.is_request:
            self._asked[message.key] = method
        if method == "initialize":
            self._version = None
            return {}
        version = object_in(message.params, "_meta").get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: encode_header_value(version), MCP_METHOD_HEADER: method}
        return headers | self._of_call(method, message.params) if version in MODERN_PROTOCOL_VERSIONS else headers

    def _of_call(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if not isinstance(name, str):
            return {}
        headers = {MCP_NAME_HEADER: encode_header_value(name)}
        if method == "tools/call":
            headers |= mcp_param_headers(self._mirrored.get(name, {}), object_in(params, "arguments"))
        return headers

    def hear(self, message: Message) -> None:
        method = self._asked.pop(message.key, "") if message.is_answer else ""
        if method == "initialize":
            version = message.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif method == "tools/list":
            tools = message.result.get("tools")
            for tool in tools if isinstance(tools, list) else ():
                self._learn(tool)

    def _learn(self, tool: Any) -> None:
        schema, name = object_in(tool, "inputSchema"), object_in({"tool": tool}, "tool").get("name")
        if isinstance(name, str) and find_invalid_x_mcp_header(schema) is None:
            self._mirrored[name] = x_mcp_header_map(schema)
