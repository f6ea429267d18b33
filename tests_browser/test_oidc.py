"""Signing in with an identity provider, from the button to the console. The provider is oidc-provider-mock."""

from __future__ import annotations

import json
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import oidc_provider_mock
import pytest
from browser_hub import WAIT, HubProcess, Watched, find_violations
from playwright.sync_api import Browser, Page, expect

PEOPLE = {"ann": ["ops"], "bob": ["visitors"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with oidc_provider_mock.run_server_in_thread() as server:
        issuer = f"http://localhost:{server.server_port}"
        for name, groups in PEOPLE.items():
            claims = json.dumps({"groups": groups, "preferred_username": name}).encode()
            headers = {"content-type": "application/json"}
            urllib.request.urlopen(urllib.request.Request(f"{issuer}/users/{name}", claims, headers, method="PUT"))
        yield issuer


@pytest.fixture(scope="module")
def hub(provider: str) -> Iterator[HubProcess]:
    home = Path(tempfile.mkdtemp(prefix="hlb"))
    oidc = {"issuer": provider, "client_id": "hub", "secret_env": "HUB_OIDC_SECRET", "roles": {"ops": "editor"}}
    (home / "hub.json").write_text(json.dumps({"oidc": oidc}))
    hub = HubProcess(home, "--config", str(home / "hub.json"))
    hub.environment["HUB_OIDC_SECRET"] = "any"
    hub.start()
    yield hub
    hub.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def visitor(browser: Browser, watched: Watched) -> Iterator[Page]:
    """Somebody who has not signed in."""
    context = browser.new_context()
    watched.attach(context)
    yield context.new_page()
    context.close()


def sign_in(page: Page, hub: HubProcess, name: str) -> None:
    page.goto(hub.url)
    page.get_by_role("link", name="Sign in with your organisation").click(timeout=WAIT)
    page.locator("input[name=sub]").fill(name, timeout=WAIT)
    page.get_by_role("button", name="Authorize").click()


def test_a_person_signs_in_with_the_button(visitor: Page, hub: HubProcess) -> None:
    visitor.goto(hub.url)
    expect(visitor.get_by_role("link", name="Sign in with your organisation")).to_be_visible(timeout=WAIT)
    assert find_violations(visitor) == []
    sign_in(visitor, hub, "ann")
    expect(visitor.get_by_role("heading", name="Decisions")).to_be_visible(timeout=WAIT)
    assert visitor.url == f"{hub.url}/"
    assert [each for each in visitor.context.cookies() if each["name"].startswith("hookline")] == []
    visitor.goto(f"{hub.url}/settings/hooks")
    expect(visitor.get_by_role("link", name="Add hook rule").first).to_be_visible(timeout=WAIT)  # an editor
    visitor.reload()
    expect(visitor.get_by_role("link", name="Add hook rule").first).to_be_visible(timeout=WAIT)


def test_a_person_without_a_role_is_told_so_and_stays_outside(visitor: Page, hub: HubProcess) -> None:
    sign_in(visitor, hub, "bob")
    expect(visitor.get_by_text("You are in no group that may use this hub.")).to_be_visible(timeout=WAIT)
    assert "/oidc/back" in visitor.url
    visitor.get_by_role("link", name="Back").click()
    expect(visitor.get_by_role("link", name="Sign in with your organisation")).to_be_visible(timeout=WAIT)
    assert visitor.evaluate("localStorage.length") == 0
