"""The Socket.IO server of a hub: WebSocket only, and every message is JSON."""

from __future__ import annotations

import socketio
from socketio.packet import Packet

from hookline.hub.bus.event_bus import NAMESPACE


class TextPacket(Packet):  # type: ignore[misc]
    """Socket.IO's own class searches every value of a message for bytes, which takes longer than writing it as JSON."""

    uses_binary_events = False


def create_socket_server() -> socketio.AsyncServer:
    return socketio.AsyncServer(
        async_mode="asgi",
        namespaces=[NAMESPACE],  # beside those with handlers; by default `/`, which takes everybody
        transports=["websocket"],
        cors_allowed_origins=[],  # the request guard has checked the origin
        max_http_buffer_size=1 << 20,
        http_compression=False,
        logger=False,
        engineio_logger=False,
        serializer=TextPacket,
    )
