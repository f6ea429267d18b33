"""Limits the number of sockets, and closes those that do not sign in in time: anybody who reaches the hub can open one."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from hookline.hub.access.request_guard import AsgiApp, Message, Receive, Scope, Send, refuse_websocket

MAX_SOCKETS: Final = 1_000
SIGN_IN_WITHIN: Final = timedelta(seconds=20)
_ACCEPTED: Final = "40"  # Socket.IO's answer to a client that may use a namespace
_POLICY: Final = 1008


class SocketLimit:
    """An ASGI app around that of Socket.IO. It closes a socket that does not sign in."""

    def __init__(
        self, app: AsgiApp, max_sockets: int = MAX_SOCKETS, sign_in_within: timedelta = SIGN_IN_WITHIN
    ) -> None:
        self._app = app
        self._max_sockets = max_sockets
        self._sign_in_within = sign_in_within
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        if self._open >= self._max_sockets:
            await refuse_websocket("too many connections", send)
            return
        self._open += 1
        try:
            socket = _Socket(receive, send, self._sign_in_within)
            await self._app(scope, socket.receive, socket.send)
        finally:
            self._open -= 1


class _Socket:
    """The messages of one connection."""

    def __init__(self, receive: Receive, send: Send, sign_in_within: timedelta) -> None:
        self._receive = receive
        self._send = send
        self._until = asyncio.get_running_loop().time() + sign_in_within.total_seconds()
        self._signed_in = False

    async def receive(self) -> Message:
        if not self._signed_in:
            try:
                async with asyncio.timeout_at(self._until):
                    return await self._receive()
            except TimeoutError:
                if not self._signed_in:
                    await self._send({"type": "websocket.close", "code": _POLICY, "reason": "sign in first"})
                    return {"type": "websocket.disconnect", "code": _POLICY}
        return await self._receive()

    async def send(self, message: Message) -> None:
        self._signed_in = self._signed_in or (message.get("text") or "").startswith(_ACCEPTED)
        await self._send(message)
