"""Which settings files Copilot CLI rejects. It runs the hooks in a project's settings of Claude Code, but it rejects a whole
file for one hook that it cannot read, and says nothing. Seen in Copilot CLI 1.0.102.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from hookline.config.document import Document

COPILOT: Final = "copilot-cli"
_EVENTS: Final = frozenset(
    (
        "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PermissionRequest", "Notification", "PreCompact", "SubagentStart", "SubagentStop", "Stop",
    )
)  # fmt: skip
"""It ignores other events, whatever their hooks look like."""
_MATCHED_EVENTS: Final = frozenset(
    ("PreToolUse", "PostToolUse", "PermissionRequest", "Notification", "PreCompact", "SubagentStart")
)
"""An empty matcher is invalid here. At other events it does not read the matcher."""
_HTTPS_EVENTS: Final = frozenset(("PreToolUse", "PermissionRequest"))


def is_rejected_by_copilot(document: Document) -> bool:
    if document.has_byte_order_mark:
        return True
    try:
        json.loads(document.text, parse_int=str)
    except (ValueError, RecursionError):  # comments, trailing commas
        return True
    return any(not _is_valid(*each) for each in _handlers(document.value))


def _handlers(settings: Any) -> Iterator[tuple[str, Any, Any]]:
    """Each event, its matcher and a hook, which is None for a group of another shape."""
    events = settings.get("hooks") if isinstance(settings, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) and event in _EVENTS else ():
            if not isinstance(group, dict) or not isinstance(group.get("hooks", []), list):
                yield event, None, None
            elif "hooks" in group:
                yield from ((event, group.get("matcher"), hook) for hook in group["hooks"])
            else:  # a hook without a group, which it runs
                yield event, group.get("matcher"), group


def _is_valid(event: str, matcher: Any, hook: Any) -> bool:
    if matcher == "" and event in _MATCHED_EVENTS:
        return False
    if not isinstance(hook, dict):
        return False
    timeout = hook.get("timeout", 1)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0:
        return False
    match hook.get("type", "command"):
        case "command":
            return _is_valid_command(hook)
        case "http":
            return event not in _HTTPS_EVENTS or str(hook.get("url", "")).startswith("https:")
        case "prompt":
            return event == "SessionStart"
    return False


def _is_valid_command(hook: dict[str, Any]) -> bool:
    variables = hook.get("env", {})
    return (
        any(isinstance(hook.get(key), str) for key in ("command", "bash", "powershell"))
        and isinstance(hook.get("cwd", ""), str)
        and isinstance(variables, dict)
        and all(isinstance(value, str) for value in variables.values())
    )
