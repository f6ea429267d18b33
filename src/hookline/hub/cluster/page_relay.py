"""Connects a page at this hub with the hub that has its session: what one says is passed on to the other.

It speaks Socket.IO to the other hub as a page does, with the token of the page's own user.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from hookline.errors import HooklineError

_OPEN_TIMEOUT: Final = timedelta(seconds=5)
_MAX_MESSAGE: Final = 4 << 20  # bytes
# A packet of Engine.IO begins with 2 (ping), 3 (pong) or 4 (message). A message is a packet of Socket.IO, which begins with
# 0 (connect), 1 (disconnect), 2 (event) or 3 (the answer to an event).
_EVENT_OR_ANSWER: Final = re.compile(r"4([23])/page,([0-9]*)(\[.*)", re.DOTALL)
_ANSWER_TYPE: Final = "3"
_CONNECT: Final = "40/page,"
_DISCONNECT: Final = "41/page"
_PING: Final = "2"
_PONG: Final = "3"

HUB_LEFT: Final = "the hub that has this session has left"

Send = Callable[[str, Any, Callable[..., None] | None], Awaitable[None]]
"""Sends an event to the page. The callback gets its answer."""


class PageRelay:
    """`on_lost` is called if the other hub ends the connection."""

    def __init__(self, connection: ClientConnection, send: Send, on_lost: Callable[[], Awaitable[None]]) -> None:
        self._connection = connection
        self._send = send
        self._on_lost = on_lost
        self._last_number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answers: set[asyncio.Task[None]] = set()
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def open(cls, url: str, token: str, send: Send, on_lost: Callable[[], Awaitable[None]]) -> PageRelay:
        """`url` is the other hub's. Raises HooklineError if it does not take the connection."""
        address = f"ws{url.removeprefix('http')}/socket.io/?EIO=4&transport=websocket"
        try:
            async with asyncio.timeout(_OPEN_TIMEOUT.total_seconds()):
                connection = await connect(address, compression=None, max_size=_MAX_MESSAGE, ping_interval=None)
                await connection.recv()
                await connection.send(f"{_CONNECT}{json.dumps({'token': token})}")
                answer = str(await connection.recv())
        except (OSError, TimeoutError, WebSocketException) as error:
            raise HooklineError("the hub that has this session does not answer; try again") from error
        if not answer.startswith(_CONNECT):
            await connection.close()
            raise HooklineError("the hub that has this session does not take this page")
        return cls(connection, send, on_lost)

    async def ask(self, event: str, data: Any) -> Any:
        """The other hub's answer. Raises HooklineError if the connection ends before."""
        number = self._last_number = self._last_number + 1
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._write(f"42/page,{number}{json.dumps([event, data])}")
            return await answer
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        self._reading.cancel()
        for task in self._answers:
            task.cancel()
        await self._connection.close()

    async def _read(self) -> None:
        try:
            async for message in self._connection:
                if str(message).startswith(_DISCONNECT):
                    break
                await self._handle(str(message))
        except WebSocketException:
            pass
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(HooklineError(HUB_LEFT))
        await self._on_lost()

    async def _handle(self, message: str) -> None:
        if message == _PING:
            await self._write(_PONG)
            return
        found = _EVENT_OR_ANSWER.fullmatch(message)
        if found is None:
            return
        kind, number, data = found[1], found[2], json.loads(found[3])
        if kind == _ANSWER_TYPE:
            answer = self._waiting.get(int(number or 0))
            if answer is not None and not answer.done():
                answer.set_result(data[0] if data else None)
            return
        await self._send(data[0], data[1] if len(data) > 1 else None, self._answerer(number) if number else None)

    def _answerer(self, number: str) -> Callable[..., None]:
        def answer(*given: Any) -> None:
            task = asyncio.ensure_future(self._write(f"43/page,{number}{json.dumps(list(given))}"))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)

        return answer

    async def _write(self, message: str) -> None:
        try:
            await self._connection.send(message)
        except WebSocketException as error:
            raise HooklineError(HUB_LEFT) from error
