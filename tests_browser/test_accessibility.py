"""WCAG A and AA on every page: light, dark and at phone width."""

from __future__ import annotations

from typing import Any

import pytest
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
}


@pytest.fixture(scope="module", autouse=True)
def records(hub: HubProcess) -> None:
    hub.run_commands("ls", "rm -rf build", "git push", "npm install")


def prepare(page: Page, look: str) -> None:
    chosen = LOOKS[look]
    page.emulate_media(color_scheme=chosen["scheme"], reduced_motion="reduce")
    page.set_viewport_size(chosen["size"])


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("path", PAGES)
def test_pages(page: Page, hub: HubProcess, path: str, look: str) -> None:
    prepare(page, look)
    page.goto(hub.url + path)
    expect(page.get_by_role("heading", level=1, name=PAGES[path])).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert find_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= LOOKS[look]["size"]["width"]


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_of_a_decision(page: Page, hub: HubProcess, look: str) -> None:
    prepare(page, look)
    page.goto(f"{hub.url}/?verdict=deny")
    page.locator(".rows-space a").first.click()
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.get_by_text("Raw record").click()
    assert find_violations(page) == []


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
