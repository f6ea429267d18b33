from __future__ import annotations

from typing import Any

from dialect_conversion import load_hooks


def test_an_action_is_called_as_in_the_manifest() -> None:
    handlers: list[dict[str, Any]] = [
        {"type": "command", "command": "x"},
        {"type": "http", "url": "https://a.example/"},
        {"type": "prompt", "prompt": "ok?"},
    ]
    hooks = [{"event": "before_tool_execute", "handler": handler} for handler in handlers]
    found = load_hooks("hook_interchange", {"spec": "hooks/0.1", "hooks": hooks}, "hooks.json")
    words = [hook.origin.wording.action(hook.then) for hook in found]
    assert words == ["the action command", "the action http", "the action prompt"]
