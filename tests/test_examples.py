"""The examples run unchanged, against a fake model server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: 'rm '}}, then: {deny: Not rm.}}
  - {id: brief, on: session.start, then: {tell: Be brief.}}
  - {id: once-more, on: stop, then: {deny: Say it shorter.}, max_fires: 1}
"""


class FakeModelServer(ThreadingHTTPServer):
    """Answers chat completions: a tool call for each command, then text."""

    def __init__(self, commands: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), _CompletionHandler)
        self.commands = commands
        self.requests: list[list[dict[str, Any]]] = []

    def reply(self) -> dict[str, Any]:
        if not self.commands:
            return {"role": "assistant", "content": f"done {len(self.requests)}"}
        function = {"name": "bash", "arguments": json.dumps({"command": self.commands.pop(0)})}
        return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


class _CompletionHandler(BaseHTTPRequestHandler):
    server: FakeModelServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked["messages"])
        choice = {"index": 0, "finish_reason": "stop", "message": self.server.reply()}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[FakeModelServer]:
    found = FakeModelServer(["echo hi > a; echo written", "rm a"])
    threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def test_a_plain_loop_with_the_openai_package(model: FakeModelServer, tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the openai package is not installed")
    project, home = tmp_path / "project", tmp_path / "home"
    (home / ".config" / "hookline").mkdir(parents=True)
    (home / ".config" / "hookline" / "hookline.yaml").write_text(HOOKS)
    project.mkdir()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, str(EXAMPLES / "openai_loop.py"), "Tidy up"]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.returncode) == ("done 4\n", 0), done.stderr
    last = model.requests[-1]
    assert [message["content"] for message in last if message["role"] == "tool"] == [
        "written\n",
        "Not rm. (hook no-rm, ~/.config/hookline/hookline.yaml:3)",
    ]
    assert [message["content"] for message in last if message["role"] == "system"] == ["Be brief."]
    assert last[-1] == {"role": "user", "content": "Say it shorter."}
    assert (project / "a").exists()
