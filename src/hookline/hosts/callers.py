"""Who runs a hook: some agents obey other agents' files too, and then call us by the other's name.

GitHub Copilot CLI and Cursor run the hooks in Claude Code's settings. An agent may also have been started by another
one and have its variables, so what the payload looks like counts first; Claude Code's own says no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_OF_CURSOR: Final = frozenset({"conversation_id", "generation_id", "cursor_version", "workspace_roots"})
_OF_COPILOT: Final = frozenset({"timestamp", "sessionId", "hookName"})
_OF_CLAUDE: Final = frozenset({"prompt_id", "permission_mode", "transcript_path"})
_VARIABLES: Final = {
    "cursor": ("CURSOR_VERSION", "CURSOR_PROJECT_DIR", "CURSOR_TRACE_ID"),
    "copilot-cli": ("COPILOT_CLI", "COPILOT_PROJECT_DIR"),
}

VARIABLES: Final = ("CLAUDECODE", *(name for names in _VARIABLES.values() for name in names))
"""Those that are looked at."""


def really_called_by(agent: str, environ: Mapping[str, str], payload: Mapping[str, Any]) -> str:
    """The agent that runs the hook, where an entry in the settings of `agent` may be obeyed by another one."""
    if agent != "claude-code":
        return agent
    keys = payload.keys()
    if keys & _OF_CURSOR:
        return "cursor"
    if keys & _OF_COPILOT:
        return "copilot-cli"
    if keys & _OF_CLAUDE or environ.get("CLAUDECODE"):
        return agent
    return next((name for name, variables in _VARIABLES.items() if any(map(environ.get, variables))), agent)
