"""The kimi_code dialect: the hooks of Kimi Code in its `config.toml`, for every other agent.

Kimi CLI, which came before it, has the same file elsewhere, with other names of tools.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import LIFECYCLE_STDIN, MATCHER_FACTS, TOOL_STDIN, TRIGGER_STDIN
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import (
    BY_OUTCOME,
    AgentFormat,
    HandlerType,
    Layout,
    Matching,
    define_format,
)
from hookline.hooks.actions.program_result import ResultFormat
from hookline.lazy_dataclasses import replace

_SESSION_STDIN: Final = {"session_id": "{{session.id | or_empty}}", "cwd": "{{cwd}}"}
_TOOL_STDIN: Final = {**TOOL_STDIN, "tool_call_id": "{{tool.id | or_empty}}"}
_SUBAGENT_STDIN: Final = {"agent_name": "{{subagent.name | or_empty}}"}
_NOTIFICATION_STDIN: Final = {
    "notification_type": "{{notification.type | or_empty}}",
    "title": "{{notification.title | or_empty}}",
    "body": "{{notification.message | or_empty}}",
    "severity": "info",
}

FORMAT: Final = define_format(
    AgentFormat(
        name="kimi_code",
        title="Kimi Code",
        layout=Layout.LIST,
        file_kind="toml",
        handlers={"command": HandlerType(keys=("command", "timeout", "fail_mode"), required=("command",))},
        default_type="command",
        matching=Matching.REGEX,
        matcher_facts={**MATCHER_FACTS, "UserPromptSubmit": (("prompt",), "")},
        fail_closed=("fail_mode", "closed"),
        conditions=BY_OUTCOME,
        result=ResultFormat.KIMI,
        timeout=timedelta(seconds=30),
        common_stdin={**_SESSION_STDIN, "client_type": "{{host.name | or hookline}}"},
        stdin={
            **LIFECYCLE_STDIN,
            "SessionStart": {
                "source": "{{session.source | one_of startup resume}}",
                "model": "{{session.model | or_empty}}",
                "profile": "agent",
            },
            "SessionEnd": {"reason": "{{session.reason | one_of exit archive}}"},
            "PreToolUse": _TOOL_STDIN,
            "PostToolUse": {**_TOOL_STDIN, "tool_output": "{{result.text | or_empty}}"},
            "PostToolUseFailure": {
                **_TOOL_STDIN,
                "error": {"code": "internal", "message": "{{tool.error | or_empty}}", "retryable": False},
            },
            "UserPromptSubmit": {"prompt": [{"type": "text", "text": "{{prompt | or_empty}}"}], "is_steer": False},
            "Stop": {"stop_hook_active": "{{stop.active | or false}}"},
            "PreCompact": {**TRIGGER_STDIN, "token_count": "{{context.tokens | or 0}}"},
            "SubagentStart": {**_SUBAGENT_STDIN, "prompt": "{{tool.input.prompt | or_empty}}"},
            "SubagentStop": {**_SUBAGENT_STDIN, "response": "{{stop.message | or_empty}}"},
            "Notification": _NOTIFICATION_STDIN,
        },
        unsupported_events=(
            "PostCompact", "StopFailure", "PermissionResult", "TurnStarted", "TurnEnded", "Interrupt", "MessageDisplay",
            "UserPromptQueued", "SessionHeartbeat", "TaskStarted",
        ),
        deduplicates=True,
    )
)  # fmt: skip
CLI_FORMAT: Final = replace(
    FORMAT,
    title="Kimi CLI",
    places=(".kimi/config.toml",),
    vocabulary_name="kimi_cli",
    handlers={"command": HandlerType(keys=("command", "timeout"), required=("command",))},
    matcher_facts=MATCHER_FACTS,
    common_stdin=_SESSION_STDIN,
    stdin={
        **FORMAT.stdin,
        "SessionStart": {"source": "{{session.source | one_of startup resume}}"},
        "UserPromptSubmit": {"prompt": "{{prompt | or_empty}}"},
        "PostToolUseFailure": {**_TOOL_STDIN, "error": "{{tool.error | or_empty}}"},
        "Notification": {"sink": "", **_NOTIFICATION_STDIN},
    },
)
DIALECT: Final = AgentFileDialect(FORMAT, older_format=CLI_FORMAT)
