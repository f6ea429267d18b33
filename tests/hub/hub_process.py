"""A hub that serves on a port of its own, in this process, and clients of its socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from hookline.hub.context.running_hub import Hub
from hookline.hub.hub_server import run_hub
from hookline.lazy_dataclasses import replace
from hub.hub_sandbox import hub_config


@asynccontextmanager
async def serve_hub(directory: Path, **settings: Any) -> AsyncIterator[tuple[Hub, str]]:
    """The hub and its link."""
    ready: asyncio.Future[tuple[Hub, str]] = asyncio.get_running_loop().create_future()

    async def on_ready(hub: Hub, link: str) -> None:
        ready.set_result((hub, link))

    port = settings.pop("port", 0)
    serving = asyncio.ensure_future(run_hub(replace(hub_config(directory, **settings), port=port), on_ready))
    await asyncio.wait([serving, ready], return_when="FIRST_COMPLETED")
    if serving.done():
        serving.result()
    try:
        yield ready.result()
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


class Socket:
    """Speaks Socket.IO over a WebSocket, message by message."""

    def __init__(self, connection: ClientConnection, namespace: str) -> None:
        self._connection = connection
        self._namespace = namespace
        self._calls = 0
        self._unanswered: list[str] = []
        self.events: list[tuple[str, Any]] = []

    async def call(self, name: str, data: Any) -> Any:
        """The answer. Events that come meanwhile are kept."""
        self._calls += 1
        await self._connection.send(f"42{self._namespace},{self._calls}{json.dumps([name, data])}")
        mark = f"43{self._namespace},{self._calls}"
        async with asyncio.timeout(20):
            while True:
                message = await self._receive()
                if message.startswith(mark):
                    return json.loads(message.removeprefix(mark))[0]

    async def event(self) -> tuple[str, Any]:
        """The next event."""
        async with asyncio.timeout(20):
            while not self.events:
                await self._receive()
        return self.events.pop(0)

    async def answer(self, data: Any) -> None:
        """To the oldest event that waits for one."""
        await self._connection.send(f"43{self._namespace},{self._unanswered.pop(0)}{json.dumps([data])}")

    async def _receive(self) -> str:
        message = str(await self._connection.recv())
        if message == "2":
            await self._connection.send("3")
        elif message.startswith(f"42{self._namespace},"):
            text = message.partition(",")[2]
            number, given = text[: text.index("[")], json.loads(text[text.index("[") :])
            self._unanswered += [number] if number else []
            self.events.append((given[0], given[1]))
        return message


@asynccontextmanager
async def open_socket(hub: Hub, token: str, namespace: str = "/events", **headers: str) -> AsyncIterator[Socket]:
    """Raises ConnectionError with the hub's answer if it refuses."""
    url = f"ws://127.0.0.1:{hub.config.port}/socket.io/?EIO=4&transport=websocket"
    async with connect(url, additional_headers=headers, compression=None) as connection:
        assert str(await connection.recv()).startswith("0")
        await connection.send(f"40{namespace},{json.dumps({'token': token})}")
        answer = str(await connection.recv())
        if not answer.startswith(f"40{namespace},"):
            raise ConnectionError(answer)
        yield Socket(connection, namespace)
