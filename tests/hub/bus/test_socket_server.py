from __future__ import annotations

import json

from socketio.packet import EVENT

from hookline.hub.bus.socket_server import TextPacket, create_socket_server


def test_messages_are_written_as_plain_json() -> None:
    """A row of decisions is not searched for bytes: nothing here ever has them."""
    server = create_socket_server()
    assert server.packet_class is TextPacket
    data = ["decisions", {"items": [{"id": "a-1", "what": "echo ü"}], "dropped": 0}]
    text = TextPacket(EVENT, namespace="/events", data=data).encode()
    assert isinstance(text, str)
    assert text.startswith("2/events,")
    assert json.loads(text.partition(",")[2]) == data
