import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from hookline.errors import HooklineError
from hookline.runtime.triggers.http_routes import MAX_BODY_BYTES, ListenOptions
from hookline.runtime.triggers.trigger import Activation, ActivationResult, Trigger, TriggerKind
from hookline.runtime.triggers.triggers import Triggers

pytestmark = pytest.mark.anyio
DEPLOY = Trigger("deploy", TriggerKind.HTTP, "/deploy", "deploy {{trigger.body.version}} ({{trigger.method}})")
OPEN = Trigger("ping", TriggerKind.HTTP, "/ping", "{{trigger.body}}", open=True)


class Desk:
    def __init__(self, client: httpx.AsyncClient, triggers: Triggers, fired: list[Activation]) -> None:
        self.client, self.triggers, self.fired = client, triggers, fired

    async def post(self, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.triggers.token}", **more.pop("headers", {})}
        return await self.client.post(path, headers=headers, **more)


BEGUN = ActivationResult("session_1")


@asynccontextmanager
async def desk(answer: ActivationResult | Exception = BEGUN) -> AsyncIterator[Desk]:
    fired: list[Activation] = []

    async def fire(each: Activation) -> ActivationResult:
        fired.append(each)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with Triggers([DEPLOY, OPEN], Path(), fire) as triggers:
        assert triggers.address is not None
        async with httpx.AsyncClient(base_url=triggers.address, trust_env=False, timeout=20) as client:
            yield Desk(client, triggers, fired)


async def test_a_request_starts_a_turn() -> None:
    async with desk() as at:
        answer = await at.post("/deploy?by=me", json={"version": "1.2"}, headers={"Cookie": "a=b"})
    assert (answer.status_code, answer.json()) == (202, {"session": "session_1"})
    [fired] = at.fired
    facts = fired.facts
    assert facts.keys() == {"id", "kind", "at", "time", "method", "path", "query", "headers", "body"}
    assert (facts["method"], facts["path"], facts["query"]) == ("POST", "/deploy", {"by": "me"})
    assert facts["body"] == {"version": "1.2"}
    assert not {"authorization", "cookie"} & facts["headers"].keys()
    assert at.triggers.token not in json.dumps(facts)
    assert fired.prompt == "deploy 1.2 (POST)"


async def test_a_text_is_a_text_and_is_not_expanded() -> None:
    async with desk() as at:
        await at.client.post("/ping", content=b"{{trigger.id}} \xff")
    assert at.fired[0].prompt == "{{trigger.id}} �"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x"])
async def test_without_the_owners_token_it_answers_401(header: str) -> None:
    async with desk() as at:
        headers = {"Authorization": header.format(token=at.triggers.token)} if header else {}
        answer = await at.client.post("/deploy", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    assert at.fired == []


async def test_an_open_route_asks_for_no_token() -> None:
    async with desk() as at:
        assert (await at.client.post("/ping")).status_code == 202


async def test_a_denied_activation_is_403_with_its_reason() -> None:
    async with desk(ActivationResult(denied="not on Fridays")) as at:
        answer = await at.post("/deploy")
    assert (answer.status_code, answer.json()) == (403, {"error": "not on Fridays"})


async def test_a_turn_that_cannot_start_is_503_and_tells_no_secret() -> None:
    async with desk(HooklineError("the database at /secret is locked")) as at:
        answer = await at.post("/deploy")
    assert answer.status_code == 503
    assert "secret" not in answer.text


async def test_other_routes_and_methods() -> None:
    async with desk() as at:
        assert (await at.post("/other")).status_code == 404
        assert (await at.post("/deploy/")).status_code == 404
        answer = await at.client.get("/deploy")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST, PUT")
    assert at.fired == []


async def test_a_body_that_is_too_large_is_413_however_it_comes() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 50_000 + 1):
            yield b"x" * 50_000

    async with desk() as at:
        assert (await at.post("/deploy", content=b"x" * (MAX_BODY_BYTES + 1))).status_code == 413
        assert (await at.post("/deploy", content=pieces())).status_code == 413
        assert (await at.post("/deploy", content=b"x" * MAX_BODY_BYTES)).status_code == 202


@pytest.mark.parametrize("body", ["{", "[NaN]", "[" * 100_000, "9" * 10_000])
async def test_what_is_not_json_is_400(body: str) -> None:
    async with desk() as at:
        answer = await at.post("/deploy", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert at.fired == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Host": "127.0.0.1.evil.example"}, 400),
        ({"Host": "[::1"}, 400),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "localhost:1"}, 202),
    ],
)
async def test_requests_that_a_page_elsewhere_could_send_are_refused(headers: dict[str, str], status: int) -> None:
    async with desk() as at:
        assert (await at.client.post("/ping", headers=headers)).status_code == status
    assert len(at.fired) == (status == 202)


async def test_an_address_that_is_taken_is_one_clear_line() -> None:
    async def fire(fired: Activation) -> ActivationResult:
        return ActivationResult()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HooklineError, match=f"cannot listen on 127.0.0.1:{port}"):
            async with Triggers([OPEN], Path(), fire, listen=ListenOptions(port=port)):
                pass


async def test_it_stops_while_somebody_is_still_connected() -> None:
    async with asyncio.timeout(20):
        async with desk() as at:
            _, writer = await asyncio.open_connection(*_place(at))
            writer.write(b"POST /ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx")
            await writer.drain()
        writer.close()
    assert at.fired == []


def _place(at: Desk) -> tuple[str, int]:
    url = at.client.base_url
    assert url.port is not None
    return url.host, url.port


async def test_connections_that_send_nothing_do_not_occupy_the_address() -> None:
    async with desk() as at:
        host, port = at.client.base_url.host, at.client.base_url.port
        idle = [await asyncio.open_connection(host, port) for _ in range(100)]
        try:
            for _, writer in idle[::2]:
                writer.write(b"POST /deploy HTTP/1.1\r\nHost:")
            assert (await at.post("/deploy", json={})).status_code == 202
        finally:
            for _, writer in idle:
                writer.close()


async def test_a_connection_must_send_its_request_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.runtime.triggers.http_routes._HEADER_TIMEOUT", 0.2)
    async with desk() as at:
        for sent in (b"", b"POST /deploy HTTP/1.1\r\nHost:"):
            reader, writer = await asyncio.open_connection(at.client.base_url.host, at.client.base_url.port)
            writer.write(sent)
            async with asyncio.timeout(5):
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            writer.close()
        assert (await at.post("/deploy", json={})).status_code == 202
