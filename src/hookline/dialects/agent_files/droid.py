"""The droid dialect: the hooks of Factory Droid in `.factory/settings.json` and `.factory/hooks.json`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.dialects.agent_files.claude_shape import LIFECYCLE_STDIN, MATCHER_FACTS, SESSION_STDIN, TOOL_STDIN
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import AgentFormat, HandlerType, Layout, Matching, define_format
from hookline.hooks.actions.program_result import ResultFormat


def _has_events_at_top(file: str) -> bool:
    """In `hooks.json` the events are the top-level keys; in `settings.json` they are below `hooks`."""
    return PurePath(file).parts[-2:] == (".factory", "hooks.json")


def _switched_off(value: Any) -> tuple[bool, tuple[str, ...]]:
    return isinstance(value, dict) and value.get("hooksDisabled") is True, ()


def _switch_off(names: Sequence[str] | None) -> dict[str, Any] | None:
    return {"hooksDisabled": True} if names is None else None


FORMAT: Final = define_format(
    AgentFormat(
        name="droid",
        title="Factory Droid",
        layout=Layout.GROUPS,
        handlers={
            "command": HandlerType(keys=("command", "timeout", "name", "description"), required=("command",)),
            "prompt": HandlerType(
                keys=("prompt", "name", "description"),
                required=("prompt",),
                not_here="Factory Droid runs commands only, and so does hookline.",
            ),
        },
        group_keys=("matcher", "hooks", "commandRegex"),
        matching=Matching.REGEX,
        matcher_facts={key: MATCHER_FACTS[key] for key in ("SessionStart", "SessionEnd", "PreCompact")},
        result=ResultFormat.DROID,
        timeout=timedelta(seconds=60),
        common_stdin={
            **SESSION_STDIN,
            "permission_mode": "{{session.mode | one_of off spec auto-low auto-medium auto-high}}",
        },
        stdin={
            **LIFECYCLE_STDIN,
            "PreToolUse": TOOL_STDIN,
            "PostToolUse": {**TOOL_STDIN, "tool_response": "{{result.text | or_empty}}"},
        },
        environment={
            "FACTORY_PROJECT_DIR": "{{workspace}}",
            "DROID_PROJECT_DIR": "{{workspace}}",
            "CLAUDE_PROJECT_DIR": "{{workspace}}",
        },
        switch=_switched_off,
        write_switch=_switch_off,
        events_at_top=_has_events_at_top,
    )
)
DIALECT: Final = AgentFileDialect(FORMAT)
