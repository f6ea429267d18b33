"""Detects which agent runs a hook. Some agents also run the hooks in another agent's settings.

GitHub Copilot CLI and Cursor run the hooks in Claude Code's settings. An agent that another agent started inherits its
environment variables, so the payload's keys count first. Claude Code's own payload has no timestamp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_CURSOR_KEYS: Final = frozenset({"conversation_id", "generation_id", "cursor_version", "workspace_roots"})
_COPILOT_KEYS: Final = frozenset({"timestamp", "sessionId", "hookName"})
_CLAUDE_KEYS: Final = frozenset({"prompt_id", "permission_mode", "transcript_path"})
_VARIABLES_BY_AGENT: Final = {
    "cursor": ("CURSOR_VERSION", "CURSOR_PROJECT_DIR", "CURSOR_TRACE_ID"),
    "copilot-cli": ("COPILOT_CLI", "COPILOT_PROJECT_DIR"),
}


def detect_agent(agent: str, variable: Callable[[str], str], payload: Mapping[str, Any]) -> str:
    """The agent that runs the hook, given the agent in whose settings the entry is.

    `variable` reads an environment variable, if the payload does not tell.
    """
    if agent != "claude-code":
        return agent
    keys = payload.keys()
    if not _CURSOR_KEYS.isdisjoint(keys):
        return "cursor"
    if not _COPILOT_KEYS.isdisjoint(keys):
        return "copilot-cli"
    if not _CLAUDE_KEYS.isdisjoint(keys) or variable("CLAUDECODE"):
        return agent
    return next((name for name, variables in _VARIABLES_BY_AGENT.items() if any(map(variable, variables))), agent)
