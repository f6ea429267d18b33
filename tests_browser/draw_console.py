"""Draws the pictures of docs/hub/console.md: a hub with its demo, in Chromium. `make console-pictures` runs it.

Every page is drawn light, dark and at phone width into .cache/browser/pictures, to be looked at; the chosen ones go to docs/hub.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_pages import Api, BrowserAgent, call
from browser_hub import CHROMIUM_OPTIONS, DESKTOP, PHONE, ROOT, WAIT, HubProcess
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

DRAWN = ROOT / ".cache/browser/pictures"
DOCS = ROOT / "docs/hub"
MAX_BYTES = 150_000
COLOURS = 160
LOOKS = {
    "light": ("light", DESKTOP),
    "dark": ("dark", DESKTOP),
    "phone": ("light", PHONE),
    "phone-dark": ("dark", PHONE),
}
CHOSEN = {
    "decisions-light": "console-decisions",
    "decision-dark": "console-decision",
    "approvals-phone": "console-approvals",
    "hooks-light": "console-hooks",
    "rule-dark": "console-rule",
    "session-light": "console-session",
    "agent-light": "console-agent",
    "hosts-light": "console-hosts",
    "settings-light": "console-settings",
}
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <alias binding="same"><family>system-ui</family><prefer><family>Inter</family></prefer></alias>
  <alias binding="same"><family>sans-serif</family><prefer><family>Inter</family></prefer></alias>
  <alias binding="same"><family>ui-monospace</family><prefer><family>JetBrains Mono</family></prefer></alias>
  <alias binding="same"><family>monospace</family><prefer><family>JetBrains Mono</family></prefer></alias>
</fontconfig>
"""

RULES = {
    "hooks": {
        "PreToolUse": [
            {
                "id": "no-env-keys",
                "matcher": "^write_file$",
                "inputMatchers": {"path": r"\.env$", "content": "API_KEY"},
                "action": "deny",
                "reason": "Cannot write API keys to .env files",
                "priority": 100,
                "tags": ["secrets"],
            },
            {
                "id": "no-rm",
                "matcher": "^bash$",
                "action": "script",
                "script": "if (toolInput.command?.includes('rm -rf')) {\n  return { decision: 'deny', reason: 'Dangerous command blocked' };\n}",
                "continueOnError": False,
            },
        ],
        "PostToolUse": [{"id": "log-writes", "matcher": "write_", "action": "log"}],
    }
}
SAVE_RULES = """
async (text) => {
  const headers = {Authorization: `Bearer ${localStorage.getItem("hookline.token")}`, "Content-Type": "application/json"};
  const {head} = await (await fetch("/api/v1/rules/everyone", {headers})).json();
  const save = (body) => fetch("/api/v1/rules/everyone", {method: "PUT", headers, body: JSON.stringify(body)});
  await save({text: text.replace('"priority": 100, ', ""), base: head, note: "Keep keys out of .env files"});
  return (await save({text, base: head + 1, note: "Ask this rule first"})).status;
}
"""

BOARD = """
<style>
  body { font: 15px/1.5 system-ui, sans-serif; margin: 1.6rem; color: #1c2733; background: #fff }
  h1 { font-size: 1.25rem; margin: 0 0 1rem } table { border-collapse: collapse; width: 100% }
  td, th { text-align: left; padding: .45rem .6rem; border-bottom: 1px solid #e4e8ec; font-weight: 400 }
  th { color: #5b6875; font-size: .85rem } b { color: #146c37 } i { font-style: normal; color: #b1212b }
  .notification { margin-top: 1rem; padding: .5rem .8rem; border-radius: 8px; background: #e6effc; color: #17468a }
</style>
<h1>Release 2.4: what is left</h1>
<table>
  <tr><th>Check</th><th>State</th><th>Since</th></tr>
  <tr><td>Unit tests</td><td><b>passed</b></td><td>09:12</td></tr>
  <tr><td>Migration on a copy</td><td><b>passed</b></td><td>09:20</td></tr>
  <tr><td>Changelog</td><td><i>missing</i></td><td>09:31</td></tr>
</table>
"""
AGENT_STEPS = [
    {
        "say": "I draw the board first, then write the entry.",
        "calls": [{"dom": {"action": "append", "html": BOARD}}],
    },
    call("write_file", path="CHANGELOG.md", content="## 2.4\n- Faster imports\n"),
    call("write_file", path="release.env", content="API_KEY=sk-1234"),
    {"say": "The changelog is written. release.env was refused: keys do not belong there."},
]
AGENT_RULES = {
    "hooks": {
        "PostToolUse": [
            {
                "id": "show-writes",
                "matcher": "^write_file$",
                "action": "script",
                "script": "await callTool('dom', {action: 'append', html: '<div class=\"notification\">Tool ' + toolName + ' completed</div>'});",
            }
        ]
    }
}

Prepare = Callable[[Page], None]


def nothing(page: Page) -> None:
    page.wait_for_timeout(700)


def open_denied(page: Page) -> None:
    page.locator(".rows-space .row").filter(has_text="deny").first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    page.wait_for_timeout(700)


def open_first_session(page: Page) -> None:
    page.get_by_role("row").filter(has_text="engineer").get_by_role("link").first.click()
    page.wait_for_timeout(1200)


def fill_rule(page: Page) -> None:
    page.get_by_label("Matcher", exact=True).fill("^bash$")
    page.get_by_role("button", name="Add input matcher").click()
    page.get_by_label("Field 1").fill("command")
    page.get_by_label("Pattern 1").fill(r"\bcurl\b")
    page.get_by_role("combobox", name="Action").select_option("deny")
    page.get_by_label("Reason").fill("Nothing is downloaded here.")
    page.get_by_role("button", name="Preview against").click()
    page.wait_for_timeout(3000)


PAGES: dict[str, tuple[str, Prepare]] = {
    "decisions": ("/", lambda page: page.wait_for_timeout(4000)),
    "decision": ("/?verdict=deny", open_denied),
    "approvals": ("/approvals", nothing),
    "sessions": ("/sessions", nothing),
    "session": ("/sessions", open_first_session),
    "agents": ("/agents", nothing),
    "hooks": ("/hooks", nothing),
    "rule": ("/hooks/everyone/rule", fill_rule),
    "history": ("/hooks/everyone/history", nothing),
    "hosts": ("/hosts", nothing),
    "settings": ("/settings", nothing),
}


def draw(browser: Browser, hub: HubProcess) -> None:
    page = sign_in(browser, hub)
    assert page.evaluate(SAVE_RULES, json.dumps(RULES)) == 200
    agent = make_agent(page, hub)
    page.wait_for_timeout(30_000)  # the demo agents have done something then
    path = agent.url.removeprefix(hub.url)
    more: dict[str, tuple[str, Prepare]] = {
        "agent": (path, lambda page: page.wait_for_timeout(2500)),
        "agent-sessions": (path.partition("/sessions/")[0], nothing),
    }
    draw_pages(page, hub, {**PAGES, **more})
    page.context.close()


def draw_empty(browser: Browser, hub: HubProcess) -> None:
    """A hub to which nobody has reported yet."""
    page = sign_in(browser, hub)
    names = ("decisions", "approvals", "sessions", "agents", "hooks", "hosts")
    draw_pages(page, hub, {f"empty-{name}": (PAGES[name][0], nothing) for name in names})
    page.evaluate("localStorage.clear()")
    draw_pages(page, hub, {"enter": ("/", nothing)})
    page.context.close()


def sign_in(browser: Browser, hub: HubProcess) -> Page:
    context = browser.new_context(device_scale_factor=1)
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(hub.link)
    page.get_by_role("heading", name="Decisions").wait_for(timeout=WAIT)
    return page


def make_agent(page: Page, hub: HubProcess) -> BrowserAgent:
    """One that has worked in its page."""
    agent = BrowserAgent(Api(hub, dict(page.context.storage_state())), "Release 2.4", AGENT_STEPS)
    agent.set_rules(AGENT_RULES)
    agent.open(page)
    agent.say("Show what is left for the release, and write the changelog entry.")
    agent.wait()
    page.wait_for_timeout(2000)
    return agent


def draw_pages(page: Page, hub: HubProcess, pages: dict[str, tuple[str, Prepare]]) -> None:
    for look, (scheme, size) in LOOKS.items():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for name, (path, prepare) in pages.items():
            try:
                page.goto(hub.url + path)
                expect(page.get_by_role("heading", level=1)).to_be_visible()
                prepare(page)
            except Exception as error:
                print(f"{name}-{look}: {str(error).splitlines()[0]}")
            page.screenshot(path=DRAWN / f"{name}-{look}.png", full_page=name in ("rule", "decision"))


def compress(picture: Path) -> bytes:
    image = (
        Image.open(picture).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    )
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


@contextmanager
def running_hub(*options: str) -> Iterator[HubProcess]:
    home = Path(tempfile.mkdtemp(prefix="hlb"))
    hub = HubProcess(home, *options)
    hub.start()
    try:
        yield hub
    finally:
        hub.stop()
        hub.stop_engine()
        print(hub.bugs)
        shutil.rmtree(home, ignore_errors=True)


def main() -> None:
    shutil.rmtree(DRAWN, ignore_errors=True)
    DRAWN.mkdir(parents=True)
    fonts = DRAWN / "fonts.conf"
    fonts.write_text(FONTS, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=CHROMIUM_OPTIONS,
            env={**os.environ, "FONTCONFIG_FILE": str(fonts)},
        )
        with running_hub() as hub:
            draw_empty(browser, hub)
        with running_hub("--demo") as hub:
            draw(browser, hub)
        browser.close()
    for name, target in CHOSEN.items():
        content = compress(DRAWN / f"{name}.png")
        if len(content) > MAX_BYTES:
            raise SystemExit(f"{target}.png has {len(content)} bytes")
        (DOCS / f"{target}.png").write_bytes(content)
        print(f"docs/hub/{target}.png: {len(content) // 1000} KB")


if __name__ == "__main__":
    main()
