from __future__ import annotations

from datetime import timedelta

from dialects.flo.flo_file import build_config, load, problem_codes
from hookline.hooks.actions.hold import HoldCall


def test_a_hook_knows_its_place_and_its_name() -> None:
    text = '{"hooks": {\n"PreToolUse": [\n{"action": "log"},\n{"id": "mine", "action": "log"},\n{"hooks": [\n{"action": "log"}]}]}}'
    hooks = load(text, "sub/hub.json").hooks
    assert [(hook.id, hook.origin.line) for hook in hooks] == [
        ("hub.json:PreToolUse[0]", 3),
        ("mine", 4),
        ("hub.json:PreToolUse[2].hooks[0]", 6),
    ]
    assert {hook.group for hook in hooks} == {"flo"}


def test_the_rest_of_a_list_survives_a_bad_entry() -> None:
    found = load(build_config({"id": "r", "hooks": [{"action": "log"}, {"action": "nope"}, {"command": "true"}]}))
    assert [hook.id for hook in found.hooks] == ["r.hooks[0]", "r.hooks[1]", "r.hooks[2]"]
    assert isinstance(found.hooks[1].then, HoldCall)


def test_a_useless_key_is_a_warning() -> None:
    assert problem_codes(build_config({"action": "log", "reason": "x", "timeout": 5})) == ["unused", "unused"]


def test_hints_are_in_milliseconds() -> None:
    (problem,) = load(build_config({"command": "x", "timeout": "2m"})).problems
    assert problem.hint == "flo counts milliseconds; write 120000."


def test_without_a_timeout_there_are_five_seconds() -> None:
    hooks = load(build_config({"command": "sleep 10"}, {"action": "script", "script": "return"})).hooks
    assert [hook.timeout for hook in hooks] == [timedelta(seconds=5)] * 2
    assert [getattr(hook.then, "timeout", None) for hook in hooks] == [timedelta(seconds=5)] * 2


def test_all_hooks_of_a_rule_have_its_tags() -> None:
    rule = {"tags": ["safety", "team"], "hooks": [{"action": "log"}, {"action": "deny"}]}
    assert [hook.tags for hook in load(build_config(rule, {"action": "log", "tags": "one"})).hooks] == [
        ("safety", "team"),
        ("safety", "team"),
        ("one",),
    ]
    assert problem_codes(build_config({"action": "log", "tags": [1]})) == ["wrong-type"]
