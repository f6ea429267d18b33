"""A rule of the console holds from the moment it is saved."""

from __future__ import annotations

from urllib.parse import quote

from agent_pages import Api, BrowserAgent, call
from browser_hub import WAIT, HubProcess
from playwright.sync_api import Page, expect


def test_a_rule_is_in_force_at_once_and_after_a_restart(page: Page, hub: HubProcess, api: Api) -> None:
    touch = [call("bash", command=f"touch {name}") for name in ("first", "second", "third")]
    agent = BrowserAgent(api, "Ruled", [touch[0], {"say": "1"}, touch[1], {"say": "2"}, touch[2], {"say": "3"}])
    agent.say()
    assert "Not here." not in agent.results()[0]

    page.goto(f"{hub.url}/hooks?set={quote(f'agent:{agent.id}')}")
    page.get_by_role("link", name="Add hook rule").first.click()
    page.get_by_label("Matcher", exact=True).fill("^bash$")
    page.get_by_label("Reason").fill("Not here.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Hooks", exact=True)).to_be_visible(timeout=WAIT)
    agent.say()
    assert "Not here." in agent.results()[1]

    hub.restart()
    agent.say()
    assert "Not here." in agent.results()[2]
    assert [(agent.workspace / name).exists() for name in ("first", "second", "third")] == [True, False, False]
    page.reload()
    rule = page.get_by_role("listitem").filter(has_text="Not here.")
    expect(rule).to_contain_text("fired 2 times in 7 days", timeout=2 * WAIT)
