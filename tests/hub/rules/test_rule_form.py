"""One rule of a text, as the console's form changes it."""

from __future__ import annotations

import json

import pytest

from hookline.errors import HooklineError
from hookline.hub.rules.rule_form import NoSuchRule, add_rule, change_rule, list_rules, remove_rule
from hookline.hub.rules.rule_sets import EMPTY_TEXT

DENY = {"matcher": "bash", "action": "deny", "reason": "No shell here"}


def test_a_rule_gets_an_id_from_its_reason() -> None:
    text, id = add_rule(EMPTY_TEXT, "PreToolUse", DENY)
    assert id == "no-shell-here"
    assert json.loads(text) == {"hooks": {"PreToolUse": [{"id": id, **DENY}]}}
    again, other = add_rule(text, "PreToolUse", DENY)
    assert other.startswith("no-shell-here-")
    assert [each["id"] for each in list_rules(again)] == [id, other]


def test_an_id_in_use_is_refused() -> None:
    text, _ = add_rule(EMPTY_TEXT, "Stop", {"id": "one", "action": "log"})
    with pytest.raises(HooklineError, match="already"):
        add_rule(text, "Stop", {"id": "one", "action": "log"})


def test_a_rule_is_changed_in_its_place() -> None:
    text, one = add_rule(EMPTY_TEXT, "PreToolUse", {"id": "one", "action": "log"})
    text, _ = add_rule(text, "PreToolUse", {"id": "two", "action": "log"})
    changed = change_rule(text, one, "PreToolUse", DENY)
    assert [each["rule"].get("action") for each in list_rules(changed)] == ["deny", "log"]
    moved = change_rule(text, one, "PostToolUse", {"action": "log"})
    assert [(each["event"], each["id"]) for each in list_rules(moved)] == [
        ("PreToolUse", "two"),
        ("PostToolUse", "one"),
    ]


def test_a_rule_without_an_id_is_found_by_its_place() -> None:
    text = '{"hooks": {"Stop": [{"action": "log"}, {"action": "deny"}]}, "name": "kept"}'
    left = remove_rule(text, "Stop[0]")
    assert json.loads(left) == {"hooks": {"Stop": [{"action": "deny"}]}, "name": "kept"}
    assert json.loads(remove_rule(left, "Stop[0]"))["hooks"] == {}


def test_what_does_not_exist_is_told() -> None:
    with pytest.raises(NoSuchRule):
        remove_rule(EMPTY_TEXT, "nothing")
    with pytest.raises(HooklineError, match="PreToolUse"):
        add_rule(EMPTY_TEXT, "PreTool", DENY)
    with pytest.raises(HooklineError, match="correct the text"):
        add_rule("[]", "Stop", DENY)
