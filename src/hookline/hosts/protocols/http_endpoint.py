"""A small HTTP server for local programs: JSON in, JSON out, on the engine's socket or on loopback with a token.

h11 parses the messages. A browser cannot use it: on loopback, a request needs the token, the server's own Host header and no
Origin header.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from hookline.hosts.bridge.client import MAX_PAYLOAD
from hookline.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    import h11

_IDLE_TIMEOUT: Final = 60.0  # seconds between two requests of a connection
_REQUEST_TIMEOUT: Final = 10.0  # seconds for a request to arrive, and for an answer to be taken
_RECEIVE_SIZE: Final = 1 << 16  # bytes

log = logging.getLogger("hookline")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    body: Any = None  # anything that JSON can express; None for no body
    status: HTTPStatus = HTTPStatus.OK


class BadRequestError(Exception):
    """The message is for the client."""

    def __init__(self, text: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(text)
        self.status = status


Route = Callable[[bytes], Awaitable[HttpResponse]]
"""Takes the body of a request. Raises BadRequestError."""


@dataclass(frozen=True, slots=True)
class TokenCheck:
    """What a request on loopback must have. The user's own socket needs none of it."""

    token: str
    hosts: frozenset[str]  # accepted Host headers

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raises BadRequestError."""
        if headers.get(b"host", b"").decode("latin-1").lower() not in self.hosts:
            raise BadRequestError("the Host header is not this server's", HTTPStatus.MISDIRECTED_REQUEST)
        if b"origin" in headers or headers.get(b"sec-fetch-site", b"none") != b"none":
            raise BadRequestError("browsers may not call this server", HTTPStatus.FORBIDDEN)
        given = headers.get(b"authorization", b"")
        if not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
            raise BadRequestError("send the header Authorization: Bearer TOKEN", HTTPStatus.UNAUTHORIZED)


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    routes: Mapping[tuple[str, str], Route]  # by method and path
    access: TokenCheck | None = None
    max_body: int = field(default=MAX_PAYLOAD)  # bytes

    async def serve_socket(self, peer: socket.socket, received: bytes = b"") -> None:
        """Serves a connected socket until it is closed. `received` has been read from it already."""
        reader, writer = await asyncio.open_connection(sock=peer)
        await self.serve(reader, writer, received)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, received: bytes = b"") -> None:
        import h11

        connection = _HttpConnection(self, h11.Connection(h11.SERVER), reader, writer)
        try:
            await connection.run(received)
        except (OSError, TimeoutError, h11.ProtocolError) as error:
            log.debug("dropped an HTTP client: %s", error)
        finally:
            writer.close()

    async def answer(self, method: str, path: str, body: bytes) -> HttpResponse:
        """Always an answer: a bug must not look like a decision."""
        try:
            return await self._find_route(method, path)(body)
        except BadRequestError as error:
            return HttpResponse({"error": str(error)}, error.status)
        except Exception as error:
            log.error("%s %s: this is a bug in hookline", method, path, exc_info=error)
            text = f"hookline has a bug ({type(error).__name__}); see its log"
            return HttpResponse({"error": text}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _find_route(self, method: str, path: str) -> Route:
        route = self.routes.get((method, path))
        if route is not None:
            return route
        others = [known for known, at in self.routes if at == path]
        if others:
            raise BadRequestError(f"use {' or '.join(others)} for {path}", HTTPStatus.METHOD_NOT_ALLOWED)
        known = ", ".join(f"{each} {at}" for each, at in self.routes)
        raise BadRequestError(f"there is no {path}; known: {known}", HTTPStatus.NOT_FOUND)


class _HttpConnection:
    def __init__(
        self,
        endpoint: HttpEndpoint,
        state: h11.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._endpoint = endpoint
        self._state = state
        self._reader = reader
        self._writer = writer

    async def run(self, received: bytes) -> None:
        import h11

        if received:
            self._state.receive_data(received)
        while True:
            try:
                async with asyncio.timeout(_IDLE_TIMEOUT):
                    request = await self._next_event()
                if not isinstance(request, h11.Request):
                    return
                if self._endpoint.access is not None:  # before the body: nobody else's megabytes are kept
                    self._endpoint.access.check(dict(request.headers))
                async with asyncio.timeout(_REQUEST_TIMEOUT):
                    body = await self._read_body(request)
            except (h11.RemoteProtocolError, BadRequestError) as error:
                status = error.status if isinstance(error, BadRequestError) else HTTPStatus.BAD_REQUEST
                await self._send(HttpResponse({"error": str(error)}, status), close=True)
                return
            method, path = request.method.decode("ascii"), request.target.decode("latin-1").partition("?")[0]
            await self._send(await self._endpoint.answer(method, path, body))
            if self._state.our_state is not h11.DONE or self._state.their_state is not h11.DONE:
                return
            self._state.start_next_cycle()

    async def _next_event(self) -> Any:
        import h11

        while True:
            event = self._state.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._state.they_are_waiting_for_100_continue:
                self._writer.write(self._state.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            self._state.receive_data(await self._reader.read(_RECEIVE_SIZE))

    async def _read_body(self, request: h11.Request) -> bytes:
        import h11

        body = bytearray()
        while True:
            event = await self._next_event()
            if not isinstance(event, h11.Data):
                return bytes(body)
            body += event.data
            if len(body) > self._endpoint.max_body:
                raise BadRequestError(
                    f"the body is larger than {self._endpoint.max_body} bytes", HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                )

    async def _send(self, response: HttpResponse, close: bool = False) -> None:
        import h11

        data = (
            b"" if response.body is None else json.dumps(response.body, ensure_ascii=False).encode("utf-8", "replace")
        )
        headers = [("Content-Length", str(len(data)))]
        if data:
            headers.append(("Content-Type", "application/json"))
        if close or self._state.our_state is h11.MUST_CLOSE:
            headers.append(("Connection", "close"))
        if self._state.our_state not in (h11.IDLE, h11.SEND_RESPONSE, h11.MUST_CLOSE):
            return
        parts = [h11.Response(status_code=response.status, headers=headers), h11.Data(data=data), h11.EndOfMessage()]
        self._writer.write(b"".join(self._state.send(part) or b"" for part in parts))
        async with asyncio.timeout(_REQUEST_TIMEOUT):
            await self._writer.drain()
