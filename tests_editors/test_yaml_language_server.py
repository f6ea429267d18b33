"""What an editor shows in a file of `hookline init`: the real yaml-language-server, over its protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parents[1] / ".cache/editors/node_modules/yaml-language-server/bin/yaml-language-server"

_TIMEOUT = 60  # seconds

pytestmark = pytest.mark.skipif(not SERVER.exists(), reason="run make test-editors")


class LanguageServer:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process = subprocess.Popen(
            [shutil.which("node") or "node", str(SERVER), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        self._watchdog = threading.Timer(_TIMEOUT, self._process.kill)
        self._watchdog.start()
        capabilities = {"textDocument": {"completion": {}, "hover": {"contentFormat": ["plaintext", "markdown"]}}}
        self.request("initialize", {"processId": None, "rootUri": directory.as_uri(), "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})
        settings = {"yaml": {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}}
        self._send({"method": "workspace/didChangeConfiguration", "params": {"settings": settings}})

    def open(self, text: str) -> str:
        file = self._directory / "hookline.yaml"
        file.write_text(text, "utf-8")
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return file.as_uri()

    def diagnostics(self, uri: str) -> list[str]:
        while True:
            message = self._receive()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return [each["message"] for each in message["params"]["diagnostics"]]

    def at(self, method: str, uri: str, line: int, character: int) -> Any:
        position = {"line": line, "character": character}
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position})

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while (message := self._receive()).get("id") != self._number or "method" in message:
            pass
        return message["result"]

    def close(self) -> None:
        self._watchdog.cancel()
        self._process.kill()
        self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        """The server's own requests are answered with nothing."""
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
            assert self._process.poll() is None, "the server ended"
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        if "method" in message and "id" in message:
            items = message.get("params", {}).get("items", [])
            self._send({"id": message["id"], "result": [None for _ in items]})
        return message


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LanguageServer]:
    """In a directory where `hookline init` was run."""
    code = "from hookline.cli.main import main; main()"
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-c", code, "init"]
    subprocess.run(command, cwd=tmp_path, env=environ, check=True, capture_output=True, timeout=60)
    server = LanguageServer(tmp_path)
    yield server
    server.close()


MODELINE = "# yaml-language-server: $schema=hookline.schema.json\n"
HOOK = "hooks:\n  - id: a\n    on: tool.before\n    when: {kind: shell}\n    then: {deny: No.}\n"


def test_the_file_of_init_has_no_problem(server: LanguageServer, tmp_path: Path) -> None:
    text = (tmp_path / "hookline.yaml").read_text("utf-8")
    assert text.startswith(MODELINE)
    assert server.diagnostics(server.open(text)) == []


def test_a_wrong_key_is_underlined(server: LanguageServer) -> None:
    found = server.diagnostics(server.open(MODELINE + HOOK.replace("when:", "wenn:")))
    assert any("wenn" in each for each in found), found


@pytest.mark.parametrize(
    ("line", "character", "text"),
    [(3, 6, "event"), (4, 6, "condition"), (4, 12, "kind"), (5, 12, "block it; the text is the reason")],
    ids=["on", "when", "kind", "deny"],
)
def test_a_key_is_explained(server: LanguageServer, line: int, character: int, text: str) -> None:
    hover = server.at("hover", server.open(MODELINE + HOOK), line, character)
    assert hover is not None
    assert text in json.dumps(hover["contents"])


@pytest.mark.parametrize(
    ("line", "character", "text"),
    [(4, 6, "program: rm"), (6, 6, "10s"), (7, 2, "fetches: 5"), (8, 10, "7d")],
    ids=["when", "timeout", "extends", "keep"],
)
def test_a_key_is_explained_with_an_example(server: LanguageServer, line: int, character: int, text: str) -> None:
    more = "    timeout: 5s\nextends: [hookline:audit]\nrecord: {keep: 30d}\n"
    hover = server.at("hover", server.open(MODELINE + HOOK + more), line, character)
    assert hover is not None
    assert text in json.dumps(hover["contents"])


@pytest.mark.parametrize(
    ("text", "line", "character", "expected"),
    [
        ("hooks:\n  - id: a\n    timeout: \n", 3, 13, {"30s", "10s"}),
        ("hooks:\n  - id: a\n    enabled: \n", 3, 13, {"true", "false"}),
        ("model: \n", 1, 7, {"anthropic:claude-sonnet-4-5"}),
    ],
    ids=["default", "flag", "example"],
)
def test_defaults_and_examples_are_completed(
    server: LanguageServer, text: str, line: int, character: int, expected: set[str]
) -> None:
    found = server.at("completion", server.open(MODELINE + text), line, character)
    assert expected <= {each["label"] for each in found["items"]}


@pytest.mark.parametrize(
    ("text", "line", "character", "expected"),
    [
        ("hooks:\n  - id: a\n    ", 3, 4, {"on", "when", "then", "timeout"}),
        ("hooks:\n  - id: a\n    on: \n", 3, 8, {"tool.before", "prompt.submit"}),
        ("hooks:\n  - id: a\n    when:\n      ", 4, 6, {"runs", "kind", "input"}),
    ],
    ids=["keys", "events", "conditions"],
)
def test_keys_events_and_conditions_are_completed(
    server: LanguageServer, text: str, line: int, character: int, expected: set[str]
) -> None:
    found = server.at("completion", server.open(MODELINE + text), line, character)
    assert expected <= {each["label"] for each in found["items"]}
