"""What makes Copilot CLI reject a settings file, as Copilot CLI 1.0.102 itself does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.reader import read_text
from hookline.dialects.claude_code.copilot import is_rejected_by_copilot

COMMAND = {"type": "command", "command": "true"}


def is_rejected(text: str) -> bool:
    document, _ = read_text(text, ".claude/settings.json")
    assert document is not None
    return is_rejected_by_copilot(document)


def settings(event: str = "PreToolUse", hook: Any = COMMAND, **group: Any) -> str:
    return json.dumps({"hooks": {event: [{**group, "hooks": [hook]}], "Stop": [{"hooks": [COMMAND]}]}})


@pytest.mark.parametrize(
    "text",
    [
        *(
            settings(event, matcher="")
            for event in (
                "PreToolUse",
                "PostToolUse",
                "PermissionRequest",
                "PreCompact",
                "SubagentStart",
                "Notification",
            )
        ),
        settings(hook={"type": "prompt", "prompt": "x"}),
        settings(hook={"type": "agent", "prompt": "x"}),
        settings(hook={"type": "mcp_tool", "server": "s", "tool": "t"}),
        settings(hook={"type": "magic"}),
        settings(hook={"type": "http", "url": "http://127.0.0.1:9/x"}),
        settings(hook={**COMMAND, "timeout": 0}),
        settings(hook={**COMMAND, "timeout": "5"}),
        f"// mine\n{settings()}",
        f"{settings()[:-1]},}}",
    ],
)
def test_one_hook_rejects_the_file(text: str) -> None:
    assert is_rejected(text)


@pytest.mark.parametrize(
    "text",
    [
        settings(),
        settings(matcher="Bash"),
        settings(matcher="*"),
        settings(matcher="^Ba.*"),
        settings(matcher=" "),
        settings(matcher=None),
        *(settings(event, matcher="") for event in ("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop")),
        *(settings(event, matcher="") for event in ("SubagentStop", "PostToolUseFailure", "TeammateIdle")),
        settings("SessionStart", {"type": "prompt", "prompt": "x"}),
        settings(hook={"type": "http", "url": "https://127.0.0.1:9/x"}),
        settings("PostToolUse", {"type": "http", "url": "http://127.0.0.1:9/x"}),
        settings(hook={**COMMAND, "timeout": 0.5, "async": True, "once": True, "description": "x"}),
        settings(hook={"command": "true"}),
        json.dumps({"permissions": {"deny": ["Bash(rm:*)"]}}),
        json.dumps({"hooks": []}),
        "{}",
    ],
)
def test_what_it_reads_is_left_to_it(text: str) -> None:
    assert not is_rejected(text)
