"""Detects which agent runs a hook. Some agents also run the hooks in another agent's settings.

GitHub Copilot CLI, Cursor, Grok and VS Code run the hooks in Claude Code's settings; VS Code and Copilot CLI run each
other's. An agent that another agent started inherits its environment variables, so the payload's keys count first.
Claude Code's own payload has no timestamp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_KEYS_BY_AGENT: Final = {  # any of which tells the agent; the first agent counts
    "cursor": frozenset({"conversation_id", "generation_id", "cursor_version", "workspace_roots"}),
    "grok-build": frozenset({"workspaceRoot", "toolInputTruncated", "permissionMode"}),
    "vscode-copilot": frozenset({"hookEventName"}),
    "copilot-cli": frozenset({"timestamp", "sessionId", "hookName"}),
    "claude-code": frozenset({"prompt_id", "permission_mode", "transcript_path"}),
}
_VARIABLES_BY_AGENT: Final = {
    "claude-code": ("CLAUDECODE",),
    "cursor": ("CURSOR_VERSION", "CURSOR_PROJECT_DIR", "CURSOR_TRACE_ID"),
    "grok-build": ("GROK_HOOK_EVENT", "GROK_SESSION_ID"),
    "copilot-cli": ("COPILOT_CLI", "COPILOT_PROJECT_DIR"),
}
_CALLERS: Final = {  # whose entries other agents run → those agents
    "claude-code": frozenset({"cursor", "grok-build", "vscode-copilot", "copilot-cli"}),
    "copilot-cli": frozenset({"vscode-copilot"}),
    "vscode-copilot": frozenset({"copilot-cli"}),
}


def detect_agent(agent: str, variable: Callable[[str], str], payload: Mapping[str, Any]) -> str:
    """The agent that runs the hook, given the agent in whose settings the entry is.

    `variable` reads an environment variable, if the payload does not tell.
    """
    callers = _CALLERS.get(agent)
    if callers is None:
        return agent
    keys = payload.keys()
    by_keys = next((name for name, known in _KEYS_BY_AGENT.items() if not known.isdisjoint(keys)), None)
    if by_keys is not None:
        return by_keys if by_keys in callers else agent
    by_variables = (name for name, names in _VARIABLES_BY_AGENT.items() if any(map(variable, names)))
    found = next(by_variables, agent)
    return found if found in callers else agent
