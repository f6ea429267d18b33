"""Signing in with a link that works once."""

from __future__ import annotations

from browser_hub import WAIT, HubProcess, Watched
from playwright.sync_api import Browser, expect


def test_a_link_works_once_and_the_browser_stays_signed_in(browser: Browser, hub: HubProcess, watched: Watched) -> None:
    link = hub.new_link()
    context = browser.new_context()
    watched.attach(context)
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    assert "enter" not in page.url
    page.reload()
    expect(page.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)

    other = browser.new_context().new_page()
    watched.attach(other.context)
    other.goto(link)
    expect(other.get_by_role("alert")).to_contain_text("used already", timeout=WAIT)
    expect(other.get_by_text("hookline hub open")).to_be_visible()
    other.context.close()

    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_text("hookline hub open")).to_be_visible(timeout=WAIT)
    page.reload()
    expect(page.get_by_text("hookline hub open")).to_be_visible(timeout=WAIT)
    assert page.evaluate("localStorage.length") == 0
    context.close()


def test_signing_out_in_one_tab_signs_out_the_other(browser: Browser, hub: HubProcess) -> None:
    context = browser.new_context()
    first, second = context.new_page(), context.new_page()
    first.goto(hub.new_link())
    expect(first.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    second.goto(hub.url)
    expect(second.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    first.get_by_role("button", name="Sign out").first.click()
    expect(second.get_by_text("hookline hub open")).to_be_visible(timeout=WAIT)
    context.close()


def test_no_cookie_is_set(browser: Browser, hub: HubProcess) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(hub.new_link())
    expect(page.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    assert context.cookies() == []
    context.close()
