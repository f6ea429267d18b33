"""The recipes of docs/cookbook.md are short, and each has a case. The cases themselves run with all other examples."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import hookline
from docs_pages import DOCS, Block, blocks

PAGE = DOCS / "cookbook.md"
RECIPES = {
    "No recursive deletes",
    "Keep away from .env and secrets",
    "No force push to main",
    "Ask before production",
    "Tests before stop",
    "Format what was written",
    "Redact secrets in results",
    "At most N fetches",
    "No writes outside the repository",
    "No curl into a shell",
    "An audit file with verdicts",
    "Slack on deny",
}
MOST_LINES = 6


def recipes() -> dict[str, list[Block]]:
    """The blocks below each heading."""
    lines = PAGE.read_text("utf-8").splitlines()
    headings = [(number, line.removeprefix("## ")) for number, line in enumerate(lines, 1) if line.startswith("## ")]
    ends = [number for number, _ in headings[1:]] + [len(lines) + 1]
    return {
        name: [block for block in blocks(PAGE) if start < block.line < end]
        for (start, name), end in zip(headings, ends, strict=True)
    }


def test_every_guard_has_a_recipe() -> None:
    assert set(recipes()) == RECIPES


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_is_a_short_file_and_its_case(name: str) -> None:
    recipe, case = recipes()[name]
    assert recipe.dialect == "native"
    assert len(recipe.text.splitlines()) <= MOST_LINES
    assert case.is_case
    assert "file: hookline.yaml\n" in case.text


@pytest.fixture
def slack() -> Iterator[tuple[str, queue.Queue[tuple[str, Any]]]]:
    posted: queue.Queue[tuple[str, Any]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.put((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", posted
        server.shutdown()


def test_slack_gets_the_message(
    slack: tuple[str, queue.Queue[tuple[str, Any]]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, posted = slack
    monkeypatch.setenv("SLACK_PATH", "T0/B0/x")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    recipe = recipes()["Slack on deny"][0].text.replace("https://hooks.slack.com", address)
    config = tmp_path / "hookline.yaml"
    config.write_text(
        recipe + "  - {id: no-shell, on: tool.before, when: {kind: shell}, then: {deny: No shell.}}\n", "utf-8"
    )

    @hookline.guard(kind="shell")
    def bash(command: str) -> str:
        return command

    with hookline.session(config=str(config)), pytest.raises(hookline.Denied):
        bash("ls")
    assert posted.get(timeout=10) == ("/services/T0/B0/x", {"text": "no-shell stopped bash"})
