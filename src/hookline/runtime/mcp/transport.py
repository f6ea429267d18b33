"""The two ways to an MCP server, as the official client wants them: a program's pipes, and streamable HTTP."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
from anyio import BrokenResourceError, ClosedResourceError
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from hookline.config.problem import printable, short
from hookline.hosts.mcp.lines import Gone, TooLong, lines_of
from hookline.hosts.mcp.message import written
from hookline.hosts.mcp.program import Program
from hookline.runtime.app import Server

_log = logging.getLogger("hookline")

LONGEST: Final = 32 * 1024 * 1024  # bytes of one message
_TIME_TO_WRITE: Final = 2.0  # seconds for what is still to be said when a server is told to end
_TIMEOUT: Final = httpx2.Timeout(30, read=None)  # how long an answer may take is the spec's to say

Lost = Callable[[str], None]
Streams = tuple[Any, Any]
Transport = AbstractAsyncContextManager[Streams]


@asynccontextmanager
async def over_pipes(server: Server, workspace: Path, env: Mapping[str, str], lost: Lost) -> AsyncIterator[Streams]:
    """`lost` hears how it ended, before whoever waits for an answer does. Raises HooklineError if it cannot start."""
    whole = {**env, **server.env}
    program = await Program.started("the program", server.command, whole, workspace, subprocess.PIPE)
    said, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, to_say = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, program, said, lost)
            tasks.start_soon(_say, program, to_say, lost)
            tasks.start_soon(program.log_errors, server.name)
            try:
                yield read, write
            finally:
                read.close()
                write.close()
                with anyio.CancelScope(shield=True):
                    await _finished(program)
                tasks.cancel_scope.cancel()
    finally:
        for end in (said, read, write, to_say):
            end.close()


async def _finished(program: Program) -> None:
    try:
        with anyio.move_on_after(_TIME_TO_WRITE):
            await program.finish()
    finally:
        await program.close()


async def _hear(program: Program, said: MemoryObjectSendStream[SessionMessage | Exception], lost: Lost) -> None:
    with said:
        try:
            async for line in lines_of(program.output, LONGEST):
                if (message := _message_in(line)) is not None:
                    await said.send(message)
            lost(await program.how_it_ended())
        except TooLong as error:
            lost(f"the program was stopped: {error}")
        except (BrokenResourceError, ClosedResourceError):
            return


def _message_in(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        _log.debug(
            "an MCP server said something that is no message: %s",
            short(printable(line[:200].decode("utf-8", "replace"))),
        )
        return None


async def _say(program: Program, to_say: MemoryObjectReceiveStream[SessionMessage], lost: Lost) -> None:
    with to_say:
        async for message in to_say:
            value = message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            try:
                await program.write(written(value) + b"\n")
            except Gone:
                lost(await program.how_it_ended())
                return


@asynccontextmanager
async def over_http(server: Server) -> AsyncIterator[Streams]:
    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers), timeout=_TIMEOUT, event_hooks={"response": [_bounded]}
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LONGEST) as streams,
    ):
        yield streams


async def _bounded(response: httpx2.Response) -> None:
    """An event's size is bounded by the client; a plain answer's is not."""
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        stream = response.stream
        if isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LONGEST:
                raise httpx2.ReadError(f"a message is longer than {LONGEST // 1024 // 1024} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
