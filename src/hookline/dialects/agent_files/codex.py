"""The codex dialect: the hooks of Codex CLI in `.codex/hooks.json` and `config.toml`, for every other agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import (
    LIFECYCLE_STDIN,
    MATCHER_FACTS,
    MODE_STDIN,
    SESSION_STDIN,
    TOOL_ID_STDIN,
)
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import AgentFormat, HandlerType, Layout, Matching, define_format
from hookline.hooks.actions.program_result import ResultFormat

_COMMON_KEYS: Final = ("timeout", "statusMessage")
_SKIPPED: Final = "Codex skips hooks of this type, and so does hookline."
_TOOL_STDIN: Final = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input | patch}}"}
"""Codex writes files with patches only, so its hooks look for one."""

FORMAT: Final = define_format(
    AgentFormat(
        name="codex",
        title="Codex",
        layout=Layout.GROUPS,
        handlers={
            "command": HandlerType(
                keys=("command", "commandWindows", "async", "additionalContextLimit", *_COMMON_KEYS),
                required=("command",),
            ),
            "mcp_tool": HandlerType(keys=("server", "tool", "input", *_COMMON_KEYS), required=("server", "tool")),
            "prompt": HandlerType(keys=("prompt", "model", *_COMMON_KEYS), required=("prompt",), not_here=_SKIPPED),
            "agent": HandlerType(keys=("prompt", "model", *_COMMON_KEYS), required=("prompt",), not_here=_SKIPPED),
        },
        matching=Matching.NAMES,
        tool_aliases={"Write": "apply_patch", "Edit": "apply_patch", "Agent": "spawn_agent"},
        matcher_facts={key: MATCHER_FACTS[key] for key in MATCHER_FACTS if key != "Notification"},
        result=ResultFormat.CODEX,
        timeout=timedelta(minutes=10),
        timeouts={"SessionEnd": timedelta(seconds=1)},
        common_stdin={**SESSION_STDIN, **MODE_STDIN},
        stdin={
            **LIFECYCLE_STDIN,
            "PreToolUse": {**_TOOL_STDIN, **TOOL_ID_STDIN},
            "PostToolUse": {**_TOOL_STDIN, "tool_response": "{{tool.result}}", **TOOL_ID_STDIN},
            "PermissionRequest": _TOOL_STDIN,
        },
        unsupported_events=("PostCompact",),
        other_hook_keys=("state", "managed_dir", "windows_managed_dir"),
    )
)
DIALECT: Final = AgentFileDialect(FORMAT)
