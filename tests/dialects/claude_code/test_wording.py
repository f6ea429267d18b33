from __future__ import annotations

from dialect_conversion import load_hooks
from hookline.dialects.claude_code.wording import WORDING
from hookline.hooks.event import parse_path


def test_events_that_share_one_of_ours_keep_their_names() -> None:
    group = [{"hooks": [{"type": "command", "command": "x"}]}]
    hooks = load_hooks("claude_code", {"hooks": {"PostToolUse": group, "PostToolUseFailure": group}})
    assert [hook.event for hook in hooks] == ["tool.after", "tool.after"]
    assert [hook.event_name for hook in hooks] == ["PostToolUse", "PostToolUseFailure"]


def test_handlers_and_facts_have_claude_code_s_words() -> None:
    handler = {"type": "http", "url": "https://example.com/hook"}
    (hook,) = load_hooks("claude_code", {"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    assert WORDING.action(hook.then) == "the action http"
    assert WORDING.fact(parse_path("tool.input.command")) == "tool_input.command"
    assert WORDING.explain("tool.ok is false") == "the tool failed"
