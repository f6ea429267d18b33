"""Hooks that are a URL, against a server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hookline.engine.decision import Decision
from hookline.testing import fire

EVENT = {"name": "PreToolUse", "tool": {"name": "bash", "kind": "shell", "input": {"command": "ls"}}}


class Server(ThreadingHTTPServer):
    """Answers each path with what was written down for it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.hold = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answering(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers), json.loads(body)))
        if self.path.startswith("/never"):
            self.server.hold.wait(20)
            return
        status, answer = self.server.answers[self.path]
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"{self.server.url}/deny")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.hold.set()
    found.shutdown()
    found.server_close()


def decide_with_hook(url: str, event: Any = EVENT, **more: Any) -> Decision:
    handler = {"type": "http", "url": url, "timeout": 5, **more}
    return fire({"hooks": {event["name"]: [{"hooks": [handler]}]}}, event, dialect="claude_code")


def test_the_event_is_posted_with_headers(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "t\r\nX-More: 1")
    monkeypatch.setenv("OTHER", "secret")
    server.answers["/a?b=c"] = (200, b"")
    decision = decide_with_hook(
        f"{server.url}/a?b=c", headers={"X-A": "Bearer $TOKEN, ${TOKEN}, [$OTHER]"}, allowedEnvVars=["TOKEN"]
    )
    ((_, headers, body),) = server.seen
    assert decision.verdict.word == "silent"
    assert not decision.failures
    assert headers["X-A"] == "Bearer tX-More: 1, tX-More: 1, []"
    assert headers["Content-Type"] == "application/json"
    assert "X-More" not in headers
    assert (body["hook_event_name"], body["tool_name"], body["tool_input"]) == ("PreToolUse", "Bash", {"command": "ls"})


def test_a_page_that_is_no_answer_does_not_pass_a_guard_whose_failure_blocks(server: Server) -> None:
    server.answers |= {"/login": (200, b"<html>Log in</html>"), "/empty": (200, b""), "/object": (200, b"{}")}
    denied = decide_with_hook(f"{server.url}/login", onFailure="block")
    assert (denied.verdict.word, [failure.kind for failure in denied.failures]) == ("deny", ["unreadable_answer"])
    for path in ("/empty", "/object"):
        assert decide_with_hook(f"{server.url}{path}", onFailure="block").verdict.word == "silent"


def test_an_answer_is_read_like_stdout(server: Server) -> None:
    server.answers |= {
        "/deny": (200, b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'),
        "/text": (201, b"mind the gap"),
        "/error": (500, b'{"decision": "block"}'),
        "/moved": (302, b""),
        "/bytes": (200, b"\xff\x00"),
    }
    assert decide_with_hook(f"{server.url}/deny").verdict.word == "deny"
    assert [note.text for note in decide_with_hook(f"{server.url}/text").notes] == ["mind the gap"]
    assert not decide_with_hook(f"{server.url}/bytes").failures
    for path, kind in (("/error", "unreadable_answer"), ("/moved", "unreadable_answer")):
        decision = decide_with_hook(f"{server.url}{path}")
        assert decision.verdict.word == "silent"
        assert [failure.kind for failure in decision.failures] == [kind]
    assert [path for path, _, _ in server.seen] == ["/deny", "/text", "/bytes", "/error", "/moved"]


def test_an_answer_without_end_is_cut(server: Server) -> None:
    server.answers |= {"/long": (200, b"{" + b" " * 3_000_000), "/words": (200, b"x" * 3_000_000)}
    assert [failure.kind for failure in decide_with_hook(f"{server.url}/long").failures] == ["unreadable_answer"]
    (note,) = decide_with_hook(f"{server.url}/words").notes
    assert len(note.text) == 1 << 20


def test_nobody_there_blocks_nothing(server: Server) -> None:
    closed = Server()
    closed.server_close()
    refused, late = (
        decide_with_hook(f"{closed.url}/x?key=secret"),
        decide_with_hook(f"{server.url}/never?key=secret", timeout=0.3),
    )
    assert [failure.kind for failure in refused.failures] == ["cannot_start"]
    assert [failure.kind for failure in late.failures] == ["timeout"]
    for decision in (refused, late):
        assert decision.verdict.word == "silent"
        assert "secret" not in decision.failures[0].text
        assert [str(note.audience) for note in decision.notes] == ["user"]


def test_native_hooks_post_too(server: Server) -> None:
    server.answers["/"] = (200, b'{"decision": "deny", "reason": "r"}')
    hook = {
        "on": "tool.before",
        "then": {"post": f"{server.url}/", "body": {"c": "{{input.command}}"}},
        "on_error": "open",
    }
    assert fire({"hooks": [hook]}, EVENT).reason == "r"
    assert server.seen[0][2] == {"c": "ls"}
