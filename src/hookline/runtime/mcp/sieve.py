"""What a server says, without those of its tools that the protocol does not know.

The official client refuses a list of tools as a whole if one of them is malformed, and with it the server.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from hookline.config.problem import printable, short
from hookline.runtime.mcp.transport import Streams, Transport

_log = logging.getLogger("hookline")

_LISTED: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}  # what a list has beside its tools


class Sieve:
    """It works once the protocol's version is known, which says what a tool is."""

    def __init__(self, server: str) -> None:
        self.version: str | None = None
        self._server = server

    @asynccontextmanager
    async def over(self, transport: Transport) -> AsyncIterator[Streams]:
        async with transport as (read, write):
            yield _Sieved(read, self), write

    def sift(self, said: SessionMessage | Exception) -> None:
        message = said.message if isinstance(said, SessionMessage) else None
        if self.version is None or not isinstance(message, JSONRPCResponse):
            return
        tools = message.result.get("tools")
        if isinstance(tools, list):
            message.result["tools"] = [tool for tool in tools if self._passes(tool)]

    def _passes(self, tool: Any) -> bool:
        try:
            validate_server_result("tools/list", str(self.version), {**_LISTED, "tools": [tool]})
        except ValidationError as error:
            _log.warning("[%s] a tool cannot be used: %s: %s", self._server, _name(tool), _why(error))
            return False
        return True


class _Sieved:
    """A stream of messages, as the official client reads it."""

    def __init__(self, stream: Any, sieve: Sieve) -> None:
        self._stream = stream
        self._sieve = sieve

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        said: SessionMessage | Exception = await self._stream.receive()
        self._sieve.sift(said)
        return said

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        said: SessionMessage | Exception = await anext(self._stream)
        self._sieve.sift(said)
        return said

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        left: bool | None = await self._stream.__aexit__(kind, error, trace)
        return left


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return short(printable(name)) if isinstance(name, str) else "one without a name"


def _why(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"] if not isinstance(step, int) and step != "tools")
    what = first["msg"][:1].lower() + first["msg"][1:]
    return short(printable(f"{where}: {what}" if where else what))
