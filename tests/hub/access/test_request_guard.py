from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from hookline.hub.access.hub_addresses import HubAddresses
from hookline.hub.access.request_guard import MAX_BODY, MAX_UPLOAD, RequestGuard
from hookline.hub.config.hub_config import HubConfig
from hub.hub_sandbox import HOST, ORIGIN, async_test

ADDRESSES = HubAddresses.of(HubConfig(state=Path("/state")))


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body, and says hello."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})
    await send({"type": "http.response.body", "body": b"hello"})


async def call(method: str, path: str, headers: dict[str, str], content: Any = None) -> httpx2.Response:
    transport = httpx2.ASGITransport(app=RequestGuard(answer, ADDRESSES))  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        return await client.request(method, path, headers=headers, content=content)


REFUSED = {
    "another name": ({"host": "evil.example:8765"}, 421),
    "our name at another port": ({"host": "127.0.0.1:8766"}, 421),
    "our name without a port": ({"host": "localhost"}, 421),
    "another origin": ({"origin": "http://evil.example"}, 403),
    "another port of this machine": ({"origin": "http://127.0.0.1:3000"}, 403),
    "an opaque origin": ({"origin": "null"}, 403),
    "our name over TLS": ({"origin": f"https://{HOST}"}, 403),
    "a page of another site": ({"sec-fetch-site": "cross-site"}, 403),
    "a page of another port": ({"sec-fetch-site": "same-site"}, 403),
    "a form of another site": ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
}
ACCEPTED: dict[str, dict[str, str]] = {
    "a program": {},
    "the console": {"origin": ORIGIN, "sec-fetch-site": "same-origin"},
    "the console by another name": {"host": "localhost:8765", "origin": "http://localhost:8765"},
    "upper case": {"host": "LOCALHOST:8765"},
    "an address that somebody typed": {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
}


@pytest.mark.parametrize("path", ["/api/v1/decisions", "/socket.io/"])
@pytest.mark.parametrize("who", REFUSED)
@async_test
async def test_others_do_not_reach_the_api(who: str, path: str) -> None:
    headers, status = REFUSED[who]
    response = await call("GET", path, headers)
    assert response.status_code == status
    assert "error" in response.json()
    assert response.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("who", ACCEPTED)
@async_test
async def test_we_reach_the_api(who: str) -> None:
    response = await call("GET", "/api/v1/decisions", ACCEPTED[who])
    assert (response.status_code, response.text, response.headers["x-own"]) == (200, "hello", "1")
    assert response.headers["cache-control"] == "no-store"


@async_test
async def test_a_header_that_comes_twice_matches_nothing() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"host", HOST.encode())]
    scope = {"type": "http", "path": "/api/v1/me", "method": "GET", "headers": headers}
    await RequestGuard(answer, ADDRESSES)(scope, None, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 421


@async_test
async def test_a_link_from_another_site_opens_the_console_and_nothing_else_of_it() -> None:
    navigated = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await call("GET", "/", navigated)).status_code == 200
    assert (
        await call("GET", "/static/app.js", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"})
    ).status_code == 403
    assert (await call("POST", "/", {})).status_code == 405


@async_test
async def test_frames_are_read_under_their_own_names_and_the_api_is_not() -> None:
    framed = {"host": "agent.localhost:8765", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await call("GET", "/sandbox/agent", framed)).status_code == 200
    assert (await call("GET", "/api/v1/me", {"host": "agent.localhost:8765"})).status_code == 421
    assert (await call("GET", "/", {"host": "agent.localhost:8765"})).status_code == 421
    assert (await call("POST", "/sandbox/agent", framed)).status_code == 421


@pytest.mark.parametrize(
    ("path", "limit", "kind"),
    [
        ("/api/v1/enter", MAX_BODY, "application/json"),
        ("/api/v1/report", MAX_UPLOAD, "application/x-ndjson"),
        ("/api/v1/sessions/import", MAX_UPLOAD, "application/json"),
    ],
)
@async_test
async def test_bodies_are_bounded_whether_or_not_they_tell_their_length(path: str, limit: int, kind: str) -> None:
    headers = {"content-type": kind}

    async def pieces() -> Any:
        for _ in range(limit // 65536 + 1):
            yield b"x" * 65536

    assert (await call("POST", path, headers, b"x" * limit)).status_code == 200
    assert (await call("POST", path, headers, b"x" * (limit + 1))).status_code == 413
    assert (await call("POST", path, headers, pieces())).status_code == 413


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
@async_test
async def test_what_a_form_can_send_is_refused(kind: str) -> None:
    assert (await call("POST", "/api/v1/enter", {"content-type": kind}, b"{}")).status_code == 415
    assert (await call("POST", "/api/v1/users/x/link", {"content-type": kind})).status_code == 200


@pytest.mark.parametrize("who", REFUSED)
@async_test
async def test_a_websocket_is_refused_as_a_request_is(who: str) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": HOST, **REFUSED[who][0]}
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    await RequestGuard(answer, ADDRESSES)({"type": "websocket", "path": "/socket.io/", "headers": headers}, None, send)  # type: ignore[arg-type]
    assert [message["type"] for message in sent] == ["websocket.close"]
