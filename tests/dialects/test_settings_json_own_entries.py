from __future__ import annotations

import pytest

from hookline.dialects.settings_json import agent_of_own_entry
from hookline.project import load_text


@pytest.mark.parametrize(
    ("command", "agent"),
    [
        ("/home/me/.local/share/hookline/bridge claude-code PreToolUse", "claude-code"),
        ("'/home/a b/.local/share/hookline/bridge' codex Stop", "codex"),
        ('"$HOME/.local/share/hookline/bridge" cline Stop', "cline"),
        ("/home/me/.local/share/hookline/bridge claude-code PreToolUse; rm x", None),
        ("/home/me/.local/share/hookline/bridge", None),
        ("hookline/bridge claude-code PreToolUse", None),
        ("'/hookline/bridge claude-code PreToolUse", None),
        ("./check.sh", None),
        ("http://127.0.0.1:25834/hookline/qwen-code/Stop", "qwen-code"),
        ("http://127.0.0.1:25834/hookline/qwen-code/Stop?x", None),
        ("http://127.0.0.1.example:25834/hookline/qwen-code/Stop", None),
        ("http://127.0.0.1:8080/hook", None),
    ],
)
def test_our_launcher_and_our_address_are_known(command: str, agent: str | None) -> None:
    assert agent_of_own_entry(command) == agent


def test_our_own_entry_in_claude_codes_settings_is_no_hook() -> None:
    """Else every other agent would ask the hooks once more, through it."""
    text = """{"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "/home/me/.local/share/hookline/bridge claude-code PreToolUse"},
        {"type": "http", "url": "http://127.0.0.1:25834/hookline/claude-code/PreToolUse"},
        {"type": "command", "command": "./check.sh"}]}]}}"""
    book = load_text(text, ".claude/settings.json", "claude_code")
    assert [hook.id for hook in book.hooks] == [".claude/settings.json:PreToolUse[0].hooks[2]"]
    assert not book.problems
