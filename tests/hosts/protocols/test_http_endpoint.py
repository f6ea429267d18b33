"""The HTTP server for local programs, spoken to over real sockets."""

from __future__ import annotations

import asyncio
import json
import socket
from http import HTTPStatus

import pytest

from hookline.hosts.protocols.http_endpoint import BadRequestError, HttpEndpoint, HttpResponse, TokenCheck
from hookline.lazy_dataclasses import replace


async def _echo(body: bytes) -> HttpResponse:
    if body == b"bad":
        raise BadRequestError("say something else", HTTPStatus.UNPROCESSABLE_ENTITY)
    if body == b"bug":
        raise RuntimeError("a secret")
    return HttpResponse({"body": body.decode()})


async def _accept(body: bytes) -> HttpResponse:
    return HttpResponse(None, HTTPStatus.ACCEPTED)


ENDPOINT = HttpEndpoint({("POST", "/echo"): _echo, ("POST", "/accept"): _accept}, max_body=1000)


def exchange(*requests: bytes, endpoint: HttpEndpoint = ENDPOINT, received: bytes = b"") -> bytes:
    """What a client gets that sends these bytes, each after a pause, and then closes its side."""

    async def talk() -> bytes:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        serving = asyncio.create_task(endpoint.serve_socket(ours, received))
        reader, writer = await asyncio.open_connection(sock=theirs)
        for part in requests:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await serving
        return answer

    return asyncio.run(talk())


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost:1", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def status_of(answer: bytes) -> int:
    return int(answer.split()[1])


def body_of(answer: bytes) -> object:
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def test_a_request_is_answered() -> None:
    answer = exchange(post("/echo", b"hello"))
    assert (status_of(answer), body_of(answer)) == (200, {"body": "hello"})


def test_a_connection_carries_several_requests() -> None:
    assert exchange(post("/echo", b"one"), post("/echo", b"two")).count(b"HTTP/1.1 200") == 2


def test_a_request_may_arrive_in_pieces_and_partly_before() -> None:
    request = post("/echo", b"hello")
    answer = exchange(*(request[at : at + 7] for at in range(5, len(request), 7)), received=request[:5])
    assert body_of(answer) == {"body": "hello"}


def test_an_answer_without_a_body() -> None:
    assert status_of(exchange(post("/accept", b""))) == 202


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (post("/nope", b""), 404),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (post("/echo", b"bad"), 422),
        (post("/echo", b"bug"), 500),
        (post("/echo", b"x" * 1001), 413),
        (b"GARBAGE\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: nine\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\n" + b"X-Long: " + b"y" * 100_000 + b"\r\n\r\n", 400),
    ],
)
def test_what_is_wrong_gets_a_status_and_never_a_decision(request_: bytes, status: int) -> None:
    answer = exchange(request_)
    assert status_of(answer) == status
    assert b"a secret" not in answer


def test_a_client_that_leaves_in_the_middle_ends_the_connection() -> None:
    assert b"200" not in exchange(post("/echo", b"hello")[:-2]).partition(b"\r\n")[0]


GUARDED = HttpEndpoint(ENDPOINT.routes, TokenCheck("right", frozenset({"localhost:1"})))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("Authorization: Bearer right",), 200),
        ((), 401),
        (("Authorization: Bearer wrong",), 401),
        (("Authorization: right",), 401),
        (("Authorization: Bearer right", "Origin: http://localhost:1"), 403),
        (("Authorization: Bearer right", "Origin: null"), 403),
        (("Authorization: Bearer right", "Sec-Fetch-Site: same-origin"), 403),
    ],
)
def test_a_loopback_port_needs_the_token_and_refuses_browsers(headers: tuple[str, ...], status: int) -> None:
    assert status_of(exchange(post("/echo", b"x", *headers), endpoint=GUARDED)) == status


def test_a_loopback_port_refuses_another_host_name() -> None:
    request = post("/echo", b"x", "Authorization: Bearer right").replace(b"localhost:1", b"evil.test")
    assert status_of(exchange(request, endpoint=GUARDED)) == 421


def test_a_body_is_not_read_before_the_token_is_checked() -> None:
    endpoint = replace(ENDPOINT, access=TokenCheck("secret", frozenset(("localhost:1",))))
    announced = b"POST /echo HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 900\r\n\r\n"

    async def talk() -> bytes:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        serving = asyncio.create_task(endpoint.serve_socket(ours))
        reader, writer = await asyncio.open_connection(sock=theirs)
        writer.write(announced)  # and no body
        answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        await serving
        return answer

    assert status_of(asyncio.run(talk())) == HTTPStatus.UNAUTHORIZED
