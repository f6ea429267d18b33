from __future__ import annotations

from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.dialects.digitorn.wording import WORDING
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import May
from hookline.project.lint import lint_hooks


def load_hook(**keys: Any) -> Hook:
    (hook,) = load_hooks("digitorn", {"runtime": {"hooks": [{"id": "x", **keys}]}}, "app.yaml")
    return hook


def test_facts_and_answers() -> None:
    assert WORDING.event("turn.end") == "turn_end"
    assert WORDING.answer_words(May.DENY) == ["gate"]
    assert WORDING.fact(("tool", "ok")) == "tool_failed"
    assert WORDING.fact(("tool", "input", "path")) == "tool.params.path"
    assert WORDING.order(-95) == "5"
    assert WORDING.explain("tool.ok is false and turn.number is 3") == "tool_failed and turn_count is 3"


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ({"type": "gate"}, "the action gate"),
        ({"type": "inject_message", "content": "x"}, "the action inject_message"),
        ({"type": "compact_context"}, "the action compact_context"),
        ({"type": "shell", "command": "ls"}, "the action shell"),
        ({"type": "pipe", "to": "a.b"}, "the action pipe"),
        ({"type": "module_action", "module": "a", "action": "b"}, "the action pipe or module_action"),
        ({"type": "module_action_inject", "module": "a", "action": "b"}, "the action module_action_inject"),
        ({"type": "transform_params", "transformation": {"remove": ["a"]}}, "the action transform_params"),
        ({"type": "transform_result", "transformation": {"append_to_result": "a"}}, "the action transform_result"),
        ({"type": "transform_result", "transformation": {"inject_note": "a"}}, "the action transform_result"),
        ({"type": "lsp_diagnose"}, "the action lsp_diagnose"),
        ({"type": "log", "message": "a"}, "the action log"),
    ],
    ids=str,
)
def test_an_action_has_digitorn_s_word(action: dict[str, Any], word: str) -> None:
    assert WORDING.action(load_hook(on="tool_end", action=action).then) == word


def test_a_condition_has_digitorn_s_word() -> None:
    hook = load_hook(condition={"type": "message_count"}, action={"type": "log", "message": "a"})
    assert hook.origin.wording.condition(hook.when) == "the condition message_count"


def test_a_gate_that_never_acts_is_told_in_digitorn_s_words() -> None:
    (found,) = lint_hooks([load_hook(on="turn_end", action={"type": "gate"})])
    assert found.what == "x can never act: turn_end does not accept gate."
    assert found.hint.startswith("These events do: activation, ")
    assert "tool.before" not in found.hint


def test_a_condition_on_a_failed_tool_before_it_ran() -> None:
    (found,) = lint_hooks([load_hook(on="tool_start", condition={"type": "tool_failed"}, action={"type": "gate"})])
    assert found.what == "x reads tool_failed, which tool_start never has."
    assert found.hint == "These events have it: tool_end."


def test_an_event_has_the_name_that_its_file_uses() -> None:
    assert load_hook(on="pre_tool_use", action={"type": "gate"}).event_name == "pre_tool_use"
    assert load_hook(action={"type": "log", "message": "a"}).event_name == "turn_end"
