"""The values that agents share which took over the shape of Claude Code's hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hookline.dialects.agent_files.format import StdinTemplates
from hookline.hooks.event import FactPath

SESSION_STDIN: Final[StdinTemplates] = {
    "session_id": "{{session.id | or_empty}}",
    "transcript_path": "{{session.transcript | or_empty}}",
    "cwd": "{{cwd}}",
}
FLOW: Final = "{{execution.flow | or_fact session.id | or_empty}}"
"""The id of what answers one prompt: a turn, a generation."""
TOOL_STDIN: Final[StdinTemplates] = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
TOOL_ID_STDIN: Final[StdinTemplates] = {"tool_use_id": "{{tool.id | or_empty}}"}
STOP_STDIN: Final[StdinTemplates] = {
    "stop_hook_active": "{{stop.active | or false}}",
    "last_assistant_message": "{{stop.message | or_empty}}",
}
SUBAGENT_STDIN: Final[StdinTemplates] = {
    "agent_id": "{{subagent.id | or_empty}}",
    "agent_type": "{{subagent.name | or_empty}}",
}
NOTIFICATION_STDIN: Final[StdinTemplates] = {
    "message": "{{notification.message | or_empty}}",
    "title": "{{notification.title | or_empty}}",
    "notification_type": "{{notification.type | or_empty}}",
}
PERMISSION_STDIN: Final[StdinTemplates] = {**TOOL_STDIN, "permission_suggestions": "{{approval.suggestions}}"}
TRIGGER_STDIN: Final[StdinTemplates] = {"trigger": "{{trigger | one_of auto manual}}"}
LIFECYCLE_STDIN: Final[dict[str, dict[str, Any]]] = {
    "UserPromptSubmit": {"prompt": "{{prompt | or_empty}}"},
    "SessionStart": {"source": "{{session.source | one_of startup resume clear compact}}"},
    "SessionEnd": {"reason": "{{session.reason | one_of other clear resume logout prompt_input_exit}}"},
    "Stop": dict(STOP_STDIN),
    "SubagentStart": dict(SUBAGENT_STDIN),
    "SubagentStop": {**SUBAGENT_STDIN, **STOP_STDIN, "agent_transcript_path": "{{subagent.transcript | or_empty}}"},
    "PreCompact": {**TRIGGER_STDIN, "custom_instructions": ""},
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


def disable_all_hooks(names: Sequence[str] | None) -> dict[str, Any] | None:
    return {"disableAllHooks": True} if names is None else None
