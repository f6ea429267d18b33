from __future__ import annotations

import pytest

from hookline.dialects.ourselves import launched
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
    ],
)
def test_our_launcher_is_known_by_its_name(command: str, agent: str | None) -> None:
    assert launched(command) == agent


def test_our_own_entry_in_claude_codes_settings_is_no_hook() -> None:
    """Else every other agent would ask the hooks once more, through it."""
    text = """{"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "/home/me/.local/share/hookline/bridge claude-code PreToolUse"},
        {"type": "command", "command": "./check.sh"}]}]}}"""
    book = load_text(text, ".claude/settings.json", "claude_code")
    assert [hook.id for hook in book.hooks] == ["settings.json:PreToolUse[1]"]
    assert not book.problems
