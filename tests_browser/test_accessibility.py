"""WCAG A and AA on every page: light, dark and at phone width."""

from __future__ import annotations

from typing import Any

import pytest
from agent_pages import Api, BrowserAgent, call
from browser_hub import DESKTOP, PHONE, WAIT, HubProcess, find_violations
from playwright.sync_api import Page, expect

PAGES = {
    "/": "Decisions",
    "/approvals": "Approvals",
    "/sessions": "Sessions",
    "/agents": "Agents",
    "/hooks": "Hooks",
    "/hooks/everyone/rule": "Add hook rule",
    "/hooks/everyone/history": "Rule history",
    "/hosts": "Hosts",
    "/settings": "Settings",
    "/nothing-here": "Not found",
}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"scheme": "light", "size": DESKTOP},
    "dark": {"scheme": "dark", "size": DESKTOP},
    "phone": {"scheme": "light", "size": PHONE},
    "dark phone": {"scheme": "dark", "size": PHONE},
}


@pytest.fixture(scope="module", autouse=True)
def records(hub: HubProcess) -> None:
    hub.run_commands("ls", "rm -rf build", "git push", "npm install")


def prepare(page: Page, look: str) -> None:
    chosen = LOOKS[look]
    page.emulate_media(color_scheme=chosen["scheme"], reduced_motion="reduce")
    page.set_viewport_size(chosen["size"])


def assert_accessible(page: Page) -> None:
    """In every look."""
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    for look, chosen in LOOKS.items():
        prepare(page, look)
        assert (look, find_violations(page)) == (look, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= chosen["size"]["width"], look


@pytest.mark.parametrize("path", PAGES)
def test_pages(page: Page, hub: HubProcess, path: str) -> None:
    page.goto(hub.url + path)
    expect(page.get_by_role("heading", level=1, name=PAGES[path])).to_be_visible(timeout=WAIT)
    assert_accessible(page)


def test_the_page_of_a_decision(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/?verdict=deny")
    page.locator(".rows-space a").first.click()
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    page.get_by_text("Raw record").click()
    assert_accessible(page)


def test_the_page_of_an_agent(page: Page, api: Api) -> None:
    steps = [call("dom", action="append", html="<h1>Board</h1><p>All is well.</p>"), {"say": "Drawn."}]
    agent = BrowserAgent(api, "Board", steps)
    agent.open(page)
    agent.say()
    expect(page.get_by_role("log", name="Chat")).to_contain_text("Drawn.", timeout=WAIT)
    region = page.get_by_role("region", name="The page of Board")
    expect(region.get_by_text("Board", exact=True)).to_be_visible()
    assert_accessible(page)
    for path in (f"/agents/{agent.id}", f"/sessions/{agent.session}"):
        page.goto(api.hub.url + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert_accessible(page)


def test_signing_in(page: Page, hub: HubProcess) -> None:
    page.goto(hub.url)
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.get_by_text("hookline hub open")).to_be_visible()
    assert find_violations(page) == []


def test_targets_on_a_phone_are_big_enough(page: Page, hub: HubProcess) -> None:
    prepare(page, "phone")
    for path in ("/", "/hooks/everyone/rule", "/settings"):
        page.goto(hub.url + path)
        expect(page.get_by_role("heading", level=1, name=PAGES[path])).to_be_visible()
        page.wait_for_timeout(300)
        small = page.evaluate("""() => [...document.querySelectorAll("button, select, input:not([type=checkbox]), .button, .tabs a")]
            .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 40 && !each.closest(".skip"))
            .map((each) => each.outerHTML.slice(0, 80))""")
        assert small == []
