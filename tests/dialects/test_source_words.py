from __future__ import annotations

from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.dialects.source_words import action_word, condition_word


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ({"type": "gate"}, "gate"),
        ({"type": "inject_message", "content": "x"}, "inject_message"),
        ({"type": "compact_context"}, "compact_context"),
        ({"type": "shell", "command": "ls"}, "shell"),
        ({"type": "pipe", "to": "a.b"}, "pipe"),
        ({"type": "module_action", "module": "a", "action": "b"}, "pipe or module_action"),
        ({"type": "module_action_inject", "module": "a", "action": "b"}, "module_action_inject"),
        ({"type": "transform_params", "transformation": {"remove": ["a"]}}, "transform_params"),
        ({"type": "transform_result", "transformation": {"append_to_result": "a"}}, "transform_result"),
        ({"type": "transform_result", "transformation": {"inject_note": "a"}}, "transform_result"),
        ({"type": "lsp_diagnose"}, "lsp_diagnose"),
        ({"type": "log", "message": "a"}, None),
    ],
    ids=str,
)
def test_an_action_has_digitorn_s_word(action: dict[str, Any], word: str | None) -> None:
    (hook,) = load_hooks("digitorn", {"runtime": {"hooks": [{"id": "h", "on": "tool_end", "action": action}]}})
    assert action_word(hook.then, "digitorn") == word


def test_a_condition_has_digitorn_s_word() -> None:
    value = {"id": "h", "condition": {"type": "message_count"}, "action": {"type": "gate"}}
    (hook,) = load_hooks("digitorn", {"runtime": {"hooks": [value]}})
    assert condition_word(hook.when, "digitorn") == "message_count"
    assert condition_word(hook.when, "native") is None


def test_a_program_is_a_command_in_flo() -> None:
    (hook,) = load_hooks("flo", {"hooks": {"PreToolUse": [{"command": "ls"}]}}, "hub.json")
    assert action_word(hook.then, "flo") == "command"
