"""A connection to one MCP server. If the server dies, the next call starts it again."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.hosts.mcp.json_rpc import is_deep
from hookline.runtime.mcp.transport import LostCallback, ToolListFilter, Transport

_log = logging.getLogger("hookline")

MAX_TOOLS: Final = 1_000
_MAX_PAGES: Final = 50
_CLOSE_SECONDS: Final = 10.0  # seconds; a program ends in half that time, a URL may never answer
_REFRESH_SECONDS: Final = 2.0  # seconds that a result waits for the tools that its call changed
_MAX_REASON_LENGTH: Final = 300  # characters
CONNECTION_ERRORS: Final = (
    MCPError,
    HooklineError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    OSError,
    ValueError,
    RuntimeError,
)
"""What the official client raises if a server is missing or misbehaves; `ValidationError` is a ValueError."""


class McpSession:
    """Runs in its own task, because a failed HTTP request cancels everything in the same task group."""

    def __init__(self, name: str, transport: Callable[[LostCallback], Transport], starting: float) -> None:
        self.tools: tuple[types.Tool, ...] = ()
        self.end_reason = ""  # why the session ended
        self._name = name
        self._tool_filter = ToolListFilter(name)
        self._client_ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._stale = asyncio.Event()
        self._fresh = asyncio.Event()
        self._fresh.set()
        self._task = asyncio.ensure_future(self._run(transport, starting))

    @property
    def is_alive(self) -> bool:
        return not self._task.done() and not self._over.is_set()

    async def client(self) -> Client:
        """Raises HooklineError if the server could not be started."""
        return await asyncio.shield(self._client_ready)

    async def died_within(self, seconds: float) -> bool:
        if self.is_alive:
            await asyncio.wait((self._task,), timeout=seconds)
        return not self.is_alive

    async def wait_until_refreshed(self) -> None:
        """Waits until the tools are up to date, if the server said that they changed."""
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(_REFRESH_SECONDS):
                await self._fresh.wait()
        except TimeoutError:
            _log.debug("[%s] the server did not list its changed tools in time", self._name)

    async def close(self) -> None:
        self._over.set()
        await asyncio.wait((self._task,))

    def _mark_lost(self, reason: str) -> None:
        self.end_reason = self.end_reason or reason
        self._over.set()

    async def _run(self, transport: Callable[[LostCallback], Transport], starting: float) -> None:
        scope = anyio.CancelScope(deadline=anyio.current_time() + starting)
        try:
            with scope:
                filtered = self._tool_filter.wrap(transport(self._mark_lost))
                await self._run_session(Client(filtered, cache=None, message_handler=self._handle_message), scope)
        except CONNECTION_ERRORS as error:
            self._mark_lost(error_reason(error))
        except ExceptionGroup as errors:
            if errors.split(CONNECTION_ERRORS)[1] is not None:
                raise
            self._mark_lost(error_reason(errors))
        finally:
            self._over.set()
            self._fresh.set()
            if not self._client_ready.done():
                if scope.cancel_called:  # some Python versions leak the cancellation
                    self._mark_lost(f"it did not answer within {starting:g} s")
                self._client_ready.set_exception(HooklineError(self.end_reason or "it ended right after its start"))
                self._client_ready.exception()  # there may be no waiter

    async def _run_session(self, connecting: Client, scope: anyio.CancelScope) -> None:
        async with connecting as client:
            self._tool_filter.version = client.protocol_version
            self.tools = await _list_tools(client)
            scope.deadline = math.inf
            self._client_ready.set_result(client)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._refresh_tools, client)
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    tasks.start_soon(self._listen_for_changes, client)
                await self._over.wait()
                tasks.cancel_scope.cancel()
            scope.deadline = anyio.current_time() + _CLOSE_SECONDS

    async def _handle_message(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._mark_tools_changed()

    def _mark_tools_changed(self) -> None:
        self._fresh.clear()
        self._stale.set()

    async def _refresh_tools(self, client: Client) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            try:
                self.tools = await _list_tools(client)
            except CONNECTION_ERRORS as error:
                _log.warning("[%s] the changed tools cannot be listed: %s", self._name, error_reason(error))
            if not self._stale.is_set():
                self._fresh.set()

    async def _listen_for_changes(self, client: Client) -> None:
        offered = client.server_capabilities.tools
        if offered is None or not offered.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._mark_tools_changed()
        except (MCPError, SubscriptionLost) as error:
            _log.debug("[%s] the server cannot report changes of its tools: %s", self._name, error_reason(error))


async def _list_tools(client: Client) -> tuple[types.Tool, ...]:
    if client.server_capabilities.tools is None:
        return ()
    found: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_TOOLS:
            break
    return tuple(found[:MAX_TOOLS])


def error_reason(error: BaseException) -> str:
    """The first error, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        return "it sent a response that violates the protocol"
    text = str(error).strip() or type(error).__name__
    return printable(" ".join(text.split()))[:_MAX_REASON_LENGTH]


_MAX_STARTS: Final = 3  # starts in a row without an answered call
_END_REASON_SECONDS: Final = 1.5  # seconds to wait for the reason of a broken connection
_SESSION_TERMINATED: Final = "Session terminated"  # the official client's error for a 404 within a session


class McpConnection:
    def __init__(self, name: str, transport: Callable[[LostCallback], Transport], starting: timedelta) -> None:
        self.name = name
        self._transport = transport
        self._starting = starting.total_seconds()
        self._session: McpSession | None = None
        self._lock = asyncio.Lock()
        self._starts = 0
        self._closed = False

    @property
    def tools(self) -> tuple[types.Tool, ...]:
        """The tools as last listed by the server."""
        return self._session.tools if self._session is not None else ()

    async def open(self) -> None:
        """Raises HooklineError with the reason if the server cannot be started."""
        await (await self._ensure_session()).client()

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def call(self, tool: str, input: dict[str, Any], timeout: timedelta) -> types.CallToolResult:
        """Raises HooklineError if there is no answer. A call that was sent is never repeated."""
        _check_input(input)
        session = await self._ensure_session()
        seconds = timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                answer = await (await session.client()).call_tool(tool, input)
        except TimeoutError:
            raise HooklineError(f"it did not answer within {seconds:g} s") from None
        except MCPError as error:
            raise HooklineError(await self._describe_call_error(session, error)) from None
        except CONNECTION_ERRORS as error:
            raise HooklineError(error_reason(error)) from None
        self._starts = 0
        await session.wait_until_refreshed()
        return answer

    async def _ensure_session(self) -> McpSession:
        async with self._lock:
            if self._closed:
                raise HooklineError("it was closed")
            if self._session is not None and self._session.is_alive:
                return self._session
            if self._starts >= _MAX_STARTS:
                why = self._session.end_reason if self._session is not None else ""
                raise HooklineError(f"it failed {_MAX_STARTS} times and is not started again: {why or 'it ended'}")
            if self._session is not None:
                await self._session.close()
            self._starts += 1
            tools = self.tools
            self._session = McpSession(self.name, self._transport, self._starting)
            self._session.tools = tools
            return self._session

    async def _describe_call_error(self, session: McpSession, error: MCPError) -> str:
        if error.code == types.CONNECTION_CLOSED and await session.died_within(_END_REASON_SECONDS):
            return session.end_reason or "it closed the connection"
        if error.message == _SESSION_TERMINATED:
            await session.close()
            return "it no longer has this session; the next call starts a new one"
        self._starts = 0
        return error_reason(error)


def _check_input(input: dict[str, Any]) -> None:
    if is_deep(input):
        raise HooklineError("the input is nested too deeply")
    try:
        json.dumps(input, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise HooklineError("the input contains a value that JSON cannot represent") from None
