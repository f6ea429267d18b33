"""Servers on loopback that hear whatever reaches them: every TCP connection with its first bytes, and every UDP packet."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

_RESPONSE = b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class NetworkSinks:
    def __init__(self) -> None:
        self.heard: list[str] = []
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self.udp_port: int = self._udp.getsockname()[1]
        self._ended = False
        for work in (self._hear_tcp, self._hear_udp):
            threading.Thread(target=work, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._ended = True
        self._tcp.close()
        self._udp.close()

    def _hear_tcp(self) -> None:
        while not self._ended:
            with suppress(OSError):
                connection, _ = self._tcp.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        """A connection counts when it is made, whether anything is sent or not."""
        at = len(self.heard)
        self.heard.append("tcp")
        with connection, suppress(OSError):
            connection.settimeout(5)
            self.heard[at] = f"tcp {connection.recv(2000).decode('latin-1').partition(chr(13))[0]}"
            connection.sendall(_RESPONSE)

    def _hear_udp(self) -> None:
        while not self._ended:
            with suppress(OSError):
                data, _ = self._udp.recvfrom(2000)
                self.heard.append(f"udp {data[:8].hex()}")
