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
    try:
        json.loads(document.text, parse_int=str)
    except (ValueError, RecursionError):  # comments, trailing commas
        return True
    return any(not _is_valid(*each) for each in _handlers(document.value))


def _handlers(settings: Any) -> Iterator[tuple[str, Any, Any]]:
    """Each event, its matcher and a hook, as far as the file has the usual shape."""
    events = settings.get("hooks") if isinstance(settings, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) and event in _EVENTS else ():
            if isinstance(group, dict) and isinstance(group.get("hooks"), list):
                yield from ((event, group.get("matcher"), hook) for hook in group["hooks"])


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
            return True
        case "http":
            return event not in _HTTPS_EVENTS or str(hook.get("url", "")).startswith("https:")
        case "prompt":
            return event == "SessionStart"
    return False
