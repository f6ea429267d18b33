"""Limits the number of sockets, and closes those that do not sign in in time: anybody who reaches the hub can open one."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from hookline.hub.access.request_guard import AsgiApp, Message, Receive, Scope, Send

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
        self._waiting: dict[_Socket, None] = {}  # to sign in, in the order in which they came

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        socket = _Socket(receive, send, self._sign_in_within, self._waiting)
        self._waiting[socket] = None
        if len(self._waiting) > self._max_sockets:  # nobody must keep others from signing in
            next(iter(self._waiting)).end()
        try:
            await self._app(scope, socket.receive, socket.send)
        finally:
            self._waiting.pop(socket, None)


class _Socket:
    """The messages of one connection."""

    def __init__(self, receive: Receive, send: Send, sign_in_within: timedelta, waiting: dict[_Socket, None]) -> None:
        self._receive = receive
        self._send = send
        self._waiting = waiting
        self._until = asyncio.get_running_loop().time() + sign_in_within.total_seconds()
        self._timeout: asyncio.Timeout | None = None
        self._signed_in = False

    def end(self) -> None:
        """Closes it as if its time to sign in was over."""
        self._waiting.pop(self, None)
        self._until = asyncio.get_running_loop().time()
        if self._timeout is not None:
            self._timeout.reschedule(self._until)

    async def receive(self) -> Message:
        if self._has_signed_in():
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until) as self._timeout:
                return await self._receive()
        except TimeoutError:
            if self._has_signed_in():
                return await self._receive()
            await self._send({"type": "websocket.close", "code": _POLICY, "reason": "sign in first"})
            return {"type": "websocket.disconnect", "code": _POLICY}
        finally:
            self._timeout = None

    def _has_signed_in(self) -> bool:
        return self._signed_in

    async def send(self, message: Message) -> None:
        if not self._signed_in and (message.get("text") or "").startswith(_ACCEPTED):
            self._signed_in = True
            self._waiting.pop(self, None)
        await self._send(message)
