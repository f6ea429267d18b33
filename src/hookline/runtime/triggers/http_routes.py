"""Turns that start with a request to a route of this machine."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hookline.errors import HooklineError
from hookline.runtime.triggers.trigger import ActivationHandler, Trigger, build_activation

_log = logging.getLogger("hookline")

MAX_BODY_BYTES: Final = 1_000_000  # bytes
_BODY_TIMEOUT: Final = 10.0  # seconds
_METHODS: Final = ("POST", "PUT")
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_SECRET_HEADERS: Final = frozenset(("authorization", "proxy-authorization", "cookie"))
_MAX_CONNECTIONS: Final = 64


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """Where requests are taken, and the owner's token, without which a route answers 401 unless it is open."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any that is free
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    names: tuple[str, ...] = ()  # what this machine is called in requests, beside its address


class Routes:
    """The HTTP triggers, as one server."""

    def __init__(self, triggers: Iterable[Trigger], listening: ListenOptions, fire: ActivationHandler) -> None:
        self._listening = listening
        self._fire = fire
        self._triggers = {trigger.at: trigger for trigger in triggers}
        self._socket: socket.socket | None = None

    def bind(self) -> str:
        """The address that requests go to from now on. Raises HooklineError if it cannot be had."""
        host, port = self._listening.host, self._listening.port
        try:
            self._socket = socket.create_server((host, port), family=_address_family(host), backlog=_MAX_CONNECTIONS)
        except (OSError, OverflowError) as error:
            raise HooklineError(f"cannot listen on {host}:{port}: {error}") from error
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._socket.getsockname()[1]}"

    async def run(self) -> None:
        """Until it is cancelled; requests that have begun are answered first."""
        assert self._socket is not None
        server = _Server(
            uvicorn.Config(
                self._build_app(),
                log_config=None,
                log_level="error",
                http="h11",  # the other one takes headers without end
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
            raise HTTPException(404, "there is no such route")
        if request.method not in _METHODS:
            raise HTTPException(405, f"write {' or '.join(_METHODS)}", headers={"Allow": ", ".join(_METHODS)})
        if not trigger.open and not self._is_owner(request):
            raise HTTPException(401, "the owner's token is needed", headers={"WWW-Authenticate": "Bearer"})
        body = _parse_body(await _read_body(request), request.headers.get("content-type", ""))
        return await self._fire_trigger(trigger, _request_facts(request, body))

    async def _fire_trigger(self, trigger: Trigger, facts: dict[str, Any]) -> Response:
        try:
            answer = await self._fire(build_activation(trigger, datetime.now(UTC), **facts))
        except HooklineError as error:
            _log.warning("trigger %s: %s", trigger.id, error)
            raise HTTPException(503, "the turn could not be started; the log says why") from None
        if answer.denied is not None:
            raise HTTPException(403, answer.denied)
        return JSONResponse({"session": answer.session}, 202)

    def _reject_other_sites(self, request: Request) -> None:
        """A page in somebody's browser can reach this machine under another name, or from another site."""
        if not self._is_known_host(f"//{request.headers.get('host', '')}"):
            raise HTTPException(400, "this host is not known here")
        origin = request.headers.get("origin")
        if origin is not None and not self._is_known_host(origin):
            raise HTTPException(403, "requests from other sites are not taken")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise HTTPException(403, "requests from other sites are not taken")

    def _is_known_host(self, address: str) -> bool:
        try:
            host = urlsplit(address).hostname
        except ValueError:
            return False
        return host in _LOOPBACK or host in (self._listening.host.lower(), *self._listening.names)

    def _is_owner(self, request: Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(token.strip().encode(), self._listening.token.encode())
        return known and scheme.lower() == "bearer" and bool(self._listening.token)


class _Server(uvicorn.Server):
    """One that leaves the process's signals alone."""

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
        raise HTTPException(408, "the body did not come in time", headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "the request has no end") from None


async def _read_stream(request: Request) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MAX_BODY_BYTES:
            raise HTTPException(413, f"a body has at most {MAX_BODY_BYTES} bytes", headers={"Connection": "close"})
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
    raise ValueError(f"{word} is no number")


def _request_facts(request: Request, body: Any) -> dict[str, Any]:
    headers = {name: value for name, value in request.headers.items() if name not in _SECRET_HEADERS}
    return {
        "method": request.method,
        "path": request.url.path,
        "query": dict(request.query_params),
        "headers": headers,
        "body": body,
    }
