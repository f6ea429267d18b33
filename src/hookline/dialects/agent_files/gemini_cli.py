"""The gemini_cli dialect: the hooks of Gemini CLI in `.gemini/settings.json`, for every other agent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.dialects.agent_files.claude_shape import (
    NOTIFICATION_STDIN,
    SESSION_STDIN,
    TOOL_STDIN,
    TRIGGER_STDIN,
)
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import (
    MILLISECOND,
    AgentFormat,
    BadPatternPolicy,
    HandlerType,
    Layout,
    Matching,
    define_format,
)
from hookline.hooks.actions.program_result import ResultFormat

_SWITCHES: Final = ("enabled", "disabled", "notifications")  # older versions have them beside the events


def _switched_off(value: Any) -> tuple[bool, tuple[str, ...]]:
    """Whether `hooksConfig` disables all hooks, and the names that it disables."""
    parts = [value.get(key) for key in ("hooksConfig", "hooks")] if isinstance(value, dict) else []
    found = [part for part in parts if isinstance(part, dict)]
    names = [name for part in found if isinstance(part.get("disabled"), list) for name in part["disabled"]]
    return any(part.get("enabled") is False for part in found), tuple(name for name in names if isinstance(name, str))


def _switch_off(names: Sequence[str] | None) -> dict[str, Any]:
    return {"hooksConfig": {"enabled": False} if names is None else {"disabled": list(names)}}


def _expand_command(command: str, file: str) -> str:
    """In an extension's file, Gemini CLI replaces a few names before a shell reads the command."""
    if not PurePath(file).match(".gemini/extensions/*/hooks/hooks.json"):
        return command
    extension = os.path.abspath(os.path.expanduser(PurePath(file).parent.parent))
    names = {"extensionPath": extension, "workspacePath": "$GEMINI_PROJECT_DIR", "/": "/", "pathSeparator": "/"}
    for name, text in names.items():
        command = command.replace(f"${{{name}}}", text)
    return command


FORMAT: Final = define_format(
    AgentFormat(
        name="gemini_cli",
        title="Gemini CLI",
        layout=Layout.GROUPS,
        handlers={
            "command": HandlerType(
                keys=("command", "name", "description", "timeout", "env"),
                required=("command",),
            )
        },
        group_keys=("matcher", "hooks", "sequential"),
        matching=Matching.REGEX,
        bad_matcher=BadPatternPolicy.LITERAL,
        matcher_facts={
            "SessionStart": (("session", "source"), "startup"),
            "SessionEnd": (("session", "reason"), "exit"),
            "PreCompress": (("trigger",), "auto"),
        },
        result=ResultFormat.GEMINI,
        timeout=timedelta(seconds=60),
        timeout_unit=MILLISECOND,
        common_stdin={**SESSION_STDIN, "timestamp": "{{time | utc}}"},
        stdin={
            "SessionStart": {"source": "{{session.source | one_of startup resume clear}}"},
            "SessionEnd": {"reason": "{{session.reason | one_of exit clear logout prompt_input_exit other}}"},
            "BeforeAgent": {"prompt": "{{prompt | or_empty}}"},
            "AfterAgent": {
                "prompt": "{{prompt | or_empty}}",
                "prompt_response": "{{stop.message | or_empty}}",
                "stop_hook_active": "{{stop.active | or false}}",
            },
            "BeforeTool": TOOL_STDIN,
            "AfterTool": {
                **TOOL_STDIN,
                "tool_response": {
                    "llmContent": "{{tool.result | or_empty}}",
                    "returnDisplay": "{{tool.result | or_empty}}",
                    "error": "{{tool.error}}",
                },
            },
            "PreCompress": TRIGGER_STDIN,
            "Notification": {**NOTIFICATION_STDIN, "details": {}},
        },
        environment={
            "GEMINI_PROJECT_DIR": "{{workspace}}",
            "GEMINI_CWD": "{{cwd}}",
            "GEMINI_SESSION_ID": "{{session.id}}",
            "CLAUDE_PROJECT_DIR": "{{workspace}}",
        },
        expand_command=_expand_command,
        unsupported_events=("BeforeModel", "AfterModel", "BeforeToolSelection"),
        other_hook_keys=_SWITCHES,
        deduplicates=True,
        switch=_switched_off,
        write_switch=_switch_off,
        own_events=frozenset(
            ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress", "BeforeModel", "AfterModel")
        ),
    )
)
DIALECT: Final = AgentFileDialect(FORMAT)
