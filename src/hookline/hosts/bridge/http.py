"""The engine's door for agents that call HTTP hooks: one POST, one answer, and nobody but those who know the token.

A browser is no agent: whoever names another host than the loopback address, or an origin, is refused before anything
else is looked at.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol

from hookline.hosts.agent import Reply
from hookline.hosts.bridge import client
from hookline.hosts.bridge.address import Address
from hookline.hosts.table import NAMES

_LONGEST_HEAD: Final = 16_384  # bytes
_PATIENCE: Final = 10.0  # seconds for a caller to send its head, and then for each part of its body
_END: Final = b"\r\n\r\n"
_ONCE: Final = ("host", "authorization", "content-length", "content-type")

log = logging.getLogger("hookline")


class Door(Protocol):
    """What a connection needs of whoever serves."""

    @property
    def address(self) -> Address: ...
    def entered(self, connection: HttpConnection) -> bool:
        """False where there are too many."""

    def left(self, connection: HttpConnection) -> None: ...
    async def answer(self, agent: str, event: str, payload: bytes) -> Reply: ...


class Refused(Exception):
    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


@dataclass(frozen=True, slots=True)
class Head:
    agent: str
    event: str
    length: int  # of the body


def head(data: bytes, address: Address) -> Head:
    """Raises Refused; without the token, for no reason that would tell anything else."""
    first, *rest = data.decode("latin-1").split("\r\n")
    headers = _headers(rest)
    if headers.get("host") != address.host:
        raise Refused(HTTPStatus.MISDIRECTED_REQUEST)
    if "origin" in headers:
        raise Refused(HTTPStatus.FORBIDDEN)
    given = headers.get("authorization", "").encode("latin-1")
    if not hmac.compare_digest(given, f"Bearer {address.token}".encode()):
        raise Refused(HTTPStatus.UNAUTHORIZED)
    method, _, path = first.rpartition(" ")[0].partition(" ")
    if method != "POST":
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED)
    agent, event = _named(path)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or not (length.isascii() and length.isdigit() and len(length) < 12):
        raise Refused(HTTPStatus.LENGTH_REQUIRED)
    return Head(agent, event, int(length))


def _headers(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or name != name.strip() or (name in _ONCE and name in found):
            raise Refused(HTTPStatus.BAD_REQUEST)
        found[name] = value.strip()
    return found


def _named(path: str) -> tuple[str, str]:
    match path.split("/"):
        case ["", "hookline", agent, event] if agent in NAMES and event.isidentifier():
            return agent, event
    raise Refused(HTTPStatus.NOT_FOUND)


def body(reply: Reply) -> tuple[HTTPStatus, bytes]:
    """What the agent reads where a command would have ended: `{}` says nothing, and 2 is a deny."""
    if reply.exit_code == 0:
        return HTTPStatus.OK, (reply.stdout or "{}").encode("utf-8", "replace")
    said = reply.stderr.strip() or "hookline could not decide"
    if reply.exit_code == 2:
        return HTTPStatus.OK, json.dumps({"decision": "block", "reason": said}).encode()
    return HTTPStatus.INTERNAL_SERVER_ERROR, json.dumps({"error": said}).encode()


class HttpConnection(asyncio.Protocol):
    def __init__(self, door: Door) -> None:
        self._door = door
        self._data = bytearray()
        self._head: Head | None = None
        self._received = 0  # of the body; what is too large to be judged is not kept
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deciding: asyncio.Task[None] | None = None
        self._over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not self._door.entered(self):
            transport.abort()
            return
        self._patience()

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.left(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._deciding is not None:
            self._deciding.cancel()

    def data_received(self, data: bytes) -> None:
        if self._over or self._deciding is not None:
            return
        try:
            self._read(data)
        except Refused as refused:
            log.warning("an HTTP call was refused: %s", refused)
            self._send(refused.status, b"")

    def _read(self, data: bytes) -> None:
        if self._head is None:
            self._data += data
            end = self._data.find(_END)
            if end > _LONGEST_HEAD or (end < 0 and len(self._data) > _LONGEST_HEAD):
                raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            if end < 0:
                return
            self._head = head(bytes(self._data[:end]), self._door.address)
            data = bytes(self._data[end + len(_END) :])
            self._data.clear()
        self._patience()
        self._received += len(data)
        self._data += data[: client.LARGEST + 1 - len(self._data)]
        if self._received >= self._head.length:
            self._begin(self._head)

    def _begin(self, head: Head) -> None:
        if self._timer is not None:
            self._timer.cancel()
        payload = bytes(self._data[: head.length])
        self._data.clear()
        self._deciding = asyncio.get_running_loop().create_task(self._answer(head, payload))
        self._deciding.add_done_callback(self._decided)

    async def _answer(self, head: Head, payload: bytes) -> None:
        self._send(*body(await self._door.answer(head.agent, head.event, payload)))

    def _decided(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.error("no answer could be given", exc_info=task.exception())
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, b"")

    def _send(self, status: HTTPStatus, body: bytes) -> None:
        self._over = True
        if self._transport is None or self._transport.is_closing():
            return
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
        )
        self._transport.write(head.encode() + body)
        self._patience()
        self._transport.close()

    def _patience(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self._abort)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
