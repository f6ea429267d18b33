"""The page of a browser agent: what it shows, for whom, and in browsers that cannot keep its code in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from agent_pages import Api, BrowserAgent, call, wait_for
from browser_hub import CHROMIUM_OPTIONS, WAIT, HubProcess, find_violations
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

WHERE = "return {decision: 'deny', reason: 'decided in ' + typeof importScripts}"


def guarded_agent(api: Api, name: str) -> BrowserAgent:
    """Its only call is denied by a script, which says where it ran."""
    agent = BrowserAgent(api, name, [call("bash", command="touch x"), {"say": "done"}])
    agent.add_rules({"id": "where", "matcher": "^bash$", "action": "script", "script": WHERE})
    return agent


def test_a_viewer_reads_the_chat_and_does_not_drive(browser: Browser, hub: HubProcess, api: Api) -> None:
    agent = guarded_agent(api, "Watched")
    context = browser.new_context()
    page = context.new_page()
    page.goto(hub.new_link("--role", "viewer"))
    expect(page.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    page.goto(agent.url)
    expect(page.get_by_text("Only editors run an agent's page")).to_be_visible(timeout=WAIT)
    agent.say()
    expect(page.get_by_role("log", name="Chat")).to_contain_text("decided in undefined", timeout=WAIT)
    expect(page.get_by_role("textbox", name="Message")).to_have_count(0)
    assert page.locator("iframe").count() == 0
    context.close()


def test_without_trusted_types_scripts_run_on_the_hub(context: BrowserContext, page: Page, api: Api) -> None:
    """As in a browser that lacks them: the agent's frame is not opened, and the page says so."""
    context.add_init_script("delete window.trustedTypes")
    agent = guarded_agent(api, "Unprotected")
    page.goto(agent.url)
    expect(page.get_by_text("This browser has no Trusted Types")).to_be_visible(timeout=WAIT)
    agent.say()
    assert "decided in undefined" in agent.results()[0]
    assert page.locator("iframe[src*='/sandbox/agent'], iframe[src*='/sandbox/hooks']").count() == 0
    assert find_violations(page) == []


@pytest.fixture
def one_process(playwright: Playwright) -> Iterator[Browser]:
    """Chromium that runs pages of different sites in one process."""
    separated_by = "IsolateSandboxedIframes,IsolateOrigins,site-per-process,OriginKeyedProcessesByDefault"
    options = ["--disable-site-isolation-trials", f"--disable-features={separated_by}"]
    browser = playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=[*CHROMIUM_OPTIONS, *options, "--renderer-process-limit=1"]
    )
    yield browser
    browser.close()


def test_without_separate_processes_scripts_run_on_the_hub(
    one_process: Browser, signed_in: dict[str, object], api: Api
) -> None:
    agent = guarded_agent(api, "Unseparated")
    context = one_process.new_context(storage_state=signed_in)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(agent.url)
    expect(page.get_by_text("scripts of hooks run on the hub")).to_be_visible(timeout=WAIT)
    agent.say()
    assert "decided in undefined" in agent.results()[0]
    context.close()


def test_the_card_of_an_agent_shows_its_tags_and_how_often_its_hooks_fired(page: Page, api: Api) -> None:
    agent = BrowserAgent(
        api, "Careful", [call("bash", command="touch made"), call("bash", command="ls"), {"say": "done"}]
    )
    denied = {"id": "no-touch-here", "matcher": "^bash$", "inputMatchers": {"command": "touch"}, "action": "deny"}
    agent.add_rules({**denied, "reason": "No.", "tags": ["safety", "files"]})
    agent.say()
    agent.wait()
    hooks = f"/hooks?agent={agent.id}"
    wait_for(lambda: [each for each in api.call("GET", hooks)["items"] if each["fires"] == 1])
    page.goto(f"{api.hub.url}/agents")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Careful", exact=True))
    expect(card).to_contain_text("1 hook, fired once", timeout=WAIT)
    for tag in ("safety", "files"):
        expect(card.get_by_text(tag, exact=True)).to_be_visible()
    assert find_violations(page) == []


def test_the_chat_keeps_its_end_in_view(page: Page, api: Api) -> None:
    """Also when a question takes a part of its place. Who scrolls up stays there."""
    note = call("runjs", code="\n".join(["// a long script"] * 6 + ["return 'noted'"]))
    steps = [*[note] * 4, call("bash", command="echo publish"), note, {"say": "first"}, *[note] * 2, {"say": "second"}]
    agent = BrowserAgent(api, "Talker", steps)
    asks = "hooks: [{on: tool.before, when: {tool: bash}, then: {ask: Publish it?}}]"
    (agent.workspace / "hookline.yaml").write_text(asks, encoding="utf-8")
    agent.open(page)
    agent.say()
    question = page.get_by_role("article").filter(has_text="echo publish")
    expect(question).to_be_visible(timeout=WAIT)
    chat = page.get_by_role("log", name="Chat")
    below = "box => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop)"
    wait_for(lambda: chat.evaluate(below) < 2)
    expect(chat.get_by_text("waits for approval")).to_be_in_viewport()
    question.get_by_role("button", name="Approve").click()
    expect(chat.get_by_text("first")).to_be_in_viewport(timeout=WAIT)
    wait_for(lambda: chat.evaluate(below) < 2)
    chat.hover()
    page.mouse.wheel(0, -300)
    wait_for(lambda: chat.evaluate(below) > 100)
    before = chat.evaluate("box => box.scrollTop")
    agent.say()
    expect(chat.get_by_text("second")).to_be_attached(timeout=WAIT)
    assert chat.evaluate("box => box.scrollTop") == before
