from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from hookline.hub.access.request_guard import Message, Receive, Scope, Send
from hookline.hub.access.roles import Role
from hookline.hub.bus.socket_limit import SocketLimit
from hookline.hub.hub_server import listen
from hub.hub_process import open_socket, serve_hub
from hub.hub_sandbox import async_test, eventually, token_of

pytestmark = pytest.mark.slow


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Sends back what it gets, and ends with the connection."""
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        message: Message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        await send({"type": "websocket.send", "text": message["text"]})


@asynccontextmanager
async def limited(**limits: Any) -> AsyncIterator[str]:
    """The URL of a socket."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(SocketLimit(echo, **limits), ws="websockets-sansio", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server._serve([listener]))
    await eventually(lambda: server.started)
    try:
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


async def said(socket: ClientConnection, text: str) -> str:
    await socket.send(text)
    return str(await socket.recv())


@async_test
async def test_a_socket_that_does_not_sign_in_is_closed(tmp_path: Path) -> None:
    async with limited(sign_in_within=timedelta(seconds=0.5)) as url, connect(url) as silent, connect(url) as refused:
        assert await said(refused, "44/events,{}") == "44/events,{}"
        for socket in (silent, refused):
            with pytest.raises(ConnectionClosed, match="sign in first"):
                await socket.recv()


@async_test
async def test_a_socket_that_signed_in_stays(tmp_path: Path) -> None:
    async with limited(sign_in_within=timedelta(seconds=0.3)) as url, connect(url) as early, connect(url) as late:
        assert await said(early, "40/events,{}") == "40/events,{}"
        with pytest.raises(ConnectionClosed):
            await late.recv()
        assert await said(early, "still here") == "still here"


@async_test
async def test_only_so_many_sockets_may_wait_to_sign_in(tmp_path: Path) -> None:
    """The oldest makes room, so that those who do not sign in keep nobody else out."""
    async with limited(max_sockets=3) as url, AsyncExitStack() as stack:
        known = await stack.enter_async_context(connect(url))
        assert await said(known, "40/events,{}") == "40/events,{}"
        oldest, *others = [await stack.enter_async_context(connect(url)) for _ in range(4)]
        with pytest.raises(ConnectionClosed, match="sign in first"):
            await oldest.recv()
        for socket in (known, *others):
            assert await said(socket, "40/events,{}") == "40/events,{}"


@async_test
async def test_nobody_uses_the_namespace_of_socket_io_itself(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        with pytest.raises(ConnectionError, match=r"^44"):
            async with open_socket(hub, await token_of(hub, Role.OWNER), "/"):
                pass
