"""Sessions as files: exported from a hub's console and imported into another's, with rules, document and chat."""

from __future__ import annotations

import json
from pathlib import Path

from agent_pages import Api, BrowserAgent, call
from browser_hub import WAIT, HubProcess, find_violations
from playwright.sync_api import Page, expect

DENY_BASH = {"id": "no-bash", "matcher": "^bash$", "action": "deny", "reason": "Came with the session."}
VERSION_1 = {
    "version": 1,
    "agentId": "old-agent",
    "config": {"id": "old-agent", "name": "Old agent", "systemPrompt": "You are old.", "model": "", "tools": []},
    "conversation": [
        {"role": "user", "content": [{"type": "text", "text": "Who are you?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "A session of version 1."}]},
    ],
    "storage": {"color": "green"},
    "metadata": {"createdAt": 1700000000000, "serializedAt": 1700000001000, "totalTokens": 0, "totalCost": 0},
}


def choose_file(page: Page, hub: HubProcess, path: Path) -> None:
    page.goto(f"{hub.url}/sessions")
    page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("File").set_input_files(path)
    dialog.get_by_role("button", name="Import").click()


def test_a_session_goes_to_a_file_and_comes_back(page: Page, hub: HubProcess, api: Api, tmp_path: Path) -> None:
    steps = [call("dom", action="append", html="<p>drawn</p>"), {"say": "I drew."}]
    agent = BrowserAgent(api, "Traveller", steps)
    agent.add_rules(DENY_BASH)
    agent.open(page)
    agent.say("Draw.")
    agent.wait()
    page.wait_for_timeout(1500)  # the document is saved a second after it changed
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    exported = json.loads(path.read_text("utf-8"))
    assert exported["version"] == 2
    assert exported["dependencies"]["hooks"]["PreToolUse"][0]["id"] == "no-bash"

    choose_file(page, hub, path)
    expect(page.get_by_role("heading", level=1, name="Traveller")).to_be_visible(timeout=WAIT)
    assert agent.session not in page.url
    chat = page.get_by_role("log", name="Chat")
    for text in ("Draw.", "I drew."):
        expect(chat).to_contain_text(text, timeout=WAIT)
    expect(page.get_by_text("This page runs it")).to_be_visible(timeout=WAIT)
    frame = next(each for each in page.frames if "/sandbox/agent" in each.url)
    expect(frame.locator("p")).to_have_text("drawn", timeout=WAIT)
    answer = frame.evaluate("hookline.callTool('bash', {command: 'touch x'})")
    assert answer == {"content": "Came with the session.", "is_error": True}


def test_a_session_of_version_1_and_files_that_are_none(page: Page, hub: HubProcess, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text("not JSON", encoding="utf-8")
    choose_file(page, hub, path)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("session.json is not JSON")
    assert find_violations(page) == []
    broken = {
        **VERSION_1,
        "version": 2,
        "dependencies": {"hooks": {"PreToolUse": [{"matcher": "(", "action": "deny"}]}},
    }
    for content, told in (({"version": 7}, "version"), (broken, "rules of the session have errors")):
        path.write_text(json.dumps(content), encoding="utf-8")
        choose_file(page, hub, path)
        expect(dialog.get_by_role("alert")).to_contain_text(told)
    path.write_text(json.dumps(VERSION_1), encoding="utf-8")
    choose_file(page, hub, path)
    expect(page.get_by_role("log", name="Chat")).to_contain_text("A session of version 1.", timeout=WAIT)
    expect(page.get_by_role("heading", level=1, name="Old agent")).to_be_visible()
