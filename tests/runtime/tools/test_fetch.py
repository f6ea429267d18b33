"""Over real HTTP, on this machine."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.host import ToolResult
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.tools.fetch import MAX_FETCHED_BYTES, fetch_tool
from hookline.runtime.updates import ToolCallFinished
from runtime.scripted_runtime import open_runtime, run_async, send_prompt, tool_call_step

pytestmark = pytest.mark.anyio


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.seen.append((self.command, self.path, dict(self.headers), b""))  # type: ignore[attr-defined]
        answer = getattr(self, f"at_{self.path.strip('/').partition('?')[0]}", None)
        if answer is None:
            self.say(404, b"nothing here")
        else:
            answer()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        if self.path == "/form":
            self.say(302, b"", Location="/page")
        else:
            self.say(200, body)

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, held in headers.items():
            self.send_header(name.replace("_", "-"), held)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def at_page(self) -> None:
        self.say(200, b"<p>Hello <b>there</b></p><script>x()</script>", Content_Type="text/html; charset=utf-8")

    def at_around(self) -> None:
        self.say(302, b"", Location="/around")

    def at_inside(self) -> None:
        self.say(302, b"", Location=f"http://localhost:{self.server.server_port}/page")  # type: ignore[attr-defined]

    def at_file(self) -> None:
        self.say(302, b"", Location="file:///etc/passwd")

    def at_large(self) -> None:
        self.say(200, b"x" * (MAX_FETCHED_BYTES + 10))

    def at_bomb(self) -> None:
        self.say(200, gzip.compress(b"\n" * 50_000_000), Content_Encoding="gzip")

    def at_packed(self) -> None:
        self.say(200, gzip.compress(gzip.compress(b"x")), Content_Encoding="gzip, gzip")

    def at_data(self) -> None:
        self.say(200, b"\x89PNG\0\0", Content_Type="image/png")

    def at_latin(self) -> None:
        self.say(200, "ü".encode("latin-1"), Content_Type="text/plain; charset=latin-1")

    def at_odd(self) -> None:
        self.say(200, b"x", Content_Type="text/plain; charset=base64")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.seen = []  # type: ignore[attr-defined]
    running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    running.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def get(site: ThreadingHTTPServer, place):
    async def get(path: str, **more: Any) -> ToolResult:
        tool = fetch_tool((f"127.0.0.1:{site.server_port}",))
        return await tool.perform({"url": f"http://127.0.0.1:{site.server_port}{path}", **more}, place)

    return get


async def test_returns_what_is_there(get) -> None:
    assert (await get("/page")).content == "<p>Hello <b>there</b></p><script>x()</script>"
    assert (await get("/page", format="text")).content == "Hello there"
    assert (await get("/latin")).content == "ü"
    assert (await get("/odd")).content == "x"
    assert (await get("/data")).content == "[image/png that is not text]"


async def test_what_is_not_there_is_an_error(get) -> None:
    result = await get("/gone")
    assert (result.ok, result.error, result.content) == (False, "404 Not Found\nnothing here", "nothing here")


async def test_posts(get, site) -> None:
    result = await get("/echo", method="POST", body="ü", headers={"X-One": "1", "Host": "evil", "Content-Length": "9"})
    assert result.content == "ü"
    _, _, headers, body = site.seen[-1]
    assert (headers["X-One"], headers["Host"], body) == ("1", f"127.0.0.1:{site.server_port}", "ü".encode())


async def test_a_form_is_not_sent_on(get, site) -> None:
    assert (await get("/form", method="POST", body="x")).ok
    assert [(each[0], each[3]) for each in site.seen] == [("POST", b"x"), ("GET", b"")]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/around", "more than 5 redirects"),
        ("/inside", "localhost is not a public address"),
        ("/file", "only http and https"),
        ("/packed", "unsupported content encoding"),
    ],
)
async def test_where_it_leads_is_looked_at_again(get, path: str, error: str) -> None:
    result = await get(path)
    assert not result.ok
    assert error in result.error


async def test_answers_are_bounded(get) -> None:
    assert len((await get("/large")).content) < MAX_FETCHED_BYTES + 100
    assert len((await get("/bomb")).content) < MAX_FETCHED_BYTES + 100


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://224.0.0.1/",
        "http://user:secret@127.0.0.1/",
    ],
)
async def test_private_addresses_are_refused(place, url: str) -> None:
    result = await fetch_tool().perform({"url": url}, place)
    assert "is not a public address" in result.error


@pytest.mark.parametrize(
    ("input", "error"),
    [
        ({"url": "file:///etc/passwd"}, "only http and https"),
        ({"url": "gopher://x/"}, "only http and https"),
        ({"url": "http://"}, "only http and https"),
        ({"url": "http://[::1"}, "invalid URL"),
        ({"url": "http://a\r\nb/"}, "invalid URL"),
        ({"url": "http://" + "a" * 10_000}, "only http and https"),
        ({"url": "http://does-not-exist.invalid/"}, "was not found"),
        ({"url": "http://x/", "method": "TRACE"}, "method is not one of"),
        ({"url": "http://x/", "headers": {"a": 1}}, "headers.a is not a string"),
        ({}, "url is missing"),
    ],
)
async def test_what_is_no_request_is_an_error(place, input, error: str) -> None:
    result = await fetch_tool().perform(input, place)
    assert not result.ok
    assert error in result.error


async def test_a_header_cannot_begin_another(get, site) -> None:
    result = await get("/page", headers={"X": "1\r\nY: 2"})
    assert not result.ok
    assert not site.seen


async def test_a_port_that_nobody_listens_on_is_an_error(place) -> None:
    result = await fetch_tool(("127.0.0.1",)).perform({"url": "http://127.0.0.1:1/"}, place)
    assert result.error.startswith("127.0.0.1 cannot be reached")


@pytest.mark.parametrize("named", [True, False])
def test_an_app_names_the_private_hosts_that_it_may_reach(tmp_path: Path, site, named: bool) -> None:
    hosts = (f"127.0.0.1:{site.server_port}",) if named else ()
    app = App((Agent("worker", AgentSide(Prompt("main"))),), private_hosts=hosts)
    steps = [tool_call_step(("fetch", {"url": f"http://127.0.0.1:{site.server_port}/page"})), "done"]

    async def work() -> None:
        async with open_runtime(tmp_path, "", steps, app=app) as (runtime, _):
            [called] = (await send_prompt(await runtime.start(), "go")).of_type(ToolCallFinished)
            assert called.result.ok is named

    run_async(work)
