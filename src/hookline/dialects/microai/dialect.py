"""Reads the `hooks` of `.microai/settings.json`: shell commands with a matcher and environment variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.dialect import Loaded, Place, Written
from hookline.dialects.microai.matcher import SHAPE, TONGUE, BadMatcher, matcher
from hookline.dialects.settings import (
    Entry,
    as_written,
    entries,
    file_schema,
    has_errors,
    hook_id,
    named_settings,
    shaped,
)
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.events import names_in
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import SILENT, Audience, Outcome, Verdict
from hookline.hooks.template import Template, template

NAME: Final = "microai"
EVENTS: Final = names_in(NAME)
TOOL_EVENTS: Final = ("tool.before", "tool.after")
KEYS: Final = ("matcher", "command", "timeout", "continueOnFailure", "condition")
TIMEOUT: Final = timedelta(milliseconds=5000)
CONDITION_TIMEOUT: Final = timedelta(milliseconds=1000)
LONGEST: Final = 86_400_000  # milliseconds: a day

VARIABLES: Final = {
    "TOOL_NAME": "{{tool.name}}",
    "INPUT": "{{tool.input | json}}",
    "OUTPUT": "{{tool.result | json}}",
    "PROMPT": "{{prompt}}",
    "TIMESTAMP": "{{time | utc}}",
    "SESSION_ID": "{{session.id}}",
    "USER_NAME": "{{user.name}}",
    "PROJECT_ROOT": "{{workspace}}",
    "PLATFORM": "{{host.name}}",
    "AGENT_NAME": "{{agent.name}}",
}
_SESSION: Final = ("SESSION_ID", "TIMESTAMP", "PROJECT_ROOT", "PLATFORM", "AGENT_NAME")
VARIABLES_OF: Final = {
    "tool.before": ("TOOL_NAME", "INPUT", "TIMESTAMP", "SESSION_ID"),
    "tool.after": ("TOOL_NAME", "INPUT", "OUTPUT", "TIMESTAMP", "SESSION_ID"),
    "prompt.submit": ("PROMPT", "TIMESTAMP", "SESSION_ID", "USER_NAME"),
    "session.start": _SESSION,
    "session.end": _SESSION,
}
CONTEXT_EVENTS: Final = ("session.start", "prompt.submit")
"""Here stdout is context for the agent."""

BLOCKING: Final = Reading(Reads.NONZERO, reason="Hook blocked: {output}")
BLOCKED: Final = Outcome(Verdict.DENY, "Hook blocked: {failure}")
ENDED: Final = Outcome(final=True)


class Microai:
    name = NAME
    places = (Place(".microai/settings.json"), Place(".microai/settings.local.json", local=True))

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).parent.name == ".microai":
            return True
        found = shaped(document, EVENTS)
        if found is None or not all("command" in entry and entry.keys() <= set(KEYS) for entry in found):
            return False
        own_events = not _OWN_EVENTS.isdisjoint(document.value["hooks"])
        return named_settings(document) or own_events or any(_is_own(entry) for entry in found)

    def load(self, document: Document) -> Loaded:
        problems: list[Problem] = []
        hooks = tuple(_hooks(document, problems))
        return Loaded(hooks, tuple(problems))

    def schema(self) -> dict[str, Any]:
        return file_schema("microai settings: the hooks", EVENTS, _entry_schema())

    def write(self, hooks: Iterable[Hook]) -> Written:
        from hookline.dialects.microai.write import written

        return written(hooks)


DIALECT: Final = Microai()

_OWN_EVENTS: Final = {"SessionStart", "SessionEnd"}


def _is_own(entry: dict[str, Any]) -> bool:
    """Whether it has a key that the entries of no other format with this shape have."""
    return "continueOnFailure" in entry or "condition" in entry


def _hooks(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    for entry in entries(document, problems, EVENTS):
        hook = _hook(entry, hook_id(document, entry.named, entry.index))
        if hook is not None:
            yield hook


def _hook(entry: Entry, id: str) -> Hook | None:
    """None after a problem."""
    at, before = entry.at, len(entry.at.problems)
    if at.unreadable():
        return None
    at.keys(KEYS, "a microai hook")
    when, command = _when(entry), _command(at)
    timeout, goes_on, condition = _timeout(at), _goes_on(at), at.get("condition")
    asked = None if condition is None else condition.text()
    if when is None or command is None or has_errors(at.problems[before:]):
        return None
    blocks = entry.event == "tool.before" and not goes_on
    run = Run(
        program(command, entry.event),
        BLOCKING if blocks else reading(entry.event),
        timeout,
        None if asked is None else program(asked, entry.event),
        CONDITION_TIMEOUT,
    )
    return Hook(
        id=id,
        event=entry.event,
        when=when,
        then=run,
        origin=Origin(at.document.file, at.line, NAME),
        group=NAME,
        timeout=run.longest,
        wait=entry.event != "tool.after",
        on_error=BLOCKED if blocks else SILENT if goes_on else ENDED,
    )


def _when(entry: Entry) -> Condition | None:
    place = entry.at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if entry.event not in TOOL_EVENTS:
        what = f"{place.place}: {entry.named} has no tool, so a matcher says nothing here."
        place.problem("ignored", what, "Leave it out.", severity=Severity.WARNING)
        return ALWAYS
    try:
        read = matcher(text)
    except BadMatcher as bad:
        place.problem("bad-matcher", f"{place.place}: {bad.what}", bad.hint)
        return None
    if read.doubt:
        place.problem("never-applies", f"{place.place}: {read.doubt}", read.hint, severity=Severity.WARNING)
    return read.condition


def _command(at: Reader) -> str | None:
    command = at.get("command")
    if command is None:
        at.problem("missing-key", f"{at.place}: command is missing.", "Write command and a shell command.")
        return None
    return command.text()


def _timeout(at: Reader) -> timedelta:
    """Absent or 0: the usual one."""
    timeout = at.get("timeout")
    hint = "microai counts milliseconds; write 5000 for five seconds."
    number = None if timeout is None else timeout.number(least=0, most=LONGEST, hint=hint)
    return timedelta(milliseconds=number) if number else TIMEOUT


def _goes_on(at: Reader) -> bool:
    flag = at.get("continueOnFailure")
    return flag is None or flag.flag() is not False


def program(command: str, event: str) -> Program:
    names = Names(TONGUE)
    return Program(as_written(command), stdin=Filled(template("{{event}}", names)), env=environment(event))


def environment(event: str) -> tuple[tuple[str, Template | None], ...]:
    """Every variable of the format; those that the event does not have are taken away where ours has them."""
    names, of_event = Names(TONGUE), VARIABLES_OF[event]
    return tuple((name, template(text, names) if name in of_event else None) for name, text in VARIABLES.items())


def reading(event: str) -> Reading:
    """Of a hook that cannot block: a non-zero exit is an error."""
    return Reading(Reads.ERROR, Audience.AGENT if event in CONTEXT_EVENTS else None)


def _entry_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["command"],
        "properties": {
            "matcher": {"type": "string", "pattern": SHAPE, "description": "A tool: Bash, Bash(git:*) or *."},
            "command": {"type": "string", "minLength": 1, "description": "Shell command."},
            "timeout": {"type": "number", "minimum": 0, "maximum": LONGEST, "description": "Milliseconds; 5000."},
            "continueOnFailure": {"type": "boolean", "default": True},
            "condition": {"type": "string", "minLength": 1, "description": "Runs first; the hook runs if it exits 0."},
        },
    }
