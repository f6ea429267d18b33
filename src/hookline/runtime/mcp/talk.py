"""One life of an MCP server, from the handshake to its end."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from hookline.config.problem import printable
from hookline.errors import HooklineError
from hookline.runtime.mcp.sieve import Sieve
from hookline.runtime.mcp.transport import Lost, Transport

_log = logging.getLogger("hookline")

MOST_TOOLS: Final = 1_000
_PAGES: Final = 50
_TIME_TO_CLOSE: Final = 10.0  # seconds; a program is dead after half of it, a URL may not answer
_TIME_TO_REFRESH: Final = 2.0  # seconds that a result waits for the tools that its call changed
_LONGEST_REASON: Final = 300  # characters
BROKEN: Final = (MCPError, HooklineError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RuntimeError)
"""What the official client raises when a server is not there or does not behave; `ValidationError` is a ValueError."""


class Talk:
    """It has a task of its own: a request that fails over HTTP cancels all that runs beside it."""

    def __init__(self, name: str, transport: Callable[[Lost], Transport], starting: float) -> None:
        self.tools: tuple[types.Tool, ...] = ()
        self.why = ""  # it ended
        self._name = name
        self._sieve = Sieve(name)
        self._begun: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._stale = asyncio.Event()
        self._fresh = asyncio.Event()
        self._fresh.set()
        self._task = asyncio.ensure_future(self._run(transport, starting))

    @property
    def alive(self) -> bool:
        return not self._task.done() and not self._over.is_set()

    async def client(self) -> Client:
        """Raises HooklineError if the server could not be started."""
        return await asyncio.shield(self._begun)

    async def died_within(self, seconds: float) -> bool:
        if self.alive:
            await asyncio.wait((self._task,), timeout=seconds)
        return not self.alive

    async def refreshed(self) -> None:
        """Returns once the tools are those that the server has now, as far as it said that they changed."""
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(_TIME_TO_REFRESH):
                await self._fresh.wait()
        except TimeoutError:
            _log.debug("[%s] it does not say which tools it has now", self._name)

    async def close(self) -> None:
        self._over.set()
        await asyncio.wait((self._task,))

    def _lose(self, why: str) -> None:
        self.why = self.why or why
        self._over.set()

    async def _run(self, transport: Callable[[Lost], Transport], starting: float) -> None:
        scope = anyio.CancelScope(deadline=anyio.current_time() + starting)
        try:
            with scope:
                sieved = self._sieve.over(transport(self._lose))
                await self._live(Client(sieved, cache=None, message_handler=self._heard), scope)
        except BROKEN as error:
            self._lose(reason(error))
        except ExceptionGroup as errors:
            if errors.split(BROKEN)[1] is not None:
                raise
            self._lose(reason(errors))
        finally:
            self._over.set()
            self._fresh.set()
            if not self._begun.done():
                if scope.cancel_called:  # some versions of Python let the cancellation out of its scope
                    self._lose(f"it did not answer within {starting:g} s")
                self._begun.set_exception(HooklineError(self.why or "it ended at once"))
                self._begun.exception()  # nobody may be waiting

    async def _live(self, connecting: Client, scope: anyio.CancelScope) -> None:
        async with connecting as client:
            self._sieve.version = client.protocol_version
            self.tools = await _listed(client)
            scope.deadline = math.inf
            self._begun.set_result(client)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._refresh, client)
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    tasks.start_soon(self._listen, client)
                await self._over.wait()
                tasks.cancel_scope.cancel()
            scope.deadline = anyio.current_time() + _TIME_TO_CLOSE

    async def _heard(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed()

    def _changed(self) -> None:
        self._fresh.clear()
        self._stale.set()

    async def _refresh(self, client: Client) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            try:
                self.tools = await _listed(client)
            except BROKEN as error:
                _log.warning("[%s] it changed its tools and cannot list them: %s", self._name, reason(error))
            if not self._stale.is_set():
                self._fresh.set()

    async def _listen(self, client: Client) -> None:
        offered = client.server_capabilities.tools
        if offered is None or not offered.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._changed()
        except (MCPError, SubscriptionLost) as error:
            _log.debug("[%s] it does not tell when its tools change: %s", self._name, reason(error))


async def _listed(client: Client) -> tuple[types.Tool, ...]:
    if client.server_capabilities.tools is None:
        return ()
    found: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            break
    return tuple(found[:MOST_TOOLS])


def reason(error: BaseException) -> str:
    """One line of it; of several, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        return "it answered what the protocol does not know"
    text = str(error).strip() or type(error).__name__
    return printable(" ".join(text.split()))[:_LONGEST_REASON]
