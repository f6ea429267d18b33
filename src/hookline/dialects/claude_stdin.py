"""What a program reads on stdin in Claude Code, and in the formats that other tools share with it."""

from __future__ import annotations

from typing import Any, Final

from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, parse_template
from hookline.hooks.tools import VOCABULARIES

_VOCABULARY: Final = VOCABULARIES["claude_code"]
_COMMON_STDIN: Final = {
    "session_id": "{{session.id | or_empty}}",
    "transcript_path": "{{session.transcript | or_empty}}",
    "cwd": "{{cwd}}",
}
_MODE_STDIN: Final = {
    "prompt_id": "{{execution.flow | or_fact session.id | or_empty}}",
    "permission_mode": "{{session.mode | one_of default acceptEdits plan auto dontAsk bypassPermissions}}",
}
_TOOL_STDIN: Final = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
_TOOL_ID_STDIN: Final = {"tool_use_id": "{{tool.id | or_empty}}"}
_SUBAGENT_STDIN: Final = {"agent_id": "{{subagent.id | or_empty}}", "agent_type": "{{subagent.name | or_empty}}"}
_STOP_STDIN: Final = {
    "stop_hook_active": "{{stop.active | or false}}",
    "last_assistant_message": "{{stop.message | or_empty}}",
}
_STDIN_BY_EVENT: Final[dict[str, dict[str, Any]]] = {
    "PreToolUse": {**_MODE_STDIN, **_TOOL_STDIN, **_TOOL_ID_STDIN},
    "PostToolUse": {**_MODE_STDIN, **_TOOL_STDIN, "tool_response": "{{tool.result | or_empty}}", **_TOOL_ID_STDIN},
    "PostToolUseFailure": {**_MODE_STDIN, **_TOOL_STDIN, **_TOOL_ID_STDIN, "error": "{{tool.error | or_empty}}"},
    "PermissionRequest": {**_MODE_STDIN, **_TOOL_STDIN, "permission_suggestions": "{{approval.suggestions}}"},
    "Notification": {
        "message": "{{notification.message | or_empty}}",
        "title": "{{notification.title | or_empty}}",
        "notification_type": "{{notification.type | or_empty}}",
    },
    "UserPromptSubmit": {**_MODE_STDIN, "prompt": "{{prompt | or_empty}}"},
    "SessionStart": {"source": "{{session.source | one_of startup resume clear compact fork}}"},
    "SessionEnd": {
        "prompt_id": _MODE_STDIN["prompt_id"],
        "reason": "{{session.reason | one_of other clear resume logout prompt_input_exit bypass_permissions_disabled}}",
    },
    "StopFailure": {"error": "{{error.message | or_empty}}"},
    "Stop": {**_MODE_STDIN, **_STOP_STDIN, "background_tasks": [], "session_crons": []},
    "SubagentStop": {
        **_MODE_STDIN,
        **_STOP_STDIN,
        **_SUBAGENT_STDIN,
        "agent_transcript_path": "{{subagent.transcript | or_empty}}",
    },
    "SubagentStart": _SUBAGENT_STDIN,
    "PreCompact": {"trigger": "{{trigger | one_of auto manual}}", "custom_instructions": ""},
}


def stdin_templates(event_name: str) -> dict[str, Any]:
    """Each key of a hook's stdin as a template or a constant, without the event's name."""
    return {**_COMMON_STDIN, **_STDIN_BY_EVENT[event_name]}


def stdin_template(event_name: str) -> DataTemplate:
    own = {
        key: parse_template(value, PlaceholderResolver(_VOCABULARY)) if value and isinstance(value, str) else value
        for key, value in stdin_templates(event_name).items()
    }
    first = {key: own[key] for key in (*_COMMON_STDIN, *_MODE_STDIN) if key in own}
    return DataTemplate({**first, "hook_event_name": event_name, **own})
