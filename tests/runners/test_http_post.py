"""Posts to a server on this machine: headers, limits, failures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hookline.hooks.host import PostRequest, PostResponse, inherited_environment
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners import http_post
from hookline.runners.http_post import post_json

pytestmark = pytest.mark.slow

Answer = tuple[int, dict[str, str], bytes]


class LoopbackServer(ThreadingHTTPServer):
    answer: Answer = (200, {}, b"{}")
    release: threading.Event | None = None  # set: no answer before it is
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posts: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append((self.path, dict(self.headers), body))
        if self.server.release is not None:
            self.server.release.wait(30)
        status, headers, text = self.server.answer
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    if made.release is not None:
        made.release.set()
    made.shutdown()
    thread.join()
    made.server_close()


def post(request: PostRequest) -> PostResponse:
    return asyncio.run(post_json(request))


def failure(request: PostRequest) -> tuple[FailureKind, str]:
    with pytest.raises(ActionError) as raised:
        post(request)
    return raised.value.failure.kind, raised.value.failure.text


def test_the_body_is_sent_and_the_answer_returned(server: LoopbackServer) -> None:
    server.answer = (418, {}, "☃".encode() + b"\xff")
    assert post(PostRequest(server.url, b'{"a":1}')) == PostResponse(418, "☃\ufffd")
    ((path, headers, body),) = server.posts
    assert (path, headers["Content-Type"], body) == ("/hook", "application/json", b'{"a":1}')


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("Bearer $TOKEN", "Bearer secret"),
        ("x${TOKEN}y", "xsecrety"),
        ("$HOME!", "!"),
        ("$UNSET!", "!"),
        ("$LINES", "aX-Other: b"),
        ("100$", "100$"),
    ],
)
def test_only_listed_variables_are_expanded_and_none_starts_a_header(
    server: LoopbackServer, header: str, sent: str
) -> None:
    environment = {b"TOKEN": b"secret", b"HOME": b"/home/me", b"LINES": b"a\r\nX-Other: b"}
    token = inherited_environment.set(environment)
    try:
        post(PostRequest(server.url, b"", (("X-Header", header),), ("TOKEN", "UNSET", "LINES")))
    finally:
        inherited_environment.reset(token)
    ((_, headers, _),) = server.posts
    assert headers["X-Header"] == sent
    assert "X-Other" not in headers


def test_without_another_environment_the_variables_are_ours(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKLINE_TEST_TOKEN", "ours")
    post(PostRequest(server.url, b"", (("X-Header", "$HOOKLINE_TEST_TOKEN"),), ("HOOKLINE_TEST_TOKEN",)))
    assert server.posts[0][1]["X-Header"] == "ours"


def test_a_listed_variable_is_expanded_after_the_host(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKLINE_TEST_TOKEN", "T0/B0\r\n/x")
    post(PostRequest(f"{server.url}/$HOOKLINE_TEST_TOKEN?$filter=a&$HOME", b"", (), ("HOOKLINE_TEST_TOKEN",)))
    assert server.posts[0][0] == "/hook/T0/B0/x?$filter=a&$HOME"


def test_a_variable_of_the_url_that_is_not_set_is_a_failure(server: LoopbackServer) -> None:
    kind, text = failure(PostRequest(f"{server.url}/$UNSET_TOKEN", b"", (), ("UNSET_TOKEN",)))
    assert kind is FailureKind.CANNOT_START
    assert "the variable UNSET_TOKEN is not set" in text
    assert server.posts == []


def test_a_redirect_is_not_followed(server: LoopbackServer) -> None:
    server.answer = (307, {"Location": server.url + "/other"}, b"moved")
    assert post(PostRequest(server.url, b"")).status == 307
    assert len(server.posts) == 1


def test_a_proxy_of_the_environment_is_not_used(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert post(PostRequest(server.url, b"")).status == 200


def test_a_long_answer_is_cut_and_its_rest_counted(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_post, "_MAX_ANSWER_BYTES", 1000)
    server.answer = (200, {}, b"x" * 1500)
    assert post(PostRequest(server.url, b"")) == PostResponse(200, "x" * 1000, 500)


def test_an_endless_answer_is_left(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_post, "_MAX_ANSWER_BYTES", 10)
    monkeypatch.setattr(http_post, "_MAX_DROPPED_BYTES", 1000)
    size = 64 << 20
    server.answer = (200, {}, bytes(size))
    assert 1000 < post(PostRequest(server.url, b"")).dropped < size - 10


def test_no_answer_in_time_is_a_timeout_that_hides_the_path(server: LoopbackServer) -> None:
    server.release = threading.Event()
    kind, text = failure(PostRequest(server.url + "?key=secret", b"", timeout=timedelta(seconds=0.2)))
    assert kind is FailureKind.TIMEOUT
    assert text == f"got no answer from {server.url.removesuffix('/hook')} within 200 ms"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/x",
        "127.0.0.1",
        "http://user:password@127.0.0.1/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1:1/path?key=secret",
    ],
)
def test_a_url_that_cannot_be_reached_is_a_failure_that_hides_it(url: str) -> None:
    kind, text = failure(PostRequest(url, b"", timeout=timedelta(seconds=5)))
    assert kind is FailureKind.CANNOT_START
    assert not any(secret in text for secret in ("secret", "password"))
