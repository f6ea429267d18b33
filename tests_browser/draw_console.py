"""Draws the pictures of docs/hub/console.md: a hub with its demo, in Chromium. `make console-pictures` runs it.

Every page is drawn light, dark and at phone width into .cache/browser/pictures, to be looked at; the chosen ones go to docs/hub.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

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
  const save = (body) => fetch("/api/v1/rules/everyone", {method: "PUT", headers, body: JSON.stringify(body)});
  await save({text: text.replace('"priority": 100, ', ""), base: 0, note: "Keep keys out of .env files"});
  await save({text, base: 1, note: "Ask this rule first"});
}
"""

Prepare = Callable[[Page], None]


def nothing(page: Page) -> None:
    page.wait_for_timeout(700)


def open_denied(page: Page) -> None:
    page.locator(".rows-space .row").filter(has_text="deny").first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    page.wait_for_timeout(700)


def open_first_session(page: Page) -> None:
    page.get_by_role("row").filter(has_text="hookline").get_by_role("link").first.click()
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
    context = browser.new_context(device_scale_factor=1)
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(hub.link)
    page.get_by_role("heading", name="Decisions").wait_for(timeout=WAIT)
    page.evaluate(SAVE_RULES, json.dumps(RULES))
    page.wait_for_timeout(40_000)  # the demo agents have done something then
    for look, (scheme, size) in LOOKS.items():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for name, (path, prepare) in PAGES.items():
            try:
                page.goto(hub.url + path)
                expect(page.get_by_role("heading", level=1)).to_be_visible()
                prepare(page)
            except Exception as error:
                print(f"{name}-{look}: {str(error).splitlines()[0]}")
            page.screenshot(path=DRAWN / f"{name}-{look}.png", full_page=name in ("rule", "decision"))
    context.close()


def compress(picture: Path) -> bytes:
    image = (
        Image.open(picture).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    )
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    shutil.rmtree(DRAWN, ignore_errors=True)
    DRAWN.mkdir(parents=True)
    home = Path(tempfile.mkdtemp(prefix="hlb"))
    (home / "fonts.conf").write_text(FONTS, encoding="utf-8")
    hub = HubProcess(home, "--demo")
    hub.start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=CHROMIUM_OPTIONS,
                env={**os.environ, "FONTCONFIG_FILE": str(home / "fonts.conf")},
            )
            draw(browser, hub)
            browser.close()
    finally:
        hub.stop()
        hub.stop_engine()
        shutil.rmtree(home, ignore_errors=True)
    for name, target in CHOSEN.items():
        content = compress(DRAWN / f"{name}.png")
        if len(content) > MAX_BYTES:
            raise SystemExit(f"{target}.png has {len(content)} bytes")
        (DOCS / f"{target}.png").write_bytes(content)
        print(f"docs/hub/{target}.png: {len(content) // 1000} KB")


if __name__ == "__main__":
    main()
