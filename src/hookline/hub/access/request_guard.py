"""What every request passes before anything else looks at it: names, origins, sizes; and the headers of every answer.

Nothing here depends on who asks: there are no cookies, so a page of another site has no credential to use. The guard keeps
such a page, and a name that was pointed at this machine, from talking to the hub at all.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final

from hookline.hub.access import response_headers
from hookline.hub.access.hub_addresses import HubAddresses
from hookline.lazy_dataclasses import dataclass

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

API_PATHS: Final = ("/api/", "/socket.io/")
FRAME_PATHS: Final = ("/sandbox/",)
MAX_BODY: Final = 1 << 20
MAX_UPLOAD: Final = 5 << 20
REPORT_PATH: Final = "/api/v1/report"
_UPLOAD_PATHS: Final = (REPORT_PATH, "/api/v1/sessions/import")
_REPORT_TYPES: Final = ("application/x-ndjson", "application/jsonl")
_READING: Final = ("GET", "HEAD")
_SAME: Final = ("same-origin", "none", "")


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    error: str


class RequestGuard:
    """An ASGI app around another one."""

    def __init__(self, app: AsgiApp, addresses: HubAddresses, *, tls: bool = False) -> None:
        self._app = app
        self._addresses = addresses
        self._page_headers = response_headers.console_headers(addresses)
        self._always = {**response_headers.ALWAYS, **(response_headers.TLS if tls else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = _decode_headers(scope["headers"])
        refusal = self.check(scope, headers)
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await refuse_websocket(refusal.error, send)
            return
        guarded = self._with_headers(scope["path"], send)
        if refusal is not None:
            await _refuse(refusal, guarded)
            return
        limit = _max_body(scope["path"])
        body = _LimitedBody(receive, limit)
        try:
            await self._app(scope, body.receive, guarded)
        except _BodyTooLarge:
            await _refuse(_too_large(limit), guarded)

    def check(self, scope: Scope, headers: Mapping[str, str]) -> Refusal | None:
        path: str = scope["path"]
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
        if path.startswith(FRAME_PATHS):
            known = host in self._addresses.hosts | self._addresses.frame_hosts
            return (
                None if known and scope.get("method") in _READING else Refusal(421, "this host name is not the hub's")
            )
        if host not in self._addresses.hosts:
            return Refusal(421, "this host name is not the hub's")
        if origin is not None and origin.lower() not in self._addresses.origins:
            return Refusal(403, "this request comes from another site")
        is_api = scope["type"] == "websocket" or path.startswith(API_PATHS)
        if site not in _SAME and (is_api or mode != "navigate"):
            return Refusal(403, "this request comes from another site")
        return None if scope["type"] == "websocket" else _check_body(scope, path, headers)

    def _with_headers(self, path: str, send: Send) -> Send:
        """What the app sets itself stays."""
        if path.startswith(API_PATHS):
            mine: Mapping[str, str] = response_headers.API
        else:
            mine = response_headers.FRAME if path.startswith(FRAME_PATHS) else self._page_headers
        added = [(name.encode(), value.encode()) for name, value in {**self._always, **mine}.items()]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                message = {**message, "headers": [*given, *(each for each in added if each[0] not in names)]}
            await send(message)

        return send_with_headers


def _check_body(scope: Scope, path: str, headers: Mapping[str, str]) -> Refusal | None:
    if not path.startswith(API_PATHS):
        return None if scope["method"] in _READING else Refusal(405, "method not allowed")
    limit = _max_body(path)
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit:
        return _too_large(limit)
    has_body = length != "0" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    accepted = _REPORT_TYPES if path == REPORT_PATH else ("application/json",)
    if scope["method"] not in _READING and has_body and kind not in accepted:
        return Refusal(415, f"the content type must be {accepted[0]}")
    return None


def _max_body(path: str) -> int:
    return MAX_UPLOAD if path in _UPLOAD_PATHS else MAX_BODY


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"the body is larger than {limit >> 20} MB")


class _BodyTooLarge(Exception):
    pass


class _LimitedBody:
    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise _BodyTooLarge
        return message


def _decode_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Of a header that comes twice, all values: two hosts or origins match none."""
    found: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def _refuse(refusal: Refusal, send: Send) -> None:
    body = json.dumps({"error": refusal.error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def refuse_websocket(reason: str, send: Send) -> None:
    """Before the handshake, so the client sees an HTTP status."""
    await send({"type": "websocket.close", "code": 1008, "reason": reason})
