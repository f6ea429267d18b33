"""The values that agents share which took over the shape of Claude Code's hooks."""

from __future__ import annotations

from typing import Any, Final

from hookline.dialects.agent_files.format import StdinTemplates
from hookline.hooks.event import FactPath

SESSION_STDIN: Final[StdinTemplates] = {
    "session_id": "{{session.id}}",
    "transcript_path": "{{session.transcript | or_empty}}",
    "cwd": "{{cwd}}",
}
MODE_STDIN: Final[StdinTemplates] = {"permission_mode": "{{session.mode | or default}}"}
TOOL_STDIN: Final[StdinTemplates] = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
TOOL_ID_STDIN: Final[StdinTemplates] = {"tool_use_id": "{{tool.id}}"}
STOP_STDIN: Final[StdinTemplates] = {
    "stop_hook_active": "{{stop.active | or false}}",
    "last_assistant_message": "{{stop.message}}",
}
SUBAGENT_STDIN: Final[StdinTemplates] = {"agent_id": "{{subagent.id}}", "agent_type": "{{subagent.name}}"}
NOTIFICATION_STDIN: Final[StdinTemplates] = {
    "message": "{{notification.message}}",
    "title": "{{notification.title}}",
    "notification_type": "{{notification.type}}",
}
PERMISSION_STDIN: Final[StdinTemplates] = {**TOOL_STDIN, "permission_suggestions": "{{approval.suggestions}}"}
LIFECYCLE_STDIN: Final[dict[str, dict[str, Any]]] = {
    "UserPromptSubmit": {"prompt": "{{prompt}}"},
    "SessionStart": {"source": "{{session.source | or startup}}"},
    "SessionEnd": {"reason": "{{session.reason | or other}}"},
    "Stop": dict(STOP_STDIN),
    "SubagentStart": dict(SUBAGENT_STDIN),
    "SubagentStop": {**SUBAGENT_STDIN, **STOP_STDIN, "agent_transcript_path": "{{subagent.transcript}}"},
    "PreCompact": {"trigger": "{{trigger | or auto}}", "custom_instructions": ""},
    "Notification": dict(NOTIFICATION_STDIN),
    "PermissionRequest": dict(PERMISSION_STDIN),
}
MATCHER_FACTS: Final[dict[str, tuple[FactPath, str]]] = {
    "SessionStart": (("session", "source"), "startup"),
    "SessionEnd": (("session", "reason"), "other"),
    "PreCompact": (("trigger",), "auto"),
    "SubagentStart": (("subagent", "name"), ""),
    "SubagentStop": (("subagent", "name"), ""),
    "Notification": (("notification", "type"), ""),
}


def disables_all_hooks(value: Any) -> tuple[bool, tuple[str, ...]]:
    return isinstance(value, dict) and value.get("disableAllHooks") is True, ()
