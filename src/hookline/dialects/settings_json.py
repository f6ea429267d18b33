"""settings.json: hooks listed by event, beside keys that are none of our business.

The entries by which agents call hookline. To whoever reads an agent's file as hooks they are none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.conversion import NotExpressible, action_not_expressible
from hookline.formatting import closest_match
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook
from hookline.hooks.protocols import TextPattern
from hookline.hooks.templates import ShellTemplate
from hookline.hooks.tools import Vocabulary
from hookline.patterns.matchers import Shorthand

_LAUNCHER: Final = "/hookline/bridge"
_ENGINE_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d{1,5}/hookline/([a-z-]{1,64})/\w{1,64}")
"""What older versions wrote as the `url` of an entry, where they wrote no command."""
_LAUNCHER_GUARD: Final = re.compile(
    r'\[ -x "\$0" \] \|\| (exit 0|\{ echo "[\w .,:;-]*" >&2; exit [12]; \}); '
    r'export HOOKLINE_ENTRY=project; exec "\$0" "\$@"'
)
"""What a project's entry does where hookline is not installed."""


def agent_of_own_entry(command: str) -> str | None:
    """The agent for which a command calls our launcher, wherever that is, or an older version wrote an address.

    None for any other text.
    """
    address = _ENGINE_ADDRESS.fullmatch(command)
    if address is not None:
        return address[1]
    if _LAUNCHER not in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words[:2] == ["sh", "-c"] and len(words) == 6 and _LAUNCHER_GUARD.fullmatch(words[2]):
        words = words[3:]
    return words[1] if len(words) == 3 and words[0].endswith(_LAUNCHER) else None


Schema = dict[str, Any]

_GLOB_CHARACTERS: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class EventEntry:
    """One element of an event's list."""

    at: Node
    event_name: str  # the event as the dialect calls it
    event: str
    index: int


def parse_entries(document: Document, problems: list[Problem], events: Mapping[str, str]) -> Iterator[EventEntry]:
    """`events` are the dialect's own names for ours. What is no list of mappings has noted its problem."""
    at = Node.of(document, problems)
    if at.mapping() is None:
        return
    _warn_misplaced_hooks(at, events)
    hooks = at.get("hooks")
    if hooks is None or hooks.mapping() is None:
        return
    for name, place in hooks.entries():
        if name not in events:
            guess = closest_match(name, events)
            hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(events)}."
            place.add_problem("unknown-event", f"{place.location}: there is no event {name!r}.", hint, at_key=True)
            continue
        for index, each in enumerate(place.items()):
            if each.mapping() is not None:
                yield EventEntry(each, name, events[name], index)


def _warn_misplaced_hooks(at: Node, events: Mapping[str, str]) -> None:
    """Warns of hooks that stand where nobody reads them."""
    for name, place in at.entries():
        if name in events and isinstance(place.value, list):
            what = f"{place.location}: hooks beside the key hooks are not read."
            hint = f'Write "hooks": {{"{name}": […]}}.'
            place.add_problem("not-read", what, hint, at_key=True, severity=Severity.WARNING)


def is_settings_file(document: Document) -> bool:
    """Whether its name says that it may be ours. Claude Code's files have this name too, and rules of their own."""
    path = PurePath(document.file)
    return path.name in ("settings.json", "settings.local.json") and path.parent.name != ".claude"


def recognise_entries(document: Document, events: Mapping[str, str]) -> list[dict[str, Any]] | None:
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


def literal_shell_template(command: str) -> ShellTemplate:
    """A command in which nothing is a placeholder: values reach it through its environment and stdin."""
    return ShellTemplate(command, (), (command,))


def settings_schema(title: str, events: Mapping[str, str], entry: Schema) -> Schema:
    listed: Schema = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
    hooks: Schema = {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(events, listed)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {"hooks": hooks},
        "$defs": {"entry": entry},
    }


def check_expressible(hook: Hook) -> None:
    """Raises Unsaid for what no entry of such a file can say, whatever it does."""
    if not hook.enabled:
        raise NotExpressible("it is switched off")
    if hook.order:
        raise NotExpressible(f"its order {hook.order}")
    if hook.scope != GLOBAL_SCOPE:
        raise NotExpressible("its scope")
    if hook.limit != UNLIMITED:
        raise NotExpressible("how often it may fire")
    if hook.tags:
        raise NotExpressible("its tags")


def require_run_action(hook: Hook) -> RunProgram:
    if not isinstance(hook.then, RunProgram):
        raise action_not_expressible(hook.then)
    return hook.then


def require_shell_command(program: CommandTemplate) -> str:
    """The shell text of a program that runs in the session's directory with our environment."""
    if program.shell is None:
        raise NotExpressible("a program without a shell")
    if program.shell.names:
        raise NotExpressible(f"{{{{{program.shell.names[0]}}}}} in its command")
    if program.inherit_env is not True:
        raise NotExpressible("an environment without ours")
    if program.cwd is not None:
        raise NotExpressible("a directory of its own")
    return program.shell.source


def translate_tool_names(compiled: TextPattern, vocabulary: Vocabulary, ours: Vocabulary) -> tuple[str, ...]:
    """The plain names that a pattern for a tool's name is made of, in our vocabulary. Raises Unsaid for any other."""
    if not isinstance(compiled, Shorthand) or compiled.word not in ("tool", "exactly"):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.source}")
    names = [compiled.text] if compiled.word == "exactly" else [part.strip() for part in compiled.text.split("|")]
    if compiled.word == "tool" and any(_GLOB_CHARACTERS.search(name) for name in names):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.text}")
    return tuple(dict.fromkeys(_translate_tool_name(ours, name, vocabulary) for name in names))


def _translate_tool_name(ours: Vocabulary, name: str, vocabulary: Vocabulary) -> str:
    """What another vocabulary's name for a kind of tool is called in ours."""
    if vocabulary == ours:
        return name
    kind = next((kind for kind, names in vocabulary.names.items() if name in names), None)
    known = ours.names.get(kind, ()) if kind is not None else ()
    return known[0] if known else name
