"""Reads the `hooks` of `.ai_agents/settings.json`: groups with a matcher, JSON on stdin, exit codes and JSON answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.dialect import Loaded, Place, Written
from hookline.dialects.settings import (
    Entry,
    as_written,
    command_of,
    entries,
    file_schema,
    has_errors,
    hook_id,
    named_settings,
    refuse_more,
    run_of,
    shaped,
    tool_names,
)
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import ALWAYS, All, Always, Not, all_of
from hookline.hooks.conditions.text import Is, Matches
from hookline.hooks.events import name_in, names_in
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import Audience, Note, Outcome
from hookline.hooks.template import Template, template
from hookline.hooks.tools import TONGUES, Tongue, ToolName
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern
from hookline.patterns.spelt import spelt

NAME: Final = "ai_agents"
TONGUE: Final = TONGUES[NAME]
EVENTS: Final = names_in(NAME)
TOOL_EVENTS: Final = ("tool.before", "tool.after")
GROUP_KEYS: Final = ("matcher", "hooks")
HOOK_KEYS: Final = ("type", "command", "timeout")
TIMEOUT: Final = timedelta(seconds=60)
SHORTEST, LONGEST = 0.001, 86_400  # seconds

READING: Final = Reading(Reads.JSON, Audience.USER)
FAILED: Final = Outcome(notes=(Note("", Audience.USER),))
"""A failure never blocks; the user is told."""
SUCCEEDED: Final = Not(Is(("tool", "ok"), False))
_SPECIAL: Final = re.compile(r"[|*+?()\[\]{}^$\\]")
_STDIN: Final = {
    "session_id": "{{session.id}}",
    "cwd": "{{cwd}}",
    "hook_event_name": "",
    "tool_name": "{{tool.name}}",
    "tool_input": "{{tool.input}}",
    "tool_response": "{{tool.result | message}}",
    "prompt": "{{prompt}}",
}
_COMMON: Final = ("session_id", "cwd", "hook_event_name")
_STDIN_OF: Final = {
    "tool.before": (*_COMMON, "tool_name", "tool_input"),
    "tool.after": (*_COMMON, "tool_name", "tool_input", "tool_response"),
    "prompt.submit": (*_COMMON, "prompt"),
}


class AiAgents:
    name = NAME
    places = (
        Place(".ai_agents/settings.json", user=True),
        Place(".ai_agents/settings.json"),
        Place(".ai_agents/settings.local.json", local=True),
    )

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).parent.name == ".ai_agents":
            return True
        found = shaped(document, EVENTS)
        if found is None or not all(_is_group(entry) for entry in found):
            return False
        return named_settings(document)  # no key and no event is its own

    def load(self, document: Document) -> Loaded:
        problems: list[Problem] = []
        hooks = tuple(_hooks(document, problems))
        return Loaded(hooks, tuple(problems))

    def schema(self) -> dict[str, Any]:
        return file_schema("ai_agents settings: the hooks", EVENTS, _group_schema())

    def write(self, hooks: Iterable[Hook]) -> Written:
        return _written(hooks)


DIALECT: Final = AiAgents()


def _is_group(entry: dict[str, Any]) -> bool:
    hooks = entry.get("hooks")
    if not isinstance(hooks, list) or not entry.keys() <= set(GROUP_KEYS):
        return False
    return all(isinstance(hook, dict) and hook.get("type") == "command" for hook in hooks)


def _hooks(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    counts: dict[str, int] = {}
    for entry in entries(document, problems, EVENTS):
        before = len(problems)
        entry.at.keys(GROUP_KEYS, "a group")
        unknown = has_errors(problems[before:])
        when, listed = _when(entry), _listed(entry.at)
        for place in listed.items() if listed is not None else ():
            index = counts.get(entry.named, 0)
            counts[entry.named] = index + 1
            hook = _hook(place, entry, when or ALWAYS, hook_id(document, entry.named, index))
            if hook is not None and when is not None and not unknown:
                yield hook


def _listed(at: Reader) -> Reader | None:
    hooks = at.get("hooks")
    if hooks is None:
        hint = 'Write "hooks": [{"type": "command", "command": "…"}].'
        at.problem("missing-key", f"{at.place}: hooks is missing.", hint)
        return None
    return hooks if hooks.sequence() is not None else None


def _hook(at: Reader, entry: Entry, when: Condition, id: str) -> Hook | None:
    """None after a problem."""
    before = len(at.problems)
    if at.unreadable():
        return None
    at.keys(HOOK_KEYS, "a hook")
    if has_errors(at.problems[before:]):
        return None
    command, timeout = _command(at), _timeout(at)
    if command is None or has_errors(at.problems[before:]):
        return None
    return Hook(
        id=id,
        event=entry.event,
        when=all_of([when, SUCCEEDED]) if entry.event == "tool.after" else when,
        then=Run(_program(command, entry.event), READING, timeout),
        origin=Origin(at.document.file, at.line, NAME),
        group=NAME,
        timeout=timeout,
        on_error=FAILED,
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
    return _matcher(place, text)


def _matcher(place: Reader, text: str) -> Condition:
    if text in ("", "*"):
        return ALWAYS
    if not _SPECIAL.search(text):
        return Matches(ToolName(TONGUE), spelt("exactly", text))
    try:
        return Matches(ToolName(TONGUE), pattern(text, Syntax.PYTHON, whole=True))
    except BadPattern as bad:
        what = f"{place.place}: {bad.why}; it is compared as it stands."
        place.problem("bad-pattern", what, "Write a name, names as Edit|Write, or *.")
        return Matches(ToolName(TONGUE), spelt("exactly", text))


def _command(at: Reader) -> str | None:
    for key, hint in (("type", 'Write "type": "command".'), ("command", "Write command and a shell command.")):
        if at.get(key) is None:
            at.problem("missing-key", f"{at.place}: {key} is missing.", hint)
    type_, command = at.get("type"), at.get("command")
    if type_ is not None:
        type_.one_of(("command",), hint="command is the only type.")
    return None if command is None else command.text()


def _timeout(at: Reader) -> timedelta:
    timeout = at.get("timeout")
    hint = "ai_agents counts seconds; write 60 for a minute."
    number = None if timeout is None else timeout.number(least=SHORTEST, most=LONGEST, hint=hint)
    return TIMEOUT if number is None else timedelta(seconds=number)


def _program(command: str, event: str) -> Program:
    return Program(as_written(command), stdin=_stdin(event), env=_env())


def _stdin(event: str) -> Filled:
    """The keys in the order in which the format shows them."""
    given: dict[str, Any] = {key: template(_STDIN[key], Names(TONGUE)) for key in _STDIN_OF[event]}
    return Filled({**given, "hook_event_name": name_in(NAME, event)})


def _env() -> tuple[tuple[str, Template | None], ...]:
    return (("EDITED_FILE", template("{{tool.input.file_path | text}}", Names(TONGUE))),)


def _group_schema() -> dict[str, Any]:
    hook = {
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "command"],
        "properties": {
            "type": {"const": "command"},
            "command": {"type": "string", "minLength": 1, "description": "Bash command."},
            "timeout": {"type": "number", "minimum": SHORTEST, "maximum": LONGEST, "description": "Seconds; 60."},
        },
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["hooks"],
        "properties": {
            "matcher": {"type": "string", "description": "A tool's name, a regular expression for it, or *."},
            "hooks": {"type": "array", "items": hook},
        },
    }


def _written(hooks: Iterable[Hook]) -> Written:
    said: dict[str, list[dict[str, Any]]] = {}
    unsaid: list[str] = []
    for hook in hooks:
        try:
            _add(said, hook)
        except Unsaid as missing:
            unsaid.append(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {missing}")
    return Written({"hooks": said}, "json", tuple(unsaid))


def _add(said: dict[str, list[dict[str, Any]]], hook: Hook) -> None:
    """Hooks that follow each other with one matcher share a group."""
    named = name_in(NAME, hook.event)
    if named is None:
        raise Unsaid(f"the event {hook.event}")
    matcher, value = _matcher_value(hook), _hook_value(hook)
    groups = said.setdefault(named, [])
    if not groups or groups[-1].get("matcher") != matcher:
        groups.append({"hooks": []} if matcher is None else {"matcher": matcher, "hooks": []})
    groups[-1]["hooks"].append(value)


def _hook_value(hook: Hook) -> dict[str, Any]:
    refuse_more(hook)
    run = run_of(hook)
    if not hook.wait:
        raise Unsaid("that the agent does not wait for it")
    if run.only_if is not None:
        raise Unsaid("only_if")
    if (run.reading, hook.on_error) != (READING, FAILED):
        raise Unsaid(f"how its end is read: {run.reading.how}")
    command = command_of(run.program)
    if run.program.stdin not in (None, _stdin(hook.event)) or not set(run.program.env) <= set(_env()):
        raise Unsaid("what it is told on stdin and in its environment")
    value: dict[str, Any] = {"type": "command", "command": command}
    if run.timeout != TIMEOUT:
        seconds = run.timeout.total_seconds()
        value["timeout"] = int(seconds) if seconds.is_integer() else seconds
    return value


def _matcher_value(hook: Hook) -> str | None:
    """None for every tool."""
    when = hook.when
    if hook.event == "tool.after":
        when = _after_success(when)
    if isinstance(when, Always):
        return None
    if hook.event not in TOOL_EVENTS or not isinstance(when, Matches) or not isinstance(when.subject, ToolName):
        raise Unsaid("its condition")
    return _name_pattern(when.pattern, when.subject.tongue)


def _after_success(when: Condition) -> Condition:
    if when == SUCCEEDED:
        return ALWAYS
    if isinstance(when, All) and SUCCEEDED in when.parts:
        return all_of(part for part in when.parts if part != SUCCEEDED)
    raise Unsaid("that it runs after a failed tool too")


def _name_pattern(compiled: Any, tongue: Tongue) -> str:
    if isinstance(compiled, Pattern) and compiled.syntax is Syntax.PYTHON and compiled.whole and tongue == TONGUE:
        return compiled.source
    names = tool_names(compiled, tongue, TONGUE)
    return "|".join(re.escape(name) if _SPECIAL.search(name) else name for name in names)
