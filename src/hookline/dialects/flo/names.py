"""flo's own names: its events, the placeholders in its commands and the variables of its scripts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from itertools import chain
from typing import Final

from hookline.errors import BadTemplate
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.events import EVENTS as KINDS
from hookline.hooks.events import events_by_name
from hookline.hooks.outcome import SILENT, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import May
from hookline.hooks.templates import (
    DOUBLE_BRACES,
    DataTemplate,
    ShellTemplate,
    Template,
    parse_shell_template,
    parse_template,
)
from hookline.hooks.tools import VOCABULARIES, Vocabulary
from hookline.lazy_imports import lazy_pattern

NAME: Final = "flo"
VOCABULARY: Final[Vocabulary] = VOCABULARIES[NAME]
EVENTS: Final = events_by_name(NAME)
TOOL_EVENTS: Final = ("tool.before", "tool.after")

DEFAULT_TIMEOUT: Final = timedelta(milliseconds=5_000)
MIN_TIMEOUT_MILLISECONDS, MAX_TIMEOUT_MILLISECONDS = 1, 86_400_000  # milliseconds
SKILL_PRIORITY: Final = 1_000

ENVIRONMENT_VARIABLES: Final = ("PATH", "HOME", "USER", "SHELL", "TERM", "LANG")
SANDBOX: Final = "{{workspace}}"
_VARIABLE: Final = lazy_pattern(r"(?<!\\)\$\{?([A-Z][A-Z0-9_]*)\b(?!:?[-+=?])")
"""One that is read; ${NAME:-} knows that it may be unset."""
_ASSIGNED: Final = lazy_pattern(
    r"\b([A-Z][A-Z0-9_]*)\+?=|\b(?:read|for|select|printf\s+-v|getopts\s+\S+|mapfile|readarray)\s[^;&|\n$]*?\b([A-Z][A-Z0-9_]*)\b"
)
_SOURCE: Final = lazy_pattern(r"(?:^|[;&|(\s])(?:source|\.|eval)\s")
_SINGLE_QUOTED: Final = lazy_pattern(r"'[^']*'")
_SET_BY_BASH: Final = frozenset(
    (
        "BASH", "BASHOPTS", "BASHPID", "BASH_REMATCH", "BASH_SOURCE", "BASH_VERSION", "COLUMNS", "DIRSTACK", "EPOCHSECONDS", "EUID",
        "FUNCNAME", "HOSTNAME", "HOSTTYPE", "IFS", "LINENO", "LINES", "MACHTYPE", "OLDPWD", "OPTARG", "OPTIND", "OSTYPE",
        "PIPESTATUS", "PPID", "PWD", "RANDOM", "REPLY", "SECONDS", "SHLVL", "SRANDOM", "UID",
    )
)  # fmt: skip

_FACT_NAMES: Final[Mapping[str, str]] = {
    "toolName": "tool.name",
    "result": "tool | content",
    "sandbox": "workspace",
    "prompt": "prompt",
    "stopReason": "stop.reason",
    "agentId": "agent.id",
}
_FLO_NAMES: Final[Mapping[str, str]] = {fact: name for name, fact in _FACT_NAMES.items()}
_EVENTS_BY_NAME: Final[Mapping[str, tuple[str, ...]]] = {
    "toolName": TOOL_EVENTS,
    "input": TOOL_EVENTS,
    "result": ("tool.after",),
    "prompt": ("prompt.submit",),
    "stopReason": ("stop",),
}
KNOWN_NAMES: Final = "{{toolName}}, {{input.field}}, {{result}}, {{sandbox}}, {{prompt}}, {{stopReason}}, {{agentId}}"

_SCRIPT_EVENT_TYPES: Final = {
    "tool.before": "pre_tool_use",
    "tool.after": "post_tool_use",
    "prompt.submit": "user_prompt_submit",
    "stop": "stop",
    "agent.start": "agent_start",
    "agent.end": "agent_end",
}
_COMMON_VARIABLES: Final = {"agentId": "{{agent.id | or_empty}}"}
_TOOL_VARIABLES: Final = {"toolName": "{{tool.name | or_empty}}", "toolInput": "{{tool.input | or_empty}}"}
_EVENT_VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "tool.before": _TOOL_VARIABLES,
    "tool.after": {**_TOOL_VARIABLES, "toolResult": "{{tool | answer}}"},
    "prompt.submit": {"prompt": "{{prompt | or_empty}}"},
    "stop": {"stopReason": "{{stop.reason | or_empty}}"},
}
_LOG_TEMPLATES: Final = {
    "tool.before": "PreToolUse {{tool.name}} {{tool.input}}",
    "tool.after": "PostToolUse {{tool.name}} {{tool.input}} {{tool | answer}}",
    "prompt.submit": "UserPromptSubmit {{prompt}}",
    "stop": "Stop {{stop.reason}}",
    "agent.start": "AgentStart {{agent.id}}",
    "agent.end": "AgentEnd {{agent.id}}",
}


class OnError(Enum):
    """`continueOnError`: an exit code is an answer; a timeout, a failed start or a signal is an error."""

    UNSET = "a non-zero exit denies, an error does not"
    CONTINUE = "neither denies"
    BLOCK = "both deny"


def can_be_denied(event: str) -> bool:
    return bool(KINDS[event].accepts & May.DENY)


def result_parser(event: str, on_error: OnError) -> ResultParser:
    """On an event that cannot be denied, an exit code is only logged."""
    denies = can_be_denied(event) and on_error is not OnError.CONTINUE
    return ResultParser(ResultFormat.NONZERO if denies else ResultFormat.ERROR)


def outcome_on_error(event: str, on_error: OnError) -> Outcome:
    if on_error is not OnError.BLOCK:
        return SILENT
    return Outcome(Verdict.DENY) if can_be_denied(event) else Outcome(final=True)


def script_variables(event: str) -> DataTemplate:
    """The variables of a script. They always exist where flo documents them: an absent fact is an empty string."""
    texts = {**_COMMON_VARIABLES, **_EVENT_VARIABLES.get(event, {})}
    return DataTemplate(
        {"type": _SCRIPT_EVENT_TYPES[event], **{name: flo_template(text) for name, text in texts.items()}}
    )


def log_template(event: str) -> Template:
    return flo_template(_LOG_TEMPLATES[event])


def flo_template(text: str) -> Template:
    return parse_template(text, PlaceholderResolver(VOCABULARY))


def flo_shell_template(command: str) -> ShellTemplate:
    """Raises BadTemplate for a name that flo does not have, and where a value could be run as shell code."""
    return parse_shell_template(
        DOUBLE_BRACES.sub(lambda found: f"{{{{{_fact_name(found[1], found.start())}}}}}", command),
        PlaceholderResolver(VOCABULARY),
    )


def names_without_value(command: str, event: str) -> list[str]:
    """Names in the command that have no value on this event."""
    names = dict.fromkeys(found[1].strip() for found in DOUBLE_BRACES.finditer(command))
    return [name for name in names if event not in _EVENTS_BY_NAME.get(name.partition(".")[0], (event,))]


def unset_variables(command: str) -> list[str]:
    """Variables in capitals that a command reads and that nothing sets. Best effort: what it sources may set any."""
    if _SOURCE.search(command):
        return []
    text = _SINGLE_QUOTED.sub("", command)
    known = {*ENVIRONMENT_VARIABLES, *_SET_BY_BASH, *filter(None, chain.from_iterable(_ASSIGNED.findall(text)))}
    return [name for name in dict.fromkeys(_VARIABLE.findall(text)) if name not in known]


def write_command_text(source: str) -> str | None:
    """The command with flo's placeholders; None if flo has no name for one of them."""
    names = [_flo_name(found[1].strip()) for found in DOUBLE_BRACES.finditer(source)]
    if None in names:
        return None
    remaining = iter(names)
    return DOUBLE_BRACES.sub(lambda found: f"{{{{{next(remaining)}}}}}", source)


def _fact_name(name: str, position: int) -> str:
    name = name.strip()
    if name in _FACT_NAMES:
        return _FACT_NAMES[name]
    if name.startswith("input.") and name.strip(".") == name and "|" not in name:
        return f"tool.{name}"
    raise BadTemplate(f"{{{{{name}}}}} is not a name in flo", f"flo knows {KNOWN_NAMES}.", position)


def _flo_name(fact: str) -> str | None:
    if fact in _FLO_NAMES:
        return _FLO_NAMES[fact]
    for start in ("tool.input.", "input."):
        if fact.startswith(start) and "|" not in fact:
            return f"input.{fact.removeprefix(start)}"
    return None
