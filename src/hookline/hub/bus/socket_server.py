"""The Socket.IO server of a hub: WebSocket only, and every message is JSON."""

from __future__ import annotations

import logging
import time
from typing import Final

import socketio
from socketio.packet import Packet

from hookline.hub.bus.event_bus import NAMESPACE

_SECONDS_BETWEEN_ERRORS: Final = 60.0


class TextPacket(Packet):  # type: ignore[misc]
    """Socket.IO's own class searches every value of a message for bytes, which takes longer than writing it as JSON."""

    uses_binary_events = False


class RareErrors(logging.Filter):
    """Lets one error a minute into the log: who has not signed in, too, can send packets that cannot be read."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _SECONDS_BETWEEN_ERRORS
        return True


def create_socket_server() -> socketio.AsyncServer:
    return socketio.AsyncServer(
        async_mode="asgi",
        namespaces=[NAMESPACE],  # beside those with handlers; by default `/`, which takes everybody
        transports=["websocket"],
        cors_allowed_origins=[],  # the request guard has checked the origin
        max_http_buffer_size=1 << 20,
        http_compression=False,
        logger=False,
        engineio_logger=_create_logger(),
        serializer=TextPacket,
    )


def _create_logger() -> logging.Logger:
    logger = logging.getLogger("hookline.hub.sockets")
    logger.setLevel(logging.ERROR)
    logger.filters = [RareErrors()]
    return logger
