"""Code of an agent that never ends, or takes all memory: hooks go on, and the frame comes back."""

from __future__ import annotations

import time

import pytest
from agent_pages import Api, BrowserAgent, call
from browser_hub import WAIT
from playwright.sync_api import BrowserContext, Page, expect

LOOP = "for (;;);"
# A bomb may end the frame's process before its deadline. The page replaces the frame, but Playwright takes it for the
# end of the page, so only what the hub was told is looked at then.
BOMB = "const held = []; for (;;) held.push(new Array(1e6).fill(Math.random()));"
DENY_TOUCH = (
    "if (toolInput.command.startsWith('touch')) return {decision: 'deny', reason: 'held in ' + typeof importScripts}"
)


def guard(agent: BrowserAgent) -> None:
    agent.add_rules(
        {"id": "no-touch", "matcher": "^bash$", "action": "script", "script": DENY_TOUCH, "continueOnError": False}
    )


@pytest.mark.parametrize("code", [LOOP, BOMB], ids=["loop", "bomb"])
def test_a_script_is_ended_at_its_deadline(code: str, page: Page, api: Api) -> None:
    agent = BrowserAgent(api, "Script", [call("bash", command="true"), call("bash", command="true"), {"say": "done"}])
    script = {"action": "script", "script": code, "timeout": 1000, "continueOnError": False}
    agent.add_rules({"id": "endless", "matcher": "^bash$", **script})
    agent.open(page)
    agent.say()
    results = agent.results()
    assert all("did not answer within" in each for each in results)
    if code != BOMB:
        expect(page.get_by_text("This page runs it")).to_be_visible(timeout=WAIT)


@pytest.mark.parametrize("code", [LOOP, BOMB], ids=["loop", "bomb"])
def test_code_in_a_worker_is_ended(code: str, page: Page, api: Api) -> None:
    add = call("runjs", code="return 1 + 1")  # twice: a bomb may end the frame's process, which is then replaced
    steps = [call("runjs", code=code), add, add, {"say": "done"}]
    agent = BrowserAgent(api, "Worker", steps)
    agent.open(page)
    agent.say()
    results = agent.results()
    if (
        code == BOMB and "was replaced" in results[0]
    ):  # its memory kept the frame from answering; the new one works at once
        assert results[1:3] == ["2", "2"]
        return
    assert any(words in results[0] for words in ("5 s", "memory", "worker failed", "allocation"))
    assert "2" in results[2]


@pytest.mark.parametrize("code", [LOOP, BOMB], ids=["loop", "bomb"])
def test_hooks_hold_while_the_frame_hangs_and_it_comes_back(code: str, page: Page, api: Api) -> None:
    steps = [
        call("dom", action="append", html="<p>kept</p>"),
        call("runjs", code=code, context="iframe"),
        call("bash", command="touch x"),
        call("dom", action="query", selector="p"),
        {"say": "done"},
    ]
    agent = BrowserAgent(api, "Frame loop", steps)
    guard(agent)
    agent.open(page)
    agent.say()
    results = agent.results()
    assert "replaced" in results[1] or "did not answer" in results[1]
    assert "held in function" in results[2]  # in a worker of the hooks frame, which another process runs
    if code == BOMB:
        return
    expect(page.get_by_text("This page runs it")).to_be_visible(timeout=WAIT)
    expect(agent.frame(page).locator("p")).to_have_text("kept", timeout=WAIT)
    assert "kept" in results[3]


def test_a_frame_that_hangs_stops_no_other_tab_and_comes_back(context: BrowserContext, page: Page, api: Api) -> None:
    other = context.new_page()
    BrowserAgent(api, "Other", [{"say": "done"}]).open(other)
    agent = BrowserAgent(api, "Hangs", [{"say": "done"}])
    frame = agent.open(page)
    frame.evaluate("setTimeout(() => { for (;;); }, 0)")
    began = time.monotonic()
    while not frame.is_detached():
        assert time.monotonic() - began < 30
        page.wait_for_timeout(100)
        assert other.get_by_text("This page runs it").is_visible()
    assert agent.frame(page).evaluate("typeof hookline.callTool") == "function"
    assert other.get_by_text("This page runs it").is_visible()


def test_a_frame_that_hangs_is_replaced_within_five_seconds(page: Page, api: Api) -> None:
    """One of three: the machine may be busy."""
    agent = BrowserAgent(api, "Hangs", [{"say": "done"}])
    frame = agent.open(page)
    seconds = []
    for _ in range(3):
        frame.evaluate("setTimeout(() => { for (;;); }, 0)")
        began = time.monotonic()
        while not frame.is_detached():
            assert time.monotonic() - began < 30
            page.wait_for_timeout(50)
        frame = agent.frame(page)
        assert frame.evaluate("typeof hookline.callTool") == "function"
        seconds.append(time.monotonic() - began)
        if seconds[-1] <= 5:
            return
    raise AssertionError(f"replaced after {seconds} s")
