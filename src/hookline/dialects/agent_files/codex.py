"""The codex dialect: the hooks of Codex CLI in `.codex/hooks.json` and `config.toml`, for every other agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import (
    FLOW,
    LIFECYCLE_STDIN,
    MATCHER_FACTS,
    SESSION_STDIN,
    SUBAGENT_STDIN,
    TOOL_ID_STDIN,
    TRIGGER_STDIN,
)
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import AgentFormat, HandlerType, Layout, Matching, define_format
from hookline.hooks.actions.program_result import ResultFormat

_COMMON_KEYS: Final = ("timeout", "statusMessage")
_SKIPPED: Final = "Codex skips hooks of this type, and so does hookline."
_MODEL_STDIN: Final = {"model": "{{session.model | or unknown}}"}
_MODE_STDIN: Final = {
    **_MODEL_STDIN,
    "permission_mode": "{{session.mode | one_of default acceptEdits plan dontAsk bypassPermissions}}",
}
_TURN_STDIN: Final = {"turn_id": FLOW, **_MODE_STDIN}
_TOOL_STDIN: Final = {**_TURN_STDIN, "tool_name": "{{tool.name}}", "tool_input": "{{tool.input | patch}}"}
"""Codex writes files with patches only, so its hooks look for one."""
_STOP_STDIN: Final = {
    **_TURN_STDIN,
    "stop_hook_active": "{{stop.active | or false}}",
    "last_assistant_message": "{{stop.message | or null}}",
}

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
        common_stdin={**SESSION_STDIN, "transcript_path": "{{session.transcript | or null}}"},
        stdin={
            "SessionStart": {**_MODE_STDIN, **LIFECYCLE_STDIN["SessionStart"]},
            "SessionEnd": {"reason": "other"},
            "UserPromptSubmit": {**_TURN_STDIN, **LIFECYCLE_STDIN["UserPromptSubmit"]},
            "PreToolUse": {**_TOOL_STDIN, **TOOL_ID_STDIN},
            "PostToolUse": {**_TOOL_STDIN, "tool_response": "{{tool.result | or null}}", **TOOL_ID_STDIN},
            "PermissionRequest": _TOOL_STDIN,
            "PreCompact": {"turn_id": FLOW, **_MODEL_STDIN, **TRIGGER_STDIN},
            "Stop": _STOP_STDIN,
            "SubagentStart": {**_TURN_STDIN, **SUBAGENT_STDIN},
            "SubagentStop": {
                **_STOP_STDIN,
                **SUBAGENT_STDIN,
                "agent_transcript_path": "{{subagent.transcript | or null}}",
            },
        },
        unsupported_events=("PostCompact", "StopFailure", "Interrupt"),
        other_hook_keys=("state", "managed_dir", "windows_managed_dir"),
    )
)
DIALECT: Final = AgentFileDialect(FORMAT)
