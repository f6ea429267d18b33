"""The words of flo: its events, the names in its commands, and the variables of its scripts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Final

from hookline.hooks.action import May
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.events import EVENTS as KINDS
from hookline.hooks.events import names_in
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import SILENT, Outcome, Verdict
from hookline.hooks.placeholder import DOUBLE
from hookline.hooks.template import BadTemplate, ShellTemplate, Template, shell_template, template
from hookline.hooks.tools import TONGUES, Tongue

NAME: Final = "flo"
TONGUE: Final[Tongue] = TONGUES[NAME]
EVENTS: Final = names_in(NAME)
TOOL_EVENTS: Final = ("tool.before", "tool.after")

TIMEOUT: Final = timedelta(milliseconds=5_000)
SHORTEST, LONGEST = 1, 86_400_000  # milliseconds
SKILL_PRIORITY: Final = 1_000

ENVIRONMENT: Final = ("PATH", "HOME", "USER", "SHELL", "TERM", "LANG")
SANDBOX: Final = "{{workspace}}"

_FACTS: Final[Mapping[str, str]] = {
    "toolName": "tool.name",
    "result": "tool | content",
    "sandbox": "workspace",
    "prompt": "prompt",
    "stopReason": "stop.reason",
    "agentId": "agent.id",
}
_FLO_NAMES: Final[Mapping[str, str]] = {fact: name for name, fact in _FACTS.items()}
_ONLY_IN: Final[Mapping[str, tuple[str, ...]]] = {
    "toolName": TOOL_EVENTS,
    "input": TOOL_EVENTS,
    "result": ("tool.after",),
    "prompt": ("prompt.submit",),
    "stopReason": ("stop",),
}
KNOWN_NAMES: Final = "{{toolName}}, {{input.field}}, {{result}}, {{sandbox}}, {{prompt}}, {{stopReason}}, {{agentId}}"

_TYPES: Final = {
    "tool.before": "pre_tool_use",
    "tool.after": "post_tool_use",
    "prompt.submit": "user_prompt_submit",
    "stop": "stop",
    "agent.start": "agent_start",
    "agent.end": "agent_end",
}
_EVERYWHERE: Final = {"agentId": "{{agent.id | or_empty}}"}
_TOOL: Final = {"toolName": "{{tool.name | or_empty}}", "toolInput": "{{tool.input | or_empty}}"}
_VARIABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "tool.before": _TOOL,
    "tool.after": {**_TOOL, "toolResult": "{{tool | answer}}"},
    "prompt.submit": {"prompt": "{{prompt | or_empty}}"},
    "stop": {"stopReason": "{{stop.reason | or_empty}}"},
}
_LOGGED: Final = {
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
    GO_ON = "neither denies"
    BLOCK = "both deny"


def can_be_denied(event: str) -> bool:
    return bool(KINDS[event].accepts & May.DENY)


def reading(event: str, on_error: OnError) -> Reading:
    """After the fact an exit code is only logged."""
    answers = can_be_denied(event) and on_error is not OnError.GO_ON
    return Reading(Reads.NONZERO if answers else Reads.ERROR)


def answer_to_error(event: str, on_error: OnError) -> Outcome:
    if on_error is not OnError.BLOCK:
        return SILENT
    return Outcome(Verdict.DENY) if can_be_denied(event) else Outcome(final=True)


def variables(event: str) -> Filled:
    """What a script finds defined. They always exist where the format says so: an absent fact is an empty text."""
    texts = {**_EVERYWHERE, **_VARIABLES.get(event, {})}
    return Filled({"type": _TYPES[event], **{name: text_of(text) for name, text in texts.items()}})


def logged(event: str) -> Template:
    return text_of(_LOGGED[event])


def text_of(text: str) -> Template:
    return template(text, Names(TONGUE))


def shell_text(command: str) -> ShellTemplate:
    """The command with flo's names; raises BadTemplate for another name, and where a value could become shell text."""
    return shell_template(DOUBLE.sub(lambda found: f"{{{{{_fact(found[1], found.start())}}}}}", command), Names(TONGUE))


def names_elsewhere(command: str, event: str) -> list[str]:
    """Names in the command that have no value on this event."""
    names = dict.fromkeys(found[1].strip() for found in DOUBLE.finditer(command))
    return [name for name in names if event not in _ONLY_IN.get(name.partition(".")[0], (event,))]


def flo_text(source: str) -> str | None:
    """A command in flo's names; None where it has a placeholder for which flo has none."""
    names = [_flo_name(found[1].strip()) for found in DOUBLE.finditer(source)]
    if None in names:
        return None
    left = iter(names)
    return DOUBLE.sub(lambda found: f"{{{{{next(left)}}}}}", source)


def _fact(name: str, position: int) -> str:
    name = name.strip()
    if name in _FACTS:
        return _FACTS[name]
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
