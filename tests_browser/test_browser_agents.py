"""Agents whose page is open in a browser: their tools, the scripts of their hooks, and what goes on without the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from agent_pages import Api, BrowserAgent, call, wait_for
from browser_hub import WAIT
from flo_examples import RULES
from playwright.sync_api import BrowserContext, Page, expect

BLACK = """#!/bin/sh
echo formatted >> "$1"
"""


@pytest.fixture
def server() -> Iterator[str]:
    """A server that allows pages of other origins to read it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"seen by {self.headers.get('origin')}".encode()
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()


def test_tools_act_in_the_page_and_at_the_hub(page: Page, api: Api, server: str) -> None:
    steps = [
        call("dom", action="append", html="<h1 id=title>Hello</h1><p onclick=\"this.textContent='clicked'\">text</p>"),
        call("dom", action="modify", selector="h1", textContent="Changed", attributes={"class": "big"}),
        call("dom", action="query", selector="h1"),
        call("runjs", code="return 6 * 7"),
        call("runjs", code="return typeof document"),
        call(
            "runjs",
            code="document.title = 'mine'; log('hi'); return document.querySelector('h1').textContent",
            context="iframe",
        ),
        call("fetch", url=f"{server}/x"),
        call("fetch", url="http://127.0.0.1:1/x"),
        call("storage", action="set", key="k", value={"n": 1}),
        call("files", action="write", path="a.txt", content="stored"),
        call("bash", command="pwd"),
        call("dom", action="remove", selector="p"),
        {"say": "done"},
    ]
    agent = BrowserAgent(api, "Painter", steps, network=(server,))
    frame = agent.open(page)
    agent.say()
    results = agent.results()
    assert "Changed" in results[2]
    assert "big" in results[2]
    assert "42" in results[3]
    assert "undefined" in results[4]
    assert "Changed" in results[5]
    assert "hi" in results[5]
    assert results[6] == "seen by null"
    assert "not a public address" in results[7]
    assert "stored" in results[8]
    assert str(agent.workspace) in results[10]
    expect(frame.locator("h1")).to_have_text("Changed")
    expect(frame.locator("p")).to_have_count(0)


def run_flo_examples(agent: BrowserAgent) -> list[str]:
    """What the tools answered. `black` is a stand-in that the shell finds first."""
    black = agent.api.hub.home / "bin" / "black"
    black.write_text(BLACK, encoding="utf-8")
    black.chmod(0o755)
    agent.set_rules(RULES)
    agent.say()
    return agent.results()


EXAMPLE_STEPS = [
    call("bash", command="rm -rf important"),
    call("write_file", path="a.env", content="x"),
    call("write_file", path="a.py", content="x = 1\n"),
    {"say": "done"},
]


def test_the_scripts_of_flos_guide_run_as_written(page: Page, api: Api) -> None:
    """In the page, then in QuickJS: both decide the same, and only a page has a document."""
    lines: list[str] = []
    page.on("console", lambda message: lines.append(message.text))
    in_page = BrowserAgent(api, "Scripts", EXAMPLE_STEPS)
    frame = in_page.open(page)
    results = run_flo_examples(in_page)
    assert "Dangerous command blocked" in results[0]
    assert "Cannot modify .env files" in results[1]
    assert not (in_page.workspace / "a.env").exists()
    assert (in_page.workspace / "a.py").read_text() == "x = 1\nformatted\n"
    expect(frame.locator(".notification")).to_have_text(["Tool write_file completed"] * 2, timeout=WAIT)
    for line in ("Tool called: bash with input: {", "Tool called: write_file with input: {", "Formatted: a.py"):
        wait_for(lambda line=line: any(line in each for each in lines))

    at_hub = BrowserAgent(api, "Scripts at the hub", EXAMPLE_STEPS)
    same = [each.replace(f"agent:{in_page.id}:", f"agent:{at_hub.id}:") for each in results]
    assert run_flo_examples(at_hub) == same
    assert (at_hub.workspace / "a.py").read_text() == "x = 1\nformatted\n"


def test_a_page_that_closes_changes_nothing(context: BrowserContext, page: Page, api: Api) -> None:
    """The turn ends at the hub with its hooks, and a page that opens again has its document."""
    steps = [
        call("dom", action="append", html="<p>before</p>"),
        call("bash", command="sleep 3; echo slept"),
        call("bash", command="touch denied"),
        call("runjs", code="return 'ran ' + typeof document"),
        {"say": "went on"},
    ]
    agent = BrowserAgent(api, "Closed", steps)
    agent.add_rules(
        {
            "id": "no-touch",
            "matcher": "^bash$",
            "action": "script",
            "script": "if (toolInput.command.startsWith('touch')) return {decision: 'deny', reason: 'held ' + typeof importScripts}",
        }
    )
    other = context.new_page()
    frame = agent.open(other)
    agent.say()
    expect(frame.locator("p")).to_have_text("before", timeout=WAIT)
    other.close()
    results = agent.results()
    assert "slept" in results[1]
    assert "held undefined" in results[2]  # in QuickJS: a worker has importScripts
    assert "ran undefined" in results[3]
    assert not (agent.workspace / "denied").exists()
    again = agent.open(page)
    expect(again.locator("p")).to_have_text("before", timeout=WAIT)
    expect(page.get_by_text("went on")).to_be_visible()


def test_another_tab_takes_over(context: BrowserContext, page: Page, api: Api) -> None:
    agent = BrowserAgent(api, "Two tabs", [call("dom", action="append", html="<p>here</p>"), {"say": "done"}])
    agent.open(page)
    other = context.new_page()
    other.goto(agent.url)
    expect(other.get_by_text("Another tab runs it")).to_be_visible(timeout=WAIT)
    other.get_by_role("button", name="Take over").click()
    frame = agent.frame(other)
    expect(page.get_by_text("Another tab runs it")).to_be_visible(timeout=WAIT)
    agent.say()
    agent.wait()
    expect(frame.locator("p")).to_have_text("here")


def test_code_of_the_agent_calls_tools_and_hooks_decide(page: Page, api: Api) -> None:
    agent = BrowserAgent(api, "Caller", [{"say": "done"}])
    agent.add_rules(
        {"id": "no", "matcher": "^bash$", "inputMatchers": {"command": "touch"}, "action": "deny", "reason": "No."}
    )
    frame = agent.open(page)
    answers = frame.evaluate(
        "Promise.all([hookline.callTool('bash', {command: 'echo fine'}), hookline.callTool('bash', {command: 'touch x'})])"
    )
    assert "fine" in str(answers[0]["content"])
    assert answers[1] == {"content": "No.", "is_error": True}
    assert not (agent.workspace / "x").exists()
