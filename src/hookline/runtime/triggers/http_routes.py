"""HTTP triggers: routes on this machine that start a turn."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.triggers.trigger import ActivationHandler, Trigger, build_activation

_log = logging.getLogger("hookline")

MAX_BODY_BYTES: Final = 1_000_000  # bytes
_BODY_TIMEOUT: Final = 10.0  # seconds
_METHODS: Final = ("POST", "PUT")
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_SECRET_HEADERS: Final = frozenset(("authorization", "proxy-authorization", "cookie"))
_MAX_CONNECTIONS: Final = 64
_HEADER_TIMEOUT: Final = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """Where the server listens, and the token that every route needs unless it is open."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any free port
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    names: tuple[str, ...] = ()  # further host names that requests may use


class _RequestDeadline(H11Protocol):
    """Closes a connection that does not send the head of its next request in time.

    If there are too many connections, it closes the one that has kept us waiting longest, so that nobody can occupy the
    address with connections that send nothing.
    """

    _deadline: asyncio.TimerHandle | None = None

    @property
    def _is_waiting(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_deadline()
        if len(self.connections) >= _MAX_CONNECTIONS:
            waiting = [each for each in self.connections if isinstance(each, _RequestDeadline) and each is not self]
            longest = min(waiting, key=_RequestDeadline._waits_until, default=None)
            if longest is not None and longest._is_waiting:
                self.connections.discard(longest)
                longest.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_waiting:
            self._stop_deadline()
        elif self._deadline is None:
            self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def _waits_until(self) -> float:
        return self._deadline.when() if self._deadline is not None and self._is_waiting else float("inf")

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(_HEADER_TIMEOUT, self._expire)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if self._is_waiting:
            self.transport.abort()


class Routes:
    """The HTTP triggers, as one server."""

    def __init__(self, triggers: Iterable[Trigger], options: ListenOptions, fire: ActivationHandler) -> None:
        self._options = options
        self._fire = fire
        self._triggers = {trigger.at: trigger for trigger in triggers}
        self._socket: socket.socket | None = None

    def bind(self) -> str:
        """Starts listening and returns the address. Raises HooklineError if it is not available."""
        host, port = self._options.host, self._options.port
        try:
            self._socket = socket.create_server((host, port), family=_address_family(host), backlog=_MAX_CONNECTIONS)
        except (OSError, OverflowError) as error:
            raise HooklineError(f"cannot listen on {host}:{port}: {error}") from error
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        """Closes the address. It can be called again."""
        if self._socket is not None:
            self._socket.close()

    async def run(self) -> None:
        """Serves until it is cancelled; open requests are answered first."""
        assert self._socket is not None
        server = _Server(
            uvicorn.Config(
                self._build_app(),
                log_config=None,
                log_level="error",
                http=_RequestDeadline,  # of h11: httptools does not limit the size of headers
                access_log=False,
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MAX_CONNECTIONS,
                timeout_keep_alive=5,
                timeout_graceful_shutdown=2,
                ws="none",
            )
        )
        serving = asyncio.ensure_future(server.serve([self._socket]))
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)
            self._socket.close()

    def _build_app(self) -> Starlette:
        route = Route(
            "/{path:path}", self._handle, methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        )
        return Starlette(routes=[route], exception_handlers={HTTPException: _error_response})

    async def _handle(self, request: Request) -> Response:
        self._reject_other_sites(request)
        trigger = self._triggers.get(request.url.path)
        if trigger is None:
            raise HTTPException(404, "no such route")
        if request.method not in _METHODS:
            raise HTTPException(405, f"use {' or '.join(_METHODS)}", headers={"Allow": ", ".join(_METHODS)})
        if not trigger.open and not self._is_owner(request):
            raise HTTPException(401, "the token is missing or wrong", headers={"WWW-Authenticate": "Bearer"})
        body = _parse_body(await _read_body(request), request.headers.get("content-type", ""))
        return await self._fire_trigger(trigger, _request_facts(request, body))

    async def _fire_trigger(self, trigger: Trigger, facts: dict[str, Any]) -> Response:
        try:
            answer = await self._fire(build_activation(trigger, datetime.now(UTC), **facts))
        except HooklineError as error:
            _log.warning("trigger %s: %s", trigger.id, error)
            raise HTTPException(503, "the turn could not be started; see the log") from None
        if answer.denied is not None:
            raise HTTPException(403, answer.denied)
        return JSONResponse({"session": answer.session}, 202)

    def _reject_other_sites(self, request: Request) -> None:
        """A web page in a browser could reach this machine under another host name, or from another site."""
        if not self._is_known_host(f"//{request.headers.get('host', '')}"):
            raise HTTPException(400, "unknown host")
        origin = request.headers.get("origin")
        if origin is not None and not self._is_known_host(origin):
            raise HTTPException(403, "requests from other sites are not accepted")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise HTTPException(403, "requests from other sites are not accepted")

    def _is_known_host(self, address: str) -> bool:
        try:
            host = urlsplit(address).hostname
        except ValueError:
            return False
        return host in _LOOPBACK or host in (self._options.host.lower(), *self._options.names)

    def _is_owner(self, request: Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(token.strip().encode(), self._options.token.encode())
        return known and scheme.lower() == "bearer" and bool(self._options.token)


class _Server(uvicorn.Server):
    """A server that does not install signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _address_family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


async def _error_response(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=dict(error.headers or {}))


async def _read_body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(_BODY_TIMEOUT):
            return await _read_stream(request)
    except TimeoutError:
        raise HTTPException(408, "the body did not arrive in time", headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "the request is incomplete") from None


async def _read_stream(request: Request) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MAX_BODY_BYTES:
            raise HTTPException(413, f"the body is larger than {MAX_BODY_BYTES} bytes", headers={"Connection": "close"})
    return bytes(data)


def _parse_body(data: bytes, content_type: str) -> Any:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        return data.decode("utf-8", "replace")
    try:
        return json.loads(data, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


def _reject_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _request_facts(request: Request, body: Any) -> dict[str, Any]:
    headers = {name: value for name, value in request.headers.items() if name not in _SECRET_HEADERS}
    return {
        "method": request.method,
        "path": request.url.path,
        "query": dict(request.query_params),
        "headers": headers,
        "body": body,
    }
