"""An MCP server behind a URL, through the transport of the `mcp` package: sessions, event streams, resumption."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from mcp.client.auth import OAuthFlowError
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

from hookline.hosts.mcp.json_rpc import Message, get_object
from hookline.hosts.mcp.upstream import MessageHandler, UpstreamClosedError
from hookline.runners.line_dispatcher import MAX_LINE_BYTES

_log = logging.getLogger("hookline")

_QUEUE_SIZE: Final = 64  # messages that may wait to be passed on
_TIMEOUT: Final = httpx2.Timeout(30, read=None)  # the client decides how long an answer may take


# Without the URL, which may have a key in it: the agent reads this.
_NO_LOGIN: Final = (
    "the MCP server asks for a login (HTTP 401). Run `hookline mcp --login --url …` with its URL, or give it a token with "
    "--header 'Authorization: Bearer …' or in HOOKLINE_MCP_HEADERS"
)


class HttpUpstream:
    def __init__(self, url: str, headers: Mapping[str, str], auth: httpx2.Auth | None = None) -> None:
        self._url = url
        self._headers = dict(headers)
        self._auth = auth
        self._stamps = ProtocolHeaders()
        self._incoming: asyncio.Queue[Message | None] = asyncio.Queue(_QUEUE_SIZE)
        self._ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._end_reason = "the MCP server closed the connection"
        self._closing = False
        self._refuses_login = False  # a request was answered with HTTP 401
        self._connection = asyncio.ensure_future(self._run_connection())

    @property
    def fallback_name(self) -> str:
        return urlsplit(self._url).hostname or "server"

    async def dispatch(self, handle: MessageHandler) -> None:
        while (message := await self._incoming.get()) is not None:
            self._stamps.observe(message)
            await handle(self._explain_error(message))
        raise UpstreamClosedError(self._end_reason)

    async def send(self, message: Message) -> None:
        try:
            said = jsonrpc_message_adapter.validate_python(message.value, by_name=False)
        except ValidationError:
            _log.warning("cannot send a message of the client over HTTP: it is not JSON-RPC 2.0")
            return
        stamped = SessionMessage(said, ClientMessageMetadata(headers=self._stamps.headers_for(message)))
        await asyncio.ensure_future(self._post(stamped))  # the transport asks for its task, and a handler may have none

    async def _post(self, message: SessionMessage) -> None:
        write = await asyncio.shield(self._ready)
        try:
            await write.send(message)
        except (BrokenResourceError, ClosedResourceError):
            raise UpstreamClosedError(self._end_reason) from None

    async def finish(self) -> None:
        await self.close()

    async def close(self) -> None:
        self._closing = True
        self._connection.cancel()
        with suppress(asyncio.CancelledError):
            await self._connection
        while not self._incoming.empty():
            self._incoming.get_nowait()
        self._incoming.put_nowait(None)

    async def _run_connection(self) -> None:
        """Runs in its own task: a failing request cancels the whole transport, which must not cancel the proxy."""
        try:
            await self._relay()
        except* (httpx2.HTTPError, OSError) as errors:
            self._end_reason = f"the MCP server cannot be reached: {_first_error(errors)}"
        except* OAuthFlowError as errors:
            self._end_reason = f"the MCP server does not accept the login: {_first_error(errors)}"
        finally:
            if not self._ready.done():
                self._ready.set_exception(UpstreamClosedError(self._end_reason))
                self._ready.exception()
            if not self._closing:
                await self._incoming.put(None)

    async def _relay(self) -> None:
        async with (
            httpx2.AsyncClient(
                headers=self._headers,
                auth=self._auth,
                timeout=_TIMEOUT,
                event_hooks={"response": [self._note_refused_login]},
            ) as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=MAX_LINE_BYTES) as (read, write),
        ):
            self._ready.set_result(write)
            while True:
                try:
                    said = await read.receive()
                except (EndOfStream, ClosedResourceError):
                    return
                if isinstance(said, Exception):
                    _log.warning("invalid JSON-RPC message from the MCP server: %s", type(said).__name__)
                else:
                    value = said.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                    await self._incoming.put(Message(value))

    async def _note_refused_login(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            self._refuses_login = True
            _log.warning("%s", _NO_LOGIN)

    def _explain_error(self, message: Message) -> Message:
        """The transport says only that the server answered with an error."""
        error = message.value.get("error")
        if not self._refuses_login or not isinstance(error, dict):
            return message
        self._refuses_login = False
        return Message({**message.value, "error": {**error, "message": _NO_LOGIN}})


def _first_error(errors: BaseExceptionGroup[Any]) -> str:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


class ProtocolHeaders:
    """Sets the headers that repeat parts of a message. Clients over stdio do not send them."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._pending_methods: dict[str, str] = {}  # requests whose answers we inspect
        self._header_inputs: dict[str, dict[tuple[str, ...], str]] = {}  # tool → its inputs that are sent as headers

    def headers_for(self, message: Message) -> dict[str, str]:
        method = message.method or ""
        if method in ("initialize", "tools/list") and message.is_request:
            self._pending_methods[message.key] = method
        if method == "initialize":
            self._version = None
            return {}
        version = get_object(message.params, "_meta").get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: encode_header_value(version), MCP_METHOD_HEADER: method}
        return headers | self._call_headers(method, message.params) if version in MODERN_PROTOCOL_VERSIONS else headers

    def _call_headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if not isinstance(name, str):
            return {}
        headers = {MCP_NAME_HEADER: encode_header_value(name)}
        if method == "tools/call":
            headers |= mcp_param_headers(self._header_inputs.get(name, {}), get_object(params, "arguments"))
        return headers

    def observe(self, message: Message) -> None:
        method = self._pending_methods.pop(message.key, "") if message.is_response else ""
        if method == "initialize":
            version = message.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif method == "tools/list":
            tools = message.result.get("tools")
            for tool in tools if isinstance(tools, list) else ():
                self._learn_tool(tool)

    def _learn_tool(self, tool: Any) -> None:
        schema, name = get_object(tool, "inputSchema"), get_object({"tool": tool}, "tool").get("name")
        if isinstance(name, str) and find_invalid_x_mcp_header(schema) is None:
            self._header_inputs[name] = x_mcp_header_map(schema)
