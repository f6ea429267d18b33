"""A connection to one MCP server that outlives the server: one that died is started again by the next call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import mcp_types as types
from mcp import MCPError

from hookline.errors import HooklineError
from hookline.hosts.mcp.message import is_deep
from hookline.runtime.mcp.talk import BROKEN, Talk, reason
from hookline.runtime.mcp.transport import Lost, Transport

_MOST_STARTS: Final = 3  # in a row, without a call that was answered
_LAST_WORDS: Final = 1.5  # seconds in which a broken connection may still say why
_SESSION_GONE: Final = "Session terminated"  # what the official client makes of a 404 within a session


class Connection:
    def __init__(self, name: str, transport: Callable[[Lost], Transport], starting: timedelta) -> None:
        self.name = name
        self._transport = transport
        self._starting = starting.total_seconds()
        self._talk: Talk | None = None
        self._lock = asyncio.Lock()
        self._starts = 0
        self._closed = False

    @property
    def tools(self) -> tuple[types.Tool, ...]:
        """As the server last listed them."""
        return self._talk.tools if self._talk is not None else ()

    async def open(self) -> None:
        """Raises HooklineError, which says why, if the server cannot be started."""
        await (await self._living()).client()

    async def close(self) -> None:
        self._closed = True
        if self._talk is not None:
            await self._talk.close()

    async def call(self, tool: str, input: dict[str, Any], timeout: timedelta) -> types.CallToolResult:
        """Raises HooklineError if there is no answer. A call that was sent is never sent again."""
        _check(input)
        talk = await self._living()
        seconds = timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                answer = await (await talk.client()).call_tool(tool, input)
        except TimeoutError:
            raise HooklineError(f"it did not answer within {seconds:g} s") from None
        except MCPError as error:
            raise HooklineError(await self._why(talk, error)) from None
        except BROKEN as error:
            raise HooklineError(reason(error)) from None
        self._starts = 0
        await talk.refreshed()
        return answer

    async def _living(self) -> Talk:
        async with self._lock:
            if self._closed:
                raise HooklineError("it was closed")
            if self._talk is not None and self._talk.alive:
                return self._talk
            if self._starts >= _MOST_STARTS:
                why = self._talk.why if self._talk is not None else ""
                raise HooklineError(f"it is not started again after {_MOST_STARTS} times: {why or 'it ended'}")
            if self._talk is not None:
                await self._talk.close()
            self._starts += 1
            tools = self.tools
            self._talk = Talk(self.name, self._transport, self._starting)
            self._talk.tools = tools
            return self._talk

    async def _why(self, talk: Talk, error: MCPError) -> str:
        if error.code == types.CONNECTION_CLOSED and await talk.died_within(_LAST_WORDS):
            return talk.why or "it closed the connection"
        if error.message == _SESSION_GONE:
            await talk.close()
            return "it forgot our session; the next call begins a new one"
        self._starts = 0
        return reason(error)


def _check(input: dict[str, Any]) -> None:
    if is_deep(input):
        raise HooklineError("the input is nested too deep")
    try:
        json.dumps(input, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise HooklineError("the input holds what JSON cannot say") from None
