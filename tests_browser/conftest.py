"""A hub of its own for each module, and Chromium that looks at its console."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_pages import Api
from browser_hub import CHROMIUM_OPTIONS, DESKTOP, WAIT, HubProcess, Watched
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium in PATH")
    browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def hub() -> Iterator[HubProcess]:
    home = Path(tempfile.mkdtemp(prefix="hlb"))  # a socket's path is short
    hub = HubProcess(home)
    hub.start()
    yield hub
    hub.stop()
    hub.stop_engine()
    bugs = hub.bugs
    shutil.rmtree(home, ignore_errors=True)
    assert not bugs


@pytest.fixture(scope="module")
def signed_in(browser: Browser, hub: HubProcess) -> dict[str, object]:
    """The storage of a browser whose user has entered with the hub's link."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(hub.link)
    page.get_by_role("heading", name="Decisions").wait_for(timeout=WAIT)
    state = context.storage_state()
    context.close()
    return dict(state)


@pytest.fixture
def watched() -> Iterator[Watched]:
    watched = Watched()
    yield watched
    assert not watched.violations
    assert not watched.errors


@pytest.fixture
def context(browser: Browser, signed_in: dict[str, object], watched: Watched) -> Iterator[BrowserContext]:
    """A signed-in browser. A violation of a policy or an error in any of its pages fails the test."""
    context = browser.new_context(storage_state=signed_in, viewport=DESKTOP)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT)
    watched.attach(context)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="module")
def api(hub: HubProcess, signed_in: dict[str, object]) -> Api:
    return Api(hub, signed_in)
