"""Connects to an MCP server through a program's pipes or streamable HTTP.

Malformed tools are removed from the server's messages: the official client would reject the whole server for one.
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import anyio
import httpx2
from anyio import BrokenResourceError, ClosedResourceError
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, jsonrpc_message_adapter
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from hookline.formatting import printable, shorten
from hookline.hosts.mcp.json_rpc import encode_compact_json
from hookline.runners.line_dispatcher import LineTooLongError
from hookline.runners.server_process import PipeClosedError, ServerProcess, read_lines
from hookline.runtime.apps.app import McpServer

_log = logging.getLogger("hookline")

MAX_MESSAGE_BYTES: Final = 32 * 1024 * 1024  # bytes of one message
_WRITE_SECONDS: Final = 2.0  # seconds to send pending messages before a server is stopped
_TIMEOUT: Final = httpx2.Timeout(30, read=None)  # no read limit: the timeout in the server's settings applies

LostCallback = Callable[[str], None]
Streams = tuple[Any, Any]
Transport = AbstractAsyncContextManager[Streams]


@asynccontextmanager
async def stdio_transport(
    server: McpServer, workspace: Path, env: Mapping[str, str], lost: LostCallback
) -> AsyncIterator[Streams]:
    """`lost` is called with the reason before waiting callers fail. Raises HooklineError if it cannot start."""
    environment = {**env, **server.env}
    program = await ServerProcess.start("the program", server.command, environment, workspace, subprocess.PIPE)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_receive_messages, program, incoming, lost)
            tasks.start_soon(_send_messages, program, outgoing, lost)
            tasks.start_soon(program.log_errors, server.name)
            try:
                yield read, write
            finally:
                read.close()
                write.close()
                with anyio.CancelScope(shield=True):
                    await _finish_program(program)
                tasks.cancel_scope.cancel()
    finally:
        for end in (incoming, read, write, outgoing):
            end.close()


async def _finish_program(program: ServerProcess) -> None:
    try:
        with anyio.move_on_after(_WRITE_SECONDS):
            await program.finish()
    finally:
        await program.close()


async def _receive_messages(
    program: ServerProcess, incoming: MemoryObjectSendStream[SessionMessage | Exception], lost: LostCallback
) -> None:
    with incoming:
        try:
            async for line in read_lines(program.output, MAX_MESSAGE_BYTES):
                if (message := _parse_message(line)) is not None:
                    await incoming.send(message)
            lost(await program.describe_exit())
        except LineTooLongError as error:
            lost(f"the program was stopped: {error}")
        except (BrokenResourceError, ClosedResourceError):
            return


def _parse_message(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        _log.debug(
            "invalid message from an MCP server: %s",
            shorten(printable(line[:200].decode("utf-8", "replace"))),
        )
        return None


async def _send_messages(
    program: ServerProcess, outgoing: MemoryObjectReceiveStream[SessionMessage], lost: LostCallback
) -> None:
    with outgoing:
        async for message in outgoing:
            value = message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            try:
                await program.write(encode_compact_json(value) + b"\n")
            except PipeClosedError:
                lost(await program.describe_exit())
                return


@asynccontextmanager
async def http_transport(server: McpServer) -> AsyncIterator[Streams]:
    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers), timeout=_TIMEOUT, event_hooks={"response": [_limit_response]}
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


async def _limit_response(response: httpx2.Response) -> None:
    """The client limits the size of an event, but not of a plain response."""
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        stream = response.stream
        if isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _LimitedStream(stream)


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"a message is longer than {MAX_MESSAGE_BYTES // 1024 // 1024} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


_EMPTY_TOOL_LIST: Final = {
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}  # keys of a list besides its tools


class ToolListFilter:
    """Filters once the protocol version is known, because the version defines a valid tool."""

    def __init__(self, server: str) -> None:
        self.version: str | None = None
        self._server = server

    @asynccontextmanager
    async def wrap(self, transport: Transport) -> AsyncIterator[Streams]:
        async with transport as (read, write):
            yield _FilteredStream(read, self), write

    def drop_malformed_tools(self, received: SessionMessage | Exception) -> None:
        message = received.message if isinstance(received, SessionMessage) else None
        if self.version is None or not isinstance(message, JSONRPCResponse):
            return
        tools = message.result.get("tools")
        if isinstance(tools, list):
            message.result["tools"] = [tool for tool in tools if self._is_valid(tool)]

    def _is_valid(self, tool: Any) -> bool:
        try:
            validate_server_result("tools/list", str(self.version), {**_EMPTY_TOOL_LIST, "tools": [tool]})
        except ValidationError as error:
            _log.warning(
                "[%s] skipped a malformed tool: %s: %s",
                self._server,
                _display_name(tool),
                _describe_validation_error(error),
            )
            return False
        return True


class _FilteredStream:
    """A stream of messages for the official client."""

    def __init__(self, stream: Any, filter: ToolListFilter) -> None:
        self._stream = stream
        self._filter = filter

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        received: SessionMessage | Exception = await self._stream.receive()
        self._filter.drop_malformed_tools(received)
        return received

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        received: SessionMessage | Exception = await anext(self._stream)
        self._filter.drop_malformed_tools(received)
        return received

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        suppressed: bool | None = await self._stream.__aexit__(kind, error, trace)
        return suppressed


def _display_name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return shorten(printable(name)) if isinstance(name, str) else "a tool without a name"


def _describe_validation_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"] if not isinstance(step, int) and step != "tools")
    what = first["msg"][:1].lower() + first["msg"][1:]
    return shorten(printable(f"{where}: {what}" if where else what))
