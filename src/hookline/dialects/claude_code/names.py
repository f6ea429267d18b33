"""Claude Code's own names: events, keys, defaults, and what a hook reads on stdin for each event."""

from __future__ import annotations

import os.path
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.hooks.actions.claude_result import DISPLAY_ONLY_EVENTS
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import FactPath
from hookline.hooks.events import EVENTS as KINDS
from hookline.hooks.events import events_by_name
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import May
from hookline.hooks.templates import ShellTemplate, Template, escape_braces, parse_template
from hookline.hooks.tools import VOCABULARIES

NAME: Final = "claude_code"
VOCABULARY: Final = VOCABULARIES[NAME]
EVENTS: Final = events_by_name(NAME)
TOOL_EVENTS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")
MATCHER_FACTS: Final[dict[str, tuple[FactPath, str]]] = {
    "SessionStart": (("session", "source"), "startup"),
    "SessionEnd": (("session", "reason"), "other"),
    "PreCompact": (("trigger",), "auto"),
    "Notification": (("notification", "type"), ""),
    "SubagentStart": (("subagent", "name"), ""),
    "SubagentStop": (("subagent", "name"), ""),
}
"""The fact that a matcher tests where there is no tool, and its value if the host does not give it."""

_IGNORED_KEYS: Final = ("rewakeMessage", "rewakeSummary", "cloud")  # they concern only Claude Code itself
COMMON_KEYS: Final = ("type", "if", "timeout", "statusMessage", "once")
HANDLER_KEYS: Final = {
    "command": (*COMMON_KEYS, "onFailure", "command", "args", "shell", "async", "asyncRewake", *_IGNORED_KEYS),
    "http": (*COMMON_KEYS, "onFailure", "url", "headers", "allowedEnvVars", "cloud"),
    "mcp_tool": (*COMMON_KEYS, "server", "tool", "input"),
    "prompt": (*COMMON_KEYS, "prompt", "model", "continueOnBlock"),
    "agent": (*COMMON_KEYS, "prompt", "model"),
}
_COMPONENT_FOLDERS: Final = frozenset(("agents", "commands", "skills"))
SHELLS: Final = ("bash", "powershell")
POWERSHELL_ARGV: Final = ("pwsh", "-NoProfile", "-NonInteractive", "-Command")

RESULT_PARSER: Final = ResultParser(ResultFormat.CLAUDE)
CONTEXT_RESULT_PARSER: Final = ResultParser(ResultFormat.CLAUDE, Audience.AGENT)
FAILURE_OUTCOME: Final = Outcome(notes=(Note("", Audience.USER),))
"""Blocks nothing; the user sees the failure."""

CONTINUE, BLOCK = "continue", "block"
"""The values of `onFailure`."""
MODEL_TYPES: Final = ("prompt", "agent")
MODEL_GUARDS: Final = {
    "PreToolUse": Outcome(Verdict.ASK),
    "UserPromptSubmit": Outcome(Verdict.DENY),
    "PreCompact": Outcome(Verdict.DENY),
}
"""What it counts as if a model that could have blocked does not answer. A permission request is for a person anyway."""


def failure_outcome(event_name: str, word: str) -> Outcome:
    """With `block`, a failure counts as exit code 2, but it never keeps an agent from stopping."""
    kind = KINDS[EVENTS[event_name]]
    if word != BLOCK or event_name in ("Stop", "SubagentStop") or kind.name in DISPLAY_ONLY_EVENTS:
        return FAILURE_OUTCOME
    return Outcome(Verdict.DENY) if kind.accepts & May.DENY else Outcome(notes=(Note("", Audience.AGENT),))


def body_result_parser(event_name: str, *, blocks: bool) -> ResultParser:
    """A plain-text body is context for the agent, unless failures block: then it counts as a failure."""
    takes_context = KINDS[EVENTS[event_name]].accepts & May.NOTES
    return CONTEXT_RESULT_PARSER if takes_context and not blocks else RESULT_PARSER


HOOK_ENVIRONMENT: Final = {
    "CLAUDECODE": "1",
    "CLAUDE_PROJECT_DIR": "{{workspace}}",
    "CLAUDE_CODE_SESSION_ID": "{{session.id}}",
}


def default_timeout(event_name: str, type_: str) -> timedelta:
    if type_ in MODEL_TYPES:
        return timedelta(seconds=30 if type_ == "prompt" else 60)
    return timedelta(seconds={"UserPromptSubmit": 30, "SessionEnd": 1.5}.get(event_name, 600))


def hook_environment(file: str = "") -> tuple[tuple[str, Template | None], ...]:
    names = PlaceholderResolver(VOCABULARY)
    given = dict(HOOK_ENVIRONMENT)
    if is_plugin_file(file):
        given["CLAUDE_PLUGIN_ROOT"] = escape_braces(plugin_root(file))
    return tuple((name, parse_template(text, names)) for name, text in given.items())


def is_plugin_file(file: str) -> bool:
    parts = PurePath(file).parts
    return parts[-2:] == ("hooks", "hooks.json") and parts[-3:-2] != (".github",)


def is_component_file(file: str) -> bool:
    """Whether it is an agent, a command or a skill of Claude Code, which may have hooks in its front matter."""
    path = PurePath(file)
    return path.suffix == ".md" and not _COMPONENT_FOLDERS.isdisjoint(path.parts)


def plugin_root(file: str) -> str:
    """The directory of the plugin that this hooks file belongs to."""
    return os.path.abspath(PurePath(file).parent.parent)


def template_sources(value: Any) -> Any:
    """The value with each template as its source text."""
    if isinstance(value, (Template, ShellTemplate)):
        return value.source
    if isinstance(value, dict):
        return {key: template_sources(held) for key, held in value.items()}
    return [template_sources(held) for held in value] if isinstance(value, (list, tuple)) else value
