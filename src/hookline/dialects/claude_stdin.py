"""What a program reads on stdin in Claude Code, and in the formats that other tools share with it."""

from __future__ import annotations

from typing import Final

from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, parse_template
from hookline.hooks.tools import VOCABULARIES

_VOCABULARY: Final = VOCABULARIES["claude_code"]
_COMMON_STDIN: Final = {
    "session_id": "{{session.id}}",
    "transcript_path": "{{session.transcript | or_empty}}",
    "cwd": "{{cwd}}",
}
_MODE_STDIN: Final = {"permission_mode": "{{session.mode | or default}}"}
_TOOL_STDIN: Final = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
_TOOL_ID_STDIN: Final = {"tool_use_id": "{{tool.id}}"}
_SUBAGENT_STDIN: Final = {"agent_id": "{{subagent.id}}", "agent_type": "{{subagent.name}}"}
_STOP_STDIN: Final = {"stop_hook_active": "{{stop.active | or false}}"}
_STDIN_BY_EVENT: Final = {
    "PreToolUse": {**_MODE_STDIN, **_TOOL_STDIN, **_TOOL_ID_STDIN},
    "PostToolUse": {**_MODE_STDIN, **_TOOL_STDIN, "tool_response": "{{tool.result}}", **_TOOL_ID_STDIN},
    "PostToolUseFailure": {**_MODE_STDIN, **_TOOL_STDIN, **_TOOL_ID_STDIN, "error": "{{tool.error | or_empty}}"},
    "PermissionRequest": {**_MODE_STDIN, **_TOOL_STDIN, "permission_suggestions": "{{approval.suggestions}}"},
    "Notification": {
        "message": "{{notification.message}}",
        "title": "{{notification.title}}",
        "notification_type": "{{notification.type}}",
    },
    "UserPromptSubmit": {**_MODE_STDIN, "prompt": "{{prompt}}"},
    "SessionStart": {"source": "{{session.source | or startup}}"},
    "SessionEnd": {"reason": "{{session.reason | or other}}"},
    "StopFailure": {"error": "{{error.message | or_empty}}"},
    "Stop": {**_MODE_STDIN, **_STOP_STDIN, "last_assistant_message": "{{stop.message}}"},
    "SubagentStop": {
        **_MODE_STDIN,
        **_STOP_STDIN,
        **_SUBAGENT_STDIN,
        "agent_transcript_path": "{{subagent.transcript}}",
        "last_assistant_message": "{{stop.message}}",
    },
    "SubagentStart": _SUBAGENT_STDIN,
    "PreCompact": {"trigger": "{{trigger | or auto}}", "custom_instructions": ""},
}


def stdin_templates(event_name: str) -> dict[str, str]:
    """Each key of a hook's stdin as a template, without the event's name."""
    return {**_COMMON_STDIN, **_STDIN_BY_EVENT[event_name]}


def stdin_template(event_name: str) -> DataTemplate:
    own = {
        key: parse_template(text, PlaceholderResolver(_VOCABULARY)) if text else ""
        for key, text in stdin_templates(event_name).items()
    }
    first = {key: own[key] for key in (*_COMMON_STDIN, *_MODE_STDIN) if key in own}
    return DataTemplate({**first, "hook_event_name": event_name, **own})
