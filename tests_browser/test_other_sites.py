"""What a page of another site can do to the hub: nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from browser_hub import WAIT, HubProcess, Watched
from playwright.sync_api import Browser, BrowserContext, Page, expect


class EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = b"<!doctype html><title>Another site</title><h1>Another site</h1>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def other_site() -> Iterator[str]:
    """A dev server on another port of the same host, as an agent may start one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


FETCH = """
async ([url, options]) => {
  try {
    const response = await fetch(url, options);
    return response.type === "opaque" ? "opaque" : response.status;
  } catch (error) {
    return "refused";
  }
}
"""
SOCKET = """
(url) => new Promise((resolve) => {
  const socket = new WebSocket(url);
  socket.onopen = () => resolve("open");
  socket.onerror = () => resolve("refused");
})
"""


@pytest.fixture
def watched() -> Watched:
    """The browser says that the hub's policy forbids to frame it."""
    return Watched()


@pytest.fixture
def stranger(context: BrowserContext, hub: HubProcess, other_site: str) -> Page:
    """A page of the other site, in a browser that is signed in to the hub."""
    own = context.new_page()
    own.goto(hub.url)
    expect(own.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    page = context.new_page()
    page.goto(other_site)
    return page


@pytest.mark.parametrize("path", ["/api/v1/me", "/api/v1/decisions", "/api/v1/healthz", "/", "/static/x.js"])
def test_fetches_are_refused(stranger: Page, hub: HubProcess, path: str) -> None:
    assert stranger.evaluate(FETCH, [hub.url + path, {"credentials": "include"}]) == "refused"
    statuses: list[int] = []
    stranger.on("response", lambda response: statuses.append(response.status))
    stranger.evaluate(FETCH, [hub.url + path, {"mode": "no-cors", "credentials": "include"}])
    assert statuses in ([], [403])


def test_posts_are_refused(stranger: Page, hub: HubProcess) -> None:
    statuses: list[int] = []
    stranger.on("response", lambda response: statuses.append(response.status))
    stranger.evaluate(
        FETCH, [f"{hub.url}/api/v1/enter", {"method": "POST", "mode": "no-cors", "body": '{"code": "x"}'}]
    )
    assert statuses in ([], [403], [415])


def test_the_socket_is_refused(stranger: Page, hub: HubProcess) -> None:
    url = hub.url.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket"
    assert stranger.evaluate(SOCKET, url) == "refused"


def test_nothing_is_kept_where_another_port_sees_it(stranger: Page) -> None:
    assert stranger.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]


def test_the_console_cannot_be_framed(stranger: Page, hub: HubProcess) -> None:
    stranger.evaluate(
        """(url) => new Promise((resolve) => {
          const frame = document.createElement("iframe");
          frame.src = url;
          frame.onload = resolve;
          document.body.append(frame);
        })""",
        hub.url,
    )
    [frame] = [each for each in stranger.frames if each is not stranger.main_frame]
    assert "hookline" not in frame.content()


def test_a_null_origin_is_refused(stranger: Page, hub: HubProcess) -> None:
    told = stranger.evaluate(
        """(url) => new Promise((resolve) => {
          addEventListener("message", (event) => resolve(event.data));
          const frame = document.createElement("iframe");
          frame.sandbox = "allow-scripts";
          frame.srcdoc = `<script>fetch("${url}/api/v1/healthz").then((r) => parent.postMessage(r.status, "*"), () => parent.postMessage("refused", "*"))<\\/script>`;
          document.body.append(frame);
        })""",
        hub.url,
    )
    assert told == "refused"


def test_another_host_name_is_refused(browser: Browser, hub: HubProcess) -> None:
    """As after DNS rebinding: the address is the hub's, the name is not."""
    context = browser.new_context()
    page = context.new_page()
    response = page.goto(f"http://evil.localhost:{hub.port}/")
    assert response is not None
    assert response.status == 421
    context.close()
