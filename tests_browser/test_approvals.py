"""What agents ask, answered in the console."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from browser_hub import HOOKLINE, PHONE, WAIT, HubProcess, find_violations
from playwright.sync_api import BrowserContext, Page, expect


class CodexCall:
    """Codex asks its hooks about a call, and waits for their answer."""

    def __init__(self, hub: HubProcess, command: str) -> None:
        payload = {
            "session_id": "019a-codex",
            "turn_id": "1",
            "transcript_path": None,
            "cwd": str(hub.workspace),
            "hook_event_name": "PreToolUse",
            "model": "gpt-5",
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "call_1",
        }
        self._process = subprocess.Popen(
            [HOOKLINE, "bridge", "codex", "PreToolUse"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=hub.workspace,
            env=hub.environment,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(payload))
        self._process.stdin.close()
        self._process.stdin = None

    @property
    def is_waiting(self) -> bool:
        return self._process.poll() is None

    def answer(self) -> str:
        """What Codex is told."""
        out, err = self._process.communicate(timeout=60)
        return out + err

    def end(self) -> None:
        if self.is_waiting:
            self._process.kill()
            self._process.wait(20)


@pytest.fixture
def calls() -> Iterator[list[CodexCall]]:
    calls: list[CodexCall] = []
    yield calls
    for each in calls:
        each.end()


def ask(hub: HubProcess, calls: list[CodexCall], command: str) -> CodexCall:
    call = CodexCall(hub, command)
    calls.append(call)
    return call


def open_approvals(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/approvals")
    expect(page.get_by_text("Live", exact=True).first).to_be_attached(timeout=WAIT)


def card(page: Page, text: str):  # type: ignore[no-untyped-def]
    return page.get_by_role("article").filter(has_text=text)


def test_approve_on_a_phone(page: Page, hub: HubProcess, calls: list[CodexCall]) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    open_approvals(page, hub)
    call = ask(hub, calls, "git push origin phone")
    waiting = card(page, "git push origin phone")
    expect(waiting).to_be_visible(timeout=WAIT)
    expect(waiting).to_contain_text("This changes the remote.")
    expect(page).to_have_title("(1) Approvals · hookline")
    assert call.is_waiting
    assert find_violations(page) == []
    button = waiting.get_by_role("button", name="Approve")
    box = button.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    button.click()
    assert "deny" not in call.answer()
    expect(waiting).to_have_count(0)
    expect(page.get_by_text("approved").first).to_be_visible()
    expect(page).to_have_title("Approvals · hookline")


def test_deny_with_a_reason(page: Page, hub: HubProcess, calls: list[CodexCall]) -> None:
    open_approvals(page, hub)
    call = ask(hub, calls, "git push origin denied")
    waiting = card(page, "git push origin denied")
    waiting.get_by_label("Reason").fill("Not on a Friday.", timeout=WAIT)
    waiting.get_by_role("button", name="Deny").click()
    told = call.answer()
    assert "deny" in told
    assert "Not on a Friday." in told


def test_an_edited_input_is_decided_again(page: Page, hub: HubProcess, calls: list[CodexCall]) -> None:
    open_approvals(page, hub)
    call = ask(hub, calls, "git push origin edited")
    waiting = card(page, "git push origin edited")
    waiting.get_by_role("button", name="Edit").click(timeout=WAIT)
    waiting.get_by_role("textbox", name="Run this instead").fill("git push --dry-run origin edited")
    waiting.get_by_role("button", name="Approve edited").click()
    told = call.answer()
    assert "git push --dry-run origin edited" in told
    assert '"deny"' not in told

    call = ask(hub, calls, "git push origin evil")
    waiting = card(page, "git push origin evil")
    waiting.get_by_role("button", name="Edit").click(timeout=WAIT)
    waiting.get_by_role("textbox", name="Run this instead").fill("rm -rf /")
    waiting.get_by_role("button", name="Approve edited").click()
    assert "Use the trash instead." in call.answer()
    answered = page.locator(".answered-row").first
    expect(answered).to_contain_text("denied by no-recursive-delete", timeout=WAIT)
    expect(answered.locator(".verdict")).to_have_text("denied")


def test_two_consoles_and_one_answer(
    page: Page, context: BrowserContext, hub: HubProcess, calls: list[CodexCall]
) -> None:
    other = context.new_page()
    open_approvals(page, hub)
    open_approvals(other, hub)
    call = ask(hub, calls, "git push origin both")
    for each in (page, other):
        expect(card(each, "git push origin both")).to_be_visible(timeout=WAIT)
    card(other, "git push origin both").get_by_role("button", name="Approve").click()
    expect(card(page, "git push origin both")).to_have_count(0, timeout=WAIT)
    assert "deny" not in call.answer()


def test_a_question_survives_a_restart_of_the_hub(page: Page, hub: HubProcess, calls: list[CodexCall]) -> None:
    open_approvals(page, hub)
    call = ask(hub, calls, "git push origin restarted")
    waiting = card(page, "git push origin restarted")
    expect(waiting).to_be_visible(timeout=WAIT)
    hub.restart()
    expect(page.get_by_text("Live", exact=True).first).to_be_attached(timeout=2 * WAIT)
    expect(waiting).to_be_visible(timeout=WAIT)
    assert call.is_waiting
    waiting.get_by_role("button", name="Approve").click()
    assert "deny" not in call.answer()


def test_the_keyboard_alone(page: Page, hub: HubProcess, calls: list[CodexCall]) -> None:
    open_approvals(page, hub)
    call = ask(hub, calls, "git push origin keyboard")
    expect(card(page, "git push origin keyboard")).to_be_visible(timeout=WAIT)
    page.locator("body").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.textContent.trim()")
        if focused == "Approve":
            break
    assert focused == "Approve"
    page.keyboard.press("Enter")
    assert "deny" not in call.answer()


def test_the_decisions_page_shows_what_waits(page: Page, hub: HubProcess, calls: list[CodexCall]) -> None:
    page.goto(hub.url)
    call = ask(hub, calls, "git push origin beside")
    page.set_viewport_size({"width": 1280, "height": 800})
    aside = page.get_by_role("complementary", name="Waiting approvals")
    expect(aside).to_contain_text("git push origin beside", timeout=WAIT)
    row = page.get_by_role("row").filter(has_text="git push origin beside").first
    for shown in (row.get_by_role("cell", name="codex", exact=True), page.get_by_role("columnheader", name="Host")):
        expect(shown).to_be_visible()
    aside.get_by_role("button", name="Deny").click()
    assert "deny" in call.answer()
    expect(aside).to_have_count(0)
