"""settings.json: hooks listed by event, beside keys that are none of our business."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity, nearest
from hookline.config.shape import Reader
from hookline.dialects.unsaid import Unsaid, unsaid_action
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.condition import TextPattern
from hookline.hooks.hook import EVERYWHERE, UNLIMITED, Hook
from hookline.hooks.template import ShellTemplate
from hookline.hooks.tools import Tongue
from hookline.patterns.spelt import Spelt

Schema = dict[str, Any]

_GLOB: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of an event's list."""

    at: Reader
    named: str  # the event as the dialect calls it
    event: str
    index: int


def entries(document: Document, problems: list[Problem], events: Mapping[str, str]) -> Iterator[Entry]:
    """`events` are the dialect's own names for ours. What is no list of mappings has noted its problem."""
    at = Reader.of(document, problems)
    if at.mapping() is None:
        return
    _beside(at, events)
    hooks = at.get("hooks")
    if hooks is None or hooks.mapping() is None:
        return
    for name, place in hooks.entries():
        if name not in events:
            guess = nearest(name, events)
            hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(events)}."
            place.problem("unknown-event", f"{place.place}: there is no event {name!r}.", hint, at_key=True)
            continue
        for index, each in enumerate(place.items()):
            if each.mapping() is not None:
                yield Entry(each, name, events[name], index)


def _beside(at: Reader, events: Mapping[str, str]) -> None:
    """Warns of hooks that stand where nobody reads them."""
    for name, place in at.entries():
        if name in events and isinstance(place.value, list):
            what = f"{place.place}: hooks beside the key hooks are not read."
            hint = f'Write "hooks": {{"{name}": […]}}.'
            place.problem("not-read", what, hint, at_key=True, severity=Severity.WARNING)


def named_settings(document: Document) -> bool:
    """Whether its name says that it may be ours. Claude Code's files have this name too, and rules of their own."""
    path = PurePath(document.file)
    return path.name in ("settings.json", "settings.local.json") and path.parent.name != ".claude"


def shaped(document: Document, events: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """Every entry of a file that speaks of these events alone; None for any other file, and for one without entries."""
    hooks = document.value.get("hooks") if isinstance(document.value, dict) else None
    if not isinstance(hooks, dict) or not hooks or not hooks.keys() <= events.keys():
        return None
    if not all(isinstance(listed, list) for listed in hooks.values()):
        return None
    found = [entry for listed in hooks.values() for entry in listed]
    return found if found and all(isinstance(entry, dict) for entry in found) else None


def hook_id(document: Document, named: str, index: int) -> str:
    return f"{PurePath(document.file).name}:{named}[{index}]"


def has_errors(problems: list[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def as_written(command: str) -> ShellTemplate:
    """A command in which nothing is a placeholder: values reach it through its environment and stdin."""
    return ShellTemplate(command, (), (command,))


def file_schema(title: str, events: Mapping[str, str], entry: Schema) -> Schema:
    listed: Schema = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
    hooks: Schema = {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(events, listed)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {"hooks": hooks},
        "$defs": {"entry": entry},
    }


def refuse_more(hook: Hook) -> None:
    """Raises Unsaid for what no entry of such a file can say, whatever it does."""
    if not hook.enabled:
        raise Unsaid("it is switched off")
    if hook.order:
        raise Unsaid(f"its order {hook.order}")
    if hook.scope != EVERYWHERE:
        raise Unsaid("its scope")
    if hook.limit != UNLIMITED:
        raise Unsaid("how often it may fire")
    if hook.tags:
        raise Unsaid("its tags")


def run_of(hook: Hook) -> Run:
    if not isinstance(hook.then, Run):
        raise unsaid_action(hook.then)
    return hook.then


def command_of(program: Program) -> str:
    """The shell text of a program that runs in the session's directory with our environment."""
    if program.shell is None:
        raise Unsaid("a program without a shell")
    if program.shell.names:
        raise Unsaid(f"{{{{{program.shell.names[0]}}}}} in its command")
    if program.inherit_env is not True:
        raise Unsaid("an environment without ours")
    if program.cwd is not None:
        raise Unsaid("a directory of its own")
    return program.shell.source


def tool_names(compiled: TextPattern, tongue: Tongue, ours: Tongue) -> tuple[str, ...]:
    """The plain names that a pattern for a tool's name is made of, in our tongue. Raises Unsaid for any other."""
    if not isinstance(compiled, Spelt) or compiled.word not in ("tool", "exactly"):
        raise Unsaid(f"a pattern for the tool's name: {compiled.source}")
    names = [compiled.text] if compiled.word == "exactly" else [part.strip() for part in compiled.text.split("|")]
    if compiled.word == "tool" and any(_GLOB.search(name) for name in names):
        raise Unsaid(f"a pattern for the tool's name: {compiled.text}")
    return tuple(dict.fromkeys(_in_words_of(ours, name, tongue) for name in names))


def _in_words_of(ours: Tongue, name: str, tongue: Tongue) -> str:
    """What another tongue's name for a kind of tool is called in ours."""
    if tongue == ours:
        return name
    kind = next((kind for kind, names in tongue.names.items() if name in names), None)
    known = ours.names.get(kind, ()) if kind is not None else ()
    return known[0] if known else name
