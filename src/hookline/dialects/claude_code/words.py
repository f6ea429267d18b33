"""The format's own words: events, keys, defaults, and what a hook is told about each event."""

from __future__ import annotations

import os.path
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions.claude_answer import ONLY_SHOWN
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.event import Path
from hookline.hooks.events import EVENTS as KINDS
from hookline.hooks.events import names_in
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict
from hookline.hooks.placeholder import DOUBLE
from hookline.hooks.template import Template, template
from hookline.hooks.tools import TONGUES

NAME: Final = "claude_code"
TONGUE: Final = TONGUES[NAME]
EVENTS: Final = names_in(NAME)
UNHEARD: Final = (
    "PostToolBatch", "Notification", "UserPromptExpansion", "StopFailure", "PostCompact", "PreModelSwitch",
    "PostModelSwitch", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
    "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
    "FileChanged", "DirectoryAdded", "MessageDisplay",
)  # fmt: skip
"""Events that no other agent has: their hooks run in Claude Code alone."""
TOOL_EVENTS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")
MATCHED: Final[dict[str, tuple[Path, str]]] = {
    "SessionStart": (("session", "source"), "startup"),
    "SessionEnd": (("session", "reason"), "other"),
    "PreCompact": (("trigger",), "auto"),
    "SubagentStart": (("subagent", "name"), ""),
    "SubagentStop": (("subagent", "name"), ""),
}
"""What a matcher is asked about where there is no tool, and what counts where the host does not tell it."""

_NOT_HERE: Final = ("rewakeMessage", "rewakeSummary", "cloud")  # what they are about is in Claude Code alone
COMMON_KEYS: Final = ("type", "if", "timeout", "statusMessage", "once")
HANDLER_KEYS: Final = {
    "command": (*COMMON_KEYS, "onFailure", "command", "args", "shell", "async", "asyncRewake", *_NOT_HERE),
    "http": (*COMMON_KEYS, "onFailure", "url", "headers", "allowedEnvVars", "cloud"),
    "mcp_tool": (*COMMON_KEYS, "server", "tool", "input"),
    "prompt": (*COMMON_KEYS, "prompt", "model", "continueOnBlock"),
    "agent": (*COMMON_KEYS, "prompt", "model"),
}
GROUP_KEYS: Final = ("matcher", "hooks")
SHELLS: Final = ("bash", "powershell")
POWERSHELL: Final = ("pwsh", "-NoProfile", "-NonInteractive", "-Command")
SHORTEST, LONGEST = 0.001, 86_400  # seconds

READING: Final = Reading(Reads.CLAUDE)
TEXT_IS_CONTEXT: Final = Reading(Reads.CLAUDE, Audience.AGENT)
FAILED: Final = Outcome(notes=(Note("", Audience.USER),))
"""Nothing is blocked; the user is told."""

CONTINUE, BLOCK = "continue", "block"
"""What `onFailure` says."""


def failing(named: str, word: str) -> Outcome:
    """What a failure counts as: with `block` the same as exit code 2, but never so that an agent cannot stop."""
    kind = KINDS[EVENTS[named]]
    if word != BLOCK or named in ("Stop", "SubagentStop") or kind.name in ONLY_SHOWN:
        return FAILED
    return Outcome(Verdict.DENY) if kind.accepts & May.DENY else Outcome(notes=(Note("", Audience.AGENT),))


def body_reading(named: str, *, blocks: bool) -> Reading:
    """A body that is plain text is context; but to a hook whose failure blocks it is a failure."""
    speaks = KINDS[EVENTS[named]].accepts & May.NOTES
    return TEXT_IS_CONTEXT if speaks and not blocks else READING


_BASE: Final = {
    "session_id": "{{session.id}}",
    "transcript_path": "{{session.transcript | or_empty}}",
    "cwd": "{{cwd}}",
}
_MODE: Final = {"permission_mode": "{{session.mode | or default}}"}
_CALL: Final = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
_ID: Final = {"tool_use_id": "{{tool.id}}"}
_AGENT: Final = {"agent_id": "{{subagent.id}}", "agent_type": "{{subagent.name}}"}
_ACTIVE: Final = {"stop_hook_active": "{{stop.active | or false}}"}
_OWN: Final = {
    "PreToolUse": {**_MODE, **_CALL, **_ID},
    "PostToolUse": {**_MODE, **_CALL, "tool_response": "{{tool.result}}", **_ID},
    "PostToolUseFailure": {**_MODE, **_CALL, **_ID, "error": "{{tool.error | or_empty}}"},
    "PermissionRequest": {**_MODE, **_CALL, "permission_suggestions": "{{approval.suggestions}}"},
    "UserPromptSubmit": {**_MODE, "prompt": "{{prompt}}"},
    "SessionStart": {"source": "{{session.source | or startup}}"},
    "SessionEnd": {"reason": "{{session.reason | or other}}"},
    "Stop": {**_MODE, **_ACTIVE, "last_assistant_message": "{{stop.message}}"},
    "SubagentStop": {**_MODE, **_ACTIVE, **_AGENT, "last_assistant_message": "{{stop.message}}"},
    "SubagentStart": _AGENT,
    "PreCompact": {"trigger": "{{trigger | or auto}}", "custom_instructions": ""},
}


def usual_timeout(named: str, type_: str) -> timedelta:
    if type_ in ("prompt", "agent"):
        return timedelta(seconds=30 if type_ == "prompt" else 60)
    return timedelta(seconds={"UserPromptSubmit": 30, "SessionEnd": 1.5}.get(named, 600))


def told(named: str) -> dict[str, str]:
    """Each key of what a hook is told, as a template; without the event's name."""
    return {**_BASE, **_OWN[named]}


def stdin(named: str) -> Filled:
    own = {key: template(text, Names(TONGUE)) if text else "" for key, text in told(named).items()}
    first = {key: own[key] for key in (*_BASE, *_MODE) if key in own}
    return Filled({**first, "hook_event_name": named, **own})


def environment(file: str = "") -> tuple[tuple[str, Template | None], ...]:
    names = Names(TONGUE)
    given = {"CLAUDE_PROJECT_DIR": "{{workspace}}", "CLAUDE_CODE_SESSION_ID": "{{session.id}}"}
    if is_plugin(file):
        given["CLAUDE_PLUGIN_ROOT"] = as_it_is(plugin_root(file))
    return tuple((name, template(text, names)) for name, text in given.items())


def is_plugin(file: str) -> bool:
    return PurePath(file).parts[-2:] == ("hooks", "hooks.json")


def plugin_root(file: str) -> str:
    """The directory of the plugin whose hooks these are."""
    return os.path.abspath(PurePath(file).parent.parent)


def as_it_is(text: str) -> str:
    """The text as a template in which nothing of it is a placeholder."""
    return DOUBLE.sub(lambda found: "{{open_braces}}" + found[0][2:], text)


def sources(value: Any) -> Any:
    """A filled value as it was written."""
    if isinstance(value, Template):
        return value.source
    if isinstance(value, dict):
        return {key: sources(held) for key, held in value.items()}
    return [sources(held) for held in value] if isinstance(value, (list, tuple)) else value
