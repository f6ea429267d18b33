"""What the settings.json dialects share: hooks listed by event, beside keys that are not about hooks.

Agents call hookline through entries in the same files. Dialects skip them; `agent_of_own_entry` recognises them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.conversion import NotExpressible, spell_mcp_name, translate_tool_name
from hookline.dialects.dialect import LoadResult
from hookline.dialects.json_schema import describe, event_properties, nullable
from hookline.formatting import closest_match, file_label
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import Not
from hookline.hooks.conditions.text import Equals
from hookline.hooks.hook import GLOBAL_SCOPE, Hook
from hookline.hooks.protocols import TextPattern
from hookline.hooks.templates import ShellTemplate
from hookline.hooks.tools import Vocabulary
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand

Schema = dict[str, Any]

UNREADABLE: Final = object()
GROUP_KEYS: Final = ("matcher", "hooks")
MIN_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS = 0.001, 86_400  # for dialects that count seconds
TOOL_SUCCEEDED: Final = Not(Equals(("tool", "ok"), False))
CLAUDE_ONLY_EVENTS: Final = (
    "PostToolBatch", "UserPromptExpansion", "StopFailure", "PostCompact", "PreModelSwitch",
    "PostModelSwitch", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
    "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
    "FileChanged", "DirectoryAdded", "MessageDisplay",
)  # fmt: skip
"""Events that no other agent has: their hooks run only in Claude Code."""

_PLACEHOLDER: Final = lazy_pattern(
    r"\{\{\s*(?:toolName|sandbox|workspace|result|prompt|(?:input|tool|tool_input)\.[\w.-]+)\s*\}\}"
)
_GLOB_CHARACTERS: Final = lazy_pattern(r"[*?\[]")
_LAUNCHER: Final = "/hookline/bridge"
_ENGINE_ADDRESS: Final = lazy_pattern(r"http://127\.0\.0\.1:\d{1,5}/hookline/([a-z-]{1,64})/\w{1,64}")
"""Older versions wrote such a `url` instead of a command."""
_LAUNCHER_GUARD: Final = lazy_pattern(
    r'(\[ -x "\$0" \] \|\| (exit 0|\{ echo "[\w .,:;-]*" >&2; exit [12]; \}); export HOOKLINE_ENTRY=project; )?'
    r'(exec "\$0" "\$@"|"\$0" "\$@" \|\| \{ \[ \$\? -eq 2 \] \|\| echo "[\w .,:;-]*" >&2; exit 2; \})'
)
"""A project's entry checks first whether hookline is installed, and an entry for a tool blocks if hookline fails."""


@dataclass(frozen=True, slots=True)
class EventEntry:
    """One element of an event's list."""

    at: Node
    event_name: str  # as the dialect calls the event
    event: str
    index: int


def load_hooks(document: Document, parse: Callable[[Document, list[Problem]], Iterable[Hook]]) -> LoadResult:
    problems: list[Problem] = []
    hooks = tuple(parse(document, problems))
    return LoadResult(hooks, tuple(problems), is_readable=has_readable_hooks(document))


def has_readable_hooks(document: Document) -> bool:
    """Whether `hooks` is a list for each event, or absent. Keys that are there twice make a mapping unreadable."""
    value = document.value
    hooks = value.get("hooks") if type(value) is dict else UNREADABLE
    if hooks is None:
        return True
    return type(hooks) is dict and all(entries is None or type(entries) is list for entries in hooks.values())


def parse_entries(
    document: Document,
    problems: list[Problem],
    events: Mapping[str, str],
    *,
    with_conflicts: bool = False,
    other_keys: Collection[str] = (),
    at_top: bool = False,
    report_unknown: Callable[[Node, str, Mapping[str, str]], None] | None = None,
) -> Iterator[EventEntry]:
    """Every mapping in an event's list. `events` maps the dialect's event names to hookline's.

    With `with_conflicts` also those in which a key occurs twice. `other_keys` stand beside the events; with `at_top`,
    the file has the events at its top.
    """
    at = Node.of(document, problems)
    if at.mapping() is None:
        return
    if not at_top:
        at.report_misspelling("hooks")
        _warn_misplaced_hooks(at, events)
    hooks = at if at_top else at.get("hooks")
    if hooks is None or hooks.mapping() is None:
        return
    for name, place in hooks.entries():
        if name in other_keys:
            continue
        if name not in events:
            (report_unknown or report_unknown_event)(place, name, events)
            continue
        for index, each in enumerate(place.items() if place.value is not None else ()):
            if (with_conflicts and isinstance(each.value, dict)) or each.mapping() is not None:
                yield EventEntry(each, name, events[name], index)


def report_unknown_event(at: Node, name: str, events: Mapping[str, str]) -> None:
    guess = closest_match(name, events)
    hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(events)}."
    at.add_problem("unknown-event", f"{at.location}: there is no event {name!r}.", hint, at_key=True)


def _warn_misplaced_hooks(at: Node, events: Mapping[str, str]) -> None:
    severity = Severity.WARNING if "hooks" in at.value else Severity.ERROR  # without hooks, nothing of it is read
    is_misspelt = any(each.code == "unknown-key" and each.severity is Severity.ERROR for each in at.problems)
    for name, place in at.entries():
        if name in events and isinstance(place.value, list):
            what = f"{place.location}: hooks beside the key hooks are not read."
            hint = f'Write "hooks": {{"{name}": […]}}.'
            place.add_problem("not-read", what, hint, at_key=True, severity=severity)
        elif severity is Severity.ERROR and _has_hooks(place.value, events):
            what = f"{place.location}: hooks inside {name} are not read."
            place.add_problem("not-read", what, f'Move "hooks" out of "{name}".', at_key=True)
        elif severity is Severity.ERROR and not is_misspelt and _maps_events_to_hooks(place.value, events):
            what = f"{place.location}: hooks are not read here, because the key is {name!r}."
            parked = Severity.WARNING if _PARKED.search(name) else Severity.ERROR
            place.add_problem("not-read", what, f'Rename "{name}" to "hooks".', at_key=True, severity=parked)


_PARKED: Final = lazy_pattern(r"^[_/#]|(?i:disabled|unused|backup)|(?i:[_. -](?:off|old|bak))$|(?:Off|Old)$")
"""A key that says that its hooks are meant to be off: `hooks_disabled`, `//hooks`."""
_ENTRY_KEYS: Final = frozenset(("matcher", "hooks", "command", "action"))


def _maps_events_to_hooks(value: Any, events: Mapping[str, str]) -> bool:
    lists = [each for name, each in value.items() if name in events] if isinstance(value, dict) else []
    entries = [entry for each in lists if isinstance(each, list) for entry in each if isinstance(entry, dict)]
    return any(not _ENTRY_KEYS.isdisjoint(entry) for entry in entries)


def _has_hooks(value: Any, events: Mapping[str, str]) -> bool:
    hooks = value.get("hooks") if isinstance(value, dict) else None
    return isinstance(hooks, dict) and any(name in events and isinstance(hooks[name], list) for name in hooks)


def hooks_of_group(group: Node) -> Iterator[Node]:
    hooks = group.require("hooks", 'Write "hooks": [{"type": "command", "command": "…"}].')
    if hooks is not None:
        if hooks.value == []:
            hooks.add_problem("empty", f"{hooks.location} has no hooks.", at_key=True, severity=Severity.WARNING)
        yield from hooks.items()


def warn_ignored_matcher(matcher: Node, event_name: str) -> None:
    what = f"{matcher.location}: {event_name} takes no matcher, so this one is ignored."
    matcher.add_problem("ignored", what, "Remove it.", severity=Severity.WARNING)


def warn_placeholders(command: Node, dialect: str, hint: str) -> None:
    """Those of flo and digitorn in a command whose format has none. Any others belong to the command's own programs."""
    found = _PLACEHOLDER.search(command.value) if isinstance(command.value, str) else None
    if found is not None:
        what = f"{command.location}: {dialect} has no placeholders, so {found[0]} stays as it is written."
        command.add_problem("not-rendered", what, hint, severity=Severity.WARNING)


def is_settings_file(document: Document) -> bool:
    """Whether the name allows any settings.json dialect. Files in .claude belong to Claude Code."""
    path = PurePath(document.file)
    return path.name in ("settings.json", "settings.local.json") and path.parent.name != ".claude"


def recognise_entries(document: Document, events: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """Every entry of a file that has only these events; None for any other file, and for one without entries."""
    hooks = document.value.get("hooks") if isinstance(document.value, dict) else None
    if not isinstance(hooks, dict) or not hooks or not hooks.keys() <= events.keys():
        return None
    if not all(isinstance(entries, list) for entries in hooks.values()):
        return None
    found = [entry for entries in hooks.values() for entry in entries]
    return found if found and all(isinstance(entry, dict) for entry in found) else None


def is_group(entry: dict[str, Any], types: Collection[str]) -> bool:
    """Whether the entry is a matcher with a list of hooks of these types."""
    hooks = entry.get("hooks")
    if not isinstance(hooks, list):
        return False
    return all(isinstance(hook, dict) and hook.get("type") in types for hook in hooks)


def agent_of_own_entry(command: str) -> str | None:
    """The agent for which this command or URL calls hookline; None for any other text."""
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


def is_launcher_text(text: str) -> bool:
    """Whether a whole program only calls hookline: a few lines that name its launcher."""
    return _LAUNCHER in text and text.count("\n") <= 5


def hook_id(document: Document, event_name: str, index: int, hook: int = 0) -> str:
    """Of an element of an event's list, or of one of the hooks in that element."""
    place = f"{file_label(document.file)}:{event_name}[{index}]"
    return f"{place}.hooks[{hook}]" if hook else place


def literal_shell_template(command: str) -> ShellTemplate:
    """A command without placeholders: it gets its values from its environment and stdin."""
    return ShellTemplate(command, (), (command,))


def settings_schema(dialect: str, events: Mapping[str, str], entry: Schema, example: Schema) -> Schema:
    """`example` is a file with one hook, in the list of one event or in a list of all hooks."""
    entries: Schema = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
    shown = example["hooks"]
    hooks: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": event_properties(events, entries, next(iter(shown.values())) if type(shown) is dict else shown),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:hookline:{dialect}",
        "title": f"{dialect} settings: the hooks",
        "examples": [example],
        "type": "object",
        "properties": {"hooks": describe("the hooks, by event", nullable({"$ref": "#/$defs/hooks"}), shown)},
        "$defs": {"hooks": hooks, "entry": entry},
    }


def group_schema(matcher: str, hook: Schema, example: Schema) -> Schema:
    """A matcher, described by this text, with its hooks. `example` is a file with one group."""
    [[group]] = example["hooks"].values()
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["hooks"],
        "properties": {
            "matcher": describe(matcher, {"type": ["string", "null"]}, group["matcher"], default="*"),
            "hooks": describe("the hooks of this group", {"type": "array", "items": hook}, group["hooks"]),
        },
    }


def append_to_group(groups: list[dict[str, Any]], matchers: Mapping[str, str], hook: dict[str, Any]) -> None:
    """Consecutive hooks with the same matchers share a group. `matchers`: the keys of the group beside `hooks`."""
    if not groups or {key: held for key, held in groups[-1].items() if key != "hooks"} != matchers:
        groups.append({**matchers, "hooks": []})
    groups[-1]["hooks"].append(hook)


def check_expressible(hook: Hook) -> None:
    """Raises NotExpressible for what no entry of a settings.json can say."""
    if not hook.enabled:
        raise NotExpressible("that it is disabled")
    if hook.order:
        words = hook.origin.wording
        raise NotExpressible(f"{words.order_key} {words.order(hook.order)}")
    if hook.scope != GLOBAL_SCOPE:
        raise NotExpressible("its scope")
    if hook.limit.keys:
        raise NotExpressible(" and ".join(hook.limit.keys))
    if hook.tags:
        raise NotExpressible("its tags")


def require_run_action(hook: Hook) -> RunProgram:
    if not isinstance(hook.then, RunProgram):
        raise NotExpressible(action=hook.then)
    if hook.then.timeout_blocks:
        raise NotExpressible("that a timeout blocks")
    return hook.then


def require_shell_command(program: CommandTemplate) -> str:
    """The shell command of a program that runs in the session's directory with the inherited environment."""
    if program.shell is None:
        raise NotExpressible("a program without a shell")
    if program.shell.names:
        raise NotExpressible(f"{{{{{program.shell.names[0]}}}}} in its command")
    if program.inherit_env is not True:
        raise NotExpressible("a restricted environment")
    if program.cwd is not None:
        raise NotExpressible("a working directory")
    return program.shell.source


def translate_tool_names(compiled: TextPattern, source: Vocabulary, target: Vocabulary) -> tuple[str, ...]:
    """The plain names in a pattern for a tool's name, translated. Raises NotExpressible for any other pattern."""
    if not isinstance(compiled, Shorthand) or compiled.word not in ("tool", "exactly"):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.source}")
    names = [compiled.text] if compiled.word == "exactly" else [part.strip() for part in compiled.text.split("|")]
    if compiled.word == "tool" and any(_GLOB_CHARACTERS.search(name) for name in names):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.text}")
    if source != target:
        names = [each for name in names for each in translate_tool_name(name, source, target) or (name,)]
    spelled = [(name, spell_mcp_name(name, target)) for name in names]
    lost = next((name for name, each in spelled if each is None), None)
    if lost is not None:
        raise NotExpressible(f"the MCP tool {lost}, because only one of the two formats says its server")
    return tuple(dict.fromkeys(each for _, each in spelled if each is not None))
