"""Sessions with their chat, and agents; on a hub with its demo, whose own agent has a scripted model."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_hub import PHONE, WAIT, HubProcess, find_violations
from playwright.sync_api import Page, expect


@pytest.fixture(scope="module")
def hub() -> Iterator[HubProcess]:
    home = Path(tempfile.mkdtemp(prefix="hlb"))
    hub = HubProcess(home, "--demo")
    hub.start()
    yield hub
    hub.stop()
    shutil.rmtree(home, ignore_errors=True)


def open_own_session(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/sessions")
    own = page.get_by_role("row").filter(has_text="/project")  # the other agents of the demo work elsewhere
    own.get_by_role("link").first.click(timeout=WAIT)
    expect(page.get_by_role("log", name="Chat")).to_be_visible(timeout=WAIT)


def test_a_question_is_answered_in_the_chat(page: Page, hub: HubProcess) -> None:
    open_own_session(page, hub)
    chat = page.get_by_role("log", name="Chat")
    question = page.get_by_role("article").filter(has_text="deploy production")
    expect(question).to_be_visible(timeout=WAIT)
    expect(chat.locator(".chat-user").first).to_be_visible()
    before = chat.locator(".chat-call").count()
    assert before > 0
    assert find_violations(page) == []
    question.get_by_role("button", name="Approve", exact=True).click()
    expect(question).to_have_count(0, timeout=WAIT)
    expect(chat).to_contain_text("Then I push the change.", timeout=WAIT)


def test_the_browser_agent_works_when_its_page_opens(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/agents")
    page.get_by_role("link", name="Release board", exact=True).click(timeout=WAIT)
    page.get_by_role("link", name="session_").first.click()
    board = page.frame_locator('iframe[src*="/sandbox/agent"]')
    expect(board.get_by_role("heading", name="Release 2.4: what is left")).to_be_visible(timeout=WAIT)
    expect(board.get_by_text("Tool write_file completed")).to_be_visible(timeout=WAIT)  # by a script of a rule
    chat = page.get_by_role("log", name="Chat")
    expect(chat).to_contain_text("2 of 3 have passed", timeout=WAIT)
    expect(chat).to_contain_text("Cannot write API keys to .env files", timeout=WAIT)
    question = page.get_by_role("article").filter(has_text="echo publish 2.4")
    expect(question).to_be_visible(timeout=WAIT)
    expect(chat.get_by_text("waits for approval")).to_be_visible()
    assert find_violations(page) == []
    question.get_by_role("button", name="Approve", exact=True).click()
    expect(chat).to_contain_text("The board shows what is left.", timeout=WAIT)
    assert find_violations(page) == []


def test_a_session_of_another_host_is_shown_only(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/sessions")
    page.get_by_role("row").filter(has_text="reported").first.get_by_role("link").click()
    expect(page.get_by_text("read-only")).to_be_visible()
    expect(page.locator(".timeline-row").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_count(0)
    assert find_violations(page) == []


def test_a_question_is_in_view_on_a_phone(page: Page, hub: HubProcess) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{hub.url}/agents")
    board = page.get_by_role("listitem").filter(has_text="Release board")
    board.get_by_role("button", name="New session").click(timeout=WAIT)
    page.get_by_role("log", name="Chat").wait_for()
    session = page.url.rpartition("/")[2]
    page.get_by_role("textbox", name="Message").fill("go on")
    page.get_by_role("button", name="Send").click()
    question = page.get_by_role("article").filter(has_text="echo publish 2.4")
    expect(question).to_be_visible(timeout=WAIT)
    page.goto(f"{hub.url}/sessions/{session}")
    expect(question.get_by_role("button", name="Deny")).to_be_in_viewport(timeout=WAIT)
    expect(question.get_by_role("link", name="its session")).to_have_count(0)


def test_the_menu_of_a_phone(page: Page, hub: HubProcess) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{hub.url}/hosts")
    page.get_by_role("button", name="More").click()
    menu = page.locator("#more")
    expect(menu.get_by_role("link", name="Hosts")).to_have_attribute("aria-current", "page")
    assert find_violations(page) == []
    menu.get_by_role("link", name="Agents").click()
    expect(page.get_by_role("heading", level=1, name="Agents")).to_be_visible()
    expect(menu).to_be_hidden()


def test_a_new_session_is_started_ended_and_deleted(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/agents")
    page.get_by_role("button", name="New session in").first.click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=WAIT)
    address = page.url
    page.get_by_role("textbox", name="Message").fill("Clean up.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log", name="Chat")).to_contain_text("Clean up.")
    expect(page.locator(".chat-agent, .chat-call, .chat-note").first).to_be_visible(timeout=WAIT)
    page.reload()
    expect(page.get_by_role("log", name="Chat")).to_contain_text("Clean up.", timeout=WAIT)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible(timeout=WAIT)
    page.goto(address)
    expect(page.get_by_text("there is no such session").or_(page.get_by_text("read-only"))).to_be_visible()


def test_agents_are_made_changed_and_deleted(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/agents")
    page.get_by_role("button", name="New agent").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("painter")
    dialog.get_by_label("Prompt").fill("You draw.")
    dialog.get_by_label("Network").fill("not an origin")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("Network").fill("https://api.example.org")
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    card = page.get_by_role("listitem").filter(has_text="painter")
    expect(card).to_contain_text("You draw.")
    card.get_by_role("button", name="Change").click()
    dialog.get_by_label("Prompt").fill("You draw well.")
    dialog.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("You draw well.")
    card.get_by_role("link", name="painter", exact=True).click()
    expect(page.get_by_role("heading", name="painter")).to_be_visible()
    page.go_back()
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0)
