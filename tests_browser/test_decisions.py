"""The live table of decisions, and the page of one."""

from __future__ import annotations

import json
import time

from agent_pages import wait_for
from browser_hub import HOOKS, PHONE, WAIT, HubProcess
from playwright.sync_api import BrowserContext, Page, expect

CLAUDE_CALL = {
    "session_id": "0d3c",
    "transcript_path": "/tmp/none.jsonl",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_use_id": "toolu_1",
}

SOURCE = """
import contextlib, sys, time, hookline

@hookline.guard(kind="shell")
def bash(command: str) -> str:
    return ""

with hookline.session(config="hookline.yaml", ask=lambda question: False):
    sys.stdin.readline()
    begun, rate, seconds = time.monotonic(), float(sys.argv[1]), float(sys.argv[2])
    for number in range(int(rate * seconds / 2)):  # each call is two decisions
        time.sleep(max(0, begun + 2 * number / rate - time.monotonic()))
        with contextlib.suppress(hookline.Denied):
            bash(f"echo {number}" if number % 10 else f"rm -rf build/{number}")
"""

MEASURE = """
async (seconds) => {
  let frames = 0, last = performance.now(), worst = 0;
  const begun = last;
  await new Promise((resolve) => {
    const step = (now) => {
      frames += 1;
      worst = Math.max(worst, now - last);
      last = now;
      if (now - begun > seconds * 1000) resolve();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  return {fps: frames / seconds, worst, heap: performance.memory.usedJSHeapSize / 1e6,
          rows: document.querySelectorAll(".rows-space .row").length};
}
"""


def open_decisions(page: Page, hub: HubProcess, query: str = "") -> None:
    page.goto(f"{hub.url}/{query}")
    expect(page.get_by_text("Live", exact=True).first).to_be_attached(timeout=WAIT)


def bridge(hub: HubProcess, command: str) -> str:
    payload = {**CLAUDE_CALL, "cwd": str(hub.workspace), "tool_input": {"command": command}}
    return hub.run("bridge", "claude-code", "PreToolUse", input=json.dumps(payload)).stdout


def test_a_denied_call_of_claude_code_appears_and_opens(page: Page, hub: HubProcess) -> None:
    open_decisions(page, hub)
    assert "deny" in bridge(hub, "rm -rf /important")
    row = page.get_by_role("row").filter(has_text="rm -rf /important")
    expect(row).to_be_visible(timeout=WAIT)
    expect(row).to_contain_text("claude-code")
    expect(row).to_contain_text("deny")
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Bash")
    expect(page.get_by_text("Use the trash instead.").first).to_be_visible()
    expect(page.get_by_text("hookline.yaml:3").first).to_be_visible()
    expect(page.get_by_text("rm -rf /important").first).to_be_visible()
    expect(page.get_by_text("input.command matches")).to_be_visible()
    expect(page.get_by_text("2 hooks that did not run")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("table", name="Decisions")).to_be_visible()


WATCH = """
(text) => {
  window.shown = 0;
  const look = () => {
    if (!window.shown && document.querySelector(".rows-space")?.textContent.includes(text)) window.shown = Date.now();
  };
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}
"""


def test_a_denied_call_is_on_the_screen_within_a_second(page: Page, hub: HubProcess) -> None:
    """After the agent has its answer. One of three: the machine may be busy."""
    open_decisions(page, hub)
    seconds = []
    for number in range(3):
        page.evaluate(WATCH, f"rm -rf /quick/{number}")
        bridge(hub, f"rm -rf /quick/{number}")
        answered = time.time()
        shown = wait_for(lambda: page.evaluate("window.shown")) / 1000
        seconds.append(shown - answered)
        if shown - answered <= 1:
            return
    raise AssertionError(f"shown after {seconds} s")


def test_why_no_other_hook_decided_and_what_today_s_hooks_say(page: Page, hub: HubProcess) -> None:
    hub.run_commands("npm install")
    page.goto(f"{hub.url}/?q=npm+install&event=tool.before")
    page.locator(".rows-space a").first.click()
    expect(page.get_by_text("changed by hooks")).to_be_visible()
    expect(page.get_by_label("Input as written, and as the hooks left it")).to_contain_text("npm ci")
    expect(page.get_by_text(r"input.command 'npm install' does not match \brm\s+-rf\b")).to_be_visible()
    expect(page.get_by_text("ran npm ci")).to_be_visible()
    page.get_by_text("Raw record").click()
    expect(page.get_by_role("region", name="Raw record")).to_contain_text('"previous"')

    stricter = HOOKS + "  - {id: no-npm, on: tool.before, when: {input: {command: npm}}, then: {deny: Use pnpm.}}\n"
    hub.write_hooks(stricter)
    try:
        page.wait_for_timeout(2500)  # files that were read lately are not read again
        page.get_by_role("button", name="Replay under today's hooks").click()
        expect(page.get_by_text("no-npm").first).to_be_visible()
        expect(page.get_by_text("tightened")).to_be_visible()
    finally:
        hub.write_hooks(HOOKS)


def test_search_and_filters_are_in_the_address(page: Page, hub: HubProcess, context: BrowserContext) -> None:
    hub.run_commands("echo first", "rm -rf second", "git push third")
    open_decisions(page, hub)
    rows = page.locator(".rows-space .row")
    page.get_by_label("Search decisions").fill("second")
    expect(page).to_have_url(f"{hub.url}/?q=second")
    expect(rows).to_have_count(1)
    page.get_by_label("Search decisions").fill("")
    page.get_by_label("Verdict").select_option("ask")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("git push third")
    page.reload()
    expect(rows).to_have_count(1)
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator(".rows-space .row")).to_have_count(1)
    page.get_by_label("Search decisions").fill("nothing like this")
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(f"{hub.url}/")
    expect(rows.filter(has_text="echo first").first).to_be_visible()


def test_pause_freezes_the_list_and_counts(page: Page, hub: HubProcess) -> None:
    open_decisions(page, hub)
    hub.run_commands("echo before")
    expect(page.get_by_role("row").filter(has_text="echo before").first).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    hub.run_commands("echo meanwhile")
    more = page.get_by_role("button", name="new decision")
    expect(more).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("echo meanwhile")).to_have_count(0)
    more.click()
    expect(page.get_by_role("row").filter(has_text="echo meanwhile").first).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_scrolling_down_freezes_the_list_and_counts(page: Page, hub: HubProcess) -> None:
    hub.run_commands(*(f"echo scrolled {number}" for number in range(60)))
    open_decisions(page, hub, "?q=scrolled")
    scroller = page.locator(".rows-scroll")
    expect(page.get_by_role("row").filter(has_text="scrolled 59").first).to_be_visible()
    scroller.evaluate("element => element.scrollTo(0, 900)")
    seen = page.get_by_role("row").filter(has_text="scrolled 44").first
    expect(seen).to_be_visible()
    before = seen.bounding_box()
    hub.run_commands("echo scrolled meanwhile")
    more = page.get_by_role("button", name="new decision")
    expect(more).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("scrolled meanwhile")).to_have_count(0)
    assert (scroller.evaluate("element => element.scrollTop"), seen.bounding_box()) == (900, before)
    more.click()
    expect(page.get_by_role("row").filter(has_text="scrolled meanwhile").first).to_be_visible()
    assert scroller.evaluate("element => element.scrollTop") == 0


PRESS_AT_ONCE = """
(times) => {
  const key = () => new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true, cancelable: true});
  for (let pressed = 0; pressed < times; pressed += 1) document.activeElement.dispatchEvent(key());
}
"""


def test_the_keyboard_moves_through_the_rows(page: Page, hub: HubProcess) -> None:
    hub.run_commands(*(f"echo row {number}" for number in range(30)))
    open_decisions(page, hub)
    expect(page.locator(".rows-space .row").first).to_be_visible()
    page.locator(".rows-space a").first.focus()
    page.evaluate(PRESS_AT_ONCE, 30)
    expect(page.locator(":focus")).to_have_attribute("data-position", "30")
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    expect(page.locator(":focus")).to_have_attribute("data-position", "25")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert "/decisions/" in page.url
    assert "row" in label or "session" in label


def test_older_rows_are_loaded_when_you_scroll(page: Page, hub: HubProcess) -> None:
    hub.run_commands(*(f"echo old {number}" for number in range(250)))
    open_decisions(page, hub, "?q=old")
    scroller = page.locator(".rows-scroll")
    expect(page.locator(".rows-space .row").first).to_be_visible()
    for _ in range(6):
        scroller.evaluate("element => element.scrollTo(0, element.scrollHeight)")
        page.wait_for_timeout(300)
    expect(page.get_by_role("row").filter(has_text="echo old 0").first).to_be_visible()


def test_five_hundred_decisions_a_second(page: Page, hub: HubProcess) -> None:
    """Nothing is lost, few rows exist, and the page stays usable. The figures are printed."""
    open_decisions(page, hub)
    page.context.new_cdp_session(page).send("Performance.enable")
    source = hub.start_python(SOURCE, "500", "10")
    assert source.stdin is not None
    source.stdin.write("\n")
    source.stdin.flush()
    expect(page.get_by_role("row").filter(has_text="echo").first).to_be_visible(timeout=WAIT)
    measured = page.evaluate(MEASURE, 5)
    print({name: round(value, 1) for name, value in measured.items()})
    page.get_by_role("button", name="Pause").click()
    assert source.wait(60) == 0
    page.get_by_role("button", name="new decision").click()
    expect(page.get_by_role("row").filter(has_text="echo 2499").first).to_be_visible(timeout=WAIT)
    count = int(page.get_by_role("table").get_attribute("aria-rowcount") or 0)
    assert count > 2 * 2500 - 250  # after a denied call, nothing runs
    assert measured["rows"] < 60
    assert measured["heap"] <= 40  # megabytes


def test_a_phone_shows_two_lines_for_each_decision(page: Page, hub: HubProcess) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    hub.run_commands("rm -rf phone")
    open_decisions(page, hub)
    row = page.get_by_role("row").filter(has_text="rm -rf phone").first
    expect(row).to_be_visible()
    box = row.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("bash")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_hub_that_was_away_is_joined_again(page: Page, hub: HubProcess) -> None:
    open_decisions(page, hub)
    hub.run_commands("echo one")
    expect(page.get_by_role("row").filter(has_text="echo one").first).to_be_visible()
    port = hub.port
    hub.stop()
    expect(page.get_by_text("Reconnecting…").first).to_be_attached(timeout=WAIT)
    hub.run_commands("echo while away")
    hub.start(port)
    begun = time.monotonic()
    expect(page.get_by_role("row").filter(has_text="echo while away").first).to_be_visible(timeout=2 * WAIT)
    print(f"back after {time.monotonic() - begun:.1f} s")
