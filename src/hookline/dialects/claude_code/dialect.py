"""Reads the `hooks` of Claude Code's settings.json, and those of a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.claude_code.handlers import has_disabling_error, parse_handler
from hookline.dialects.claude_code.matchers import TOOL_FAILED as AFTER_FAILURE
from hookline.dialects.claude_code.matchers import TOOL_SUCCEEDED, parse_matcher, parse_permission_rule
from hookline.dialects.claude_code.names import (
    CONTINUE,
    EVENTS,
    FAILURE_OUTCOME,
    GROUP_KEYS,
    HANDLER_KEYS,
    MATCHER_FACTS,
    NAME,
    TOOL_EVENTS,
    UNSUPPORTED_EVENTS,
    VOCABULARY,
    failure_outcome,
    is_plugin_file,
)
from hookline.dialects.claude_code.plugins import plugin_hooks_files
from hookline.dialects.dialect import ConfigLocation, LoadResult, WriteResult
from hookline.dialects.settings_json import (
    EventEntry,
    agent_of_own_entry,
    has_errors,
    hook_id,
    is_settings_file,
    parse_entries,
    recognise_entries,
)
from hookline.hooks.conditions.logic import ALWAYS, Always, AnyOf, Never, all_of
from hookline.hooks.hook import UNLIMITED, Hook, Limit, Origin
from hookline.hooks.outcome import Outcome
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import ToolKind, kind_of_name
from hookline.patterns.pattern import BadPattern

EVENT_NAMES: Final = {**EVENTS, **dict.fromkeys(UNSUPPORTED_EVENTS, "")}
_OUTCOME_CONDITIONS: Final[dict[str, Condition]] = {"PostToolUse": TOOL_SUCCEEDED, "PostToolUseFailure": AFTER_FAILURE}
_OWN_EVENTS: Final = set(EVENT_NAMES) - {"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}
"""Events that no other format with this shape has."""
_OWN_KEYS: Final = {key for keys in HANDLER_KEYS.values() for key in keys} - {"type", "command", "timeout"}


class ClaudeCodeDialect:
    name = NAME
    places = (
        ConfigLocation(".claude/settings.json", user=True),
        ConfigLocation(".claude/plugins/**/hooks/hooks.json", user=True, selector=plugin_hooks_files),
        ConfigLocation(".claude/settings.json"),
        ConfigLocation(".claude/settings.local.json", local=True),
    )

    def recognises(self, document: Document) -> bool:
        folder = PurePath(document.file).parent.name
        if folder.startswith("."):  # whatever the shape, another agent's files have their own units
            return folder == ".claude"
        groups = recognise_entries(document, EVENT_NAMES)
        if groups is None or not all(_is_group(group) for group in groups):
            return False
        if is_plugin_file(document.file) or not _OWN_EVENTS.isdisjoint(document.value["hooks"]):
            return True
        own = any(_OWN_KEYS & hook.keys() for group in groups for hook in group["hooks"])
        return own or (is_settings_file(document) and not any(_uses_other_tool_names(group) for group in groups))

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        hooks = tuple(_parse_hooks(document, problems))
        if _disables_all_hooks(document, problems):
            hooks = tuple(replace(hook, enabled=False) for hook in hooks)
        return LoadResult(hooks, tuple(problems))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.claude_code.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.claude_code.writer import write_hooks

        return write_hooks(hooks)


DIALECT: Final = ClaudeCodeDialect()


def _is_group(entry: dict[str, Any]) -> bool:
    hooks = entry.get("hooks")
    if not isinstance(hooks, list) or not entry.keys() <= set(GROUP_KEYS):
        return False
    return all(isinstance(hook, dict) and hook.get("type") in HANDLER_KEYS for hook in hooks)


def _uses_other_tool_names(group: dict[str, Any]) -> bool:
    """Whether it names a kind of tool as Claude Code never does."""
    named = str(group.get("matcher", "")).split("|")
    known = {name for names in VOCABULARY.names.values() for name in names}
    return any(kind_of_name(name) is not ToolKind.OTHER and name not in known for name in named)


def _disables_all_hooks(document: Document, problems: list[Problem]) -> bool:
    at = Node.of(document, problems)
    flag = at.get("disableAllHooks")
    return flag is not None and flag.flag() is True


def _parse_hooks(document: Document, problems: list[Problem]) -> Iterable[Hook]:
    """A handler that stands in several groups of an event is one hook, which hears what any of them hears."""
    held: dict[str, Hook] = {}
    counts: dict[str, int] = {}
    for entry in parse_entries(document, problems, EVENT_NAMES):
        if not entry.event:
            _warn_unsupported_event(entry)
            continue
        for value, hook in _parse_group(entry, counts):
            key = f"{entry.event_name} {_handler_key(value)}"
            held[key] = _merge_hooks(held[key], hook) if key in held else hook
    return held.values()


def _warn_unsupported_event(entry: EventEntry) -> None:
    if entry.index == 0:
        what = f"{entry.at.location}: {entry.event_name} comes in Claude Code alone; elsewhere these hooks never run."
        entry.at.add_problem("not-here", what, "", severity=Severity.WARNING)


def _handler_key(handler: dict[str, Any]) -> str:
    """Equal for handlers that are written alike; a switch that is off says nothing."""
    said = {key: value for key, value in handler.items() if key != "statusMessage" and value is not False}
    return json.dumps(said, sort_keys=True)


def _merge_hooks(first: Hook, again: Hook) -> Hook:
    if first.when == again.when or isinstance(first.when, Always):
        return first
    return replace(first, when=AnyOf((first.when, again.when)))


def _parse_group(entry: EventEntry, counts: dict[str, int]) -> Iterator[tuple[dict[str, Any], Hook]]:
    before = len(entry.at.problems)
    entry.at.check_keys(GROUP_KEYS, "a group")
    unknown = has_errors(entry.at.problems[before:])
    when, listed = _parse_group_matcher(entry), entry.at.get("hooks")
    if listed is None:
        hint = 'Write "hooks": [{"type": "command", "command": "…"}].'
        entry.at.add_problem("missing-key", f"{entry.at.location}: hooks is missing.", hint)
        return
    for place in listed.items():
        index = counts.get(entry.event_name, 0)
        counts[entry.event_name] = index + 1
        if _is_own_entry(place.value):
            continue
        hook = _parse_hook(place, entry, when or ALWAYS, hook_id(place.document, entry.event_name, index))
        if hook is not None and when is not None and not unknown:
            yield place.value, hook


def _is_own_entry(handler: Any) -> bool:
    """Our own entry is no hook: other agents would ask all hooks a second time through it."""
    return isinstance(handler, dict) and any(
        agent_of_own_entry(str(handler.get(key, ""))) for key in ("command", "url")
    )


def _parse_group_matcher(entry: EventEntry) -> Condition | None:
    place = entry.at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if entry.event_name not in TOOL_EVENTS and entry.event_name not in MATCHER_FACTS:
        if text not in ("", "*"):
            what = f"{place.location}: a matcher says nothing about {entry.event_name}."
            place.add_problem("ignored", what, "Leave it out.", severity=Severity.WARNING)
        return ALWAYS
    try:
        return parse_matcher(text, entry.event_name)
    except BadPattern as bad:
        hint = "Write names as Edit|Write, a regular expression, or *."
        place.add_problem("bad-pattern", f"{place.location}: {bad.why}.", hint)
        return None


def _parse_hook(at: Node, entry: EventEntry, when: Condition, id: str) -> Hook | None:
    """None after a problem."""
    before = len(at.problems)
    if at.has_unreadable_parts() or at.mapping() is None:
        return None
    made, asked = parse_handler(at, entry.event_name), _parse_rule(at, entry.event_name)
    once = at.get("once")
    limit = Limit(max_fires=1) if once is not None and once.flag() else UNLIMITED
    if made is None or asked is None or has_disabling_error(at.problems[before:]):
        return None
    action, timeout = made
    if _rewakes(at):
        what = f"{at.location}: asyncRewake wakes the model in Claude Code alone; here it runs in the background."
        at.add_problem("not-here", what, "", severity=Severity.WARNING)
    return Hook(
        id=id,
        event=entry.event,
        when=all_of([when, asked, _OUTCOME_CONDITIONS.get(entry.event_name, ALWAYS)]),
        then=action,
        origin=Origin(at.document.file, at.line, NAME),
        group=NAME,
        timeout=timeout,
        wait=not _runs_in_background(at),
        on_error=_parse_on_failure(at, entry.event_name),
        limit=limit,
    )


def _parse_on_failure(at: Node, named: str) -> Outcome:
    """Nobody waits for what runs in the background, so its failure blocks nothing."""
    return (
        FAILURE_OUTCOME if _runs_in_background(at) else failure_outcome(named, str(at.value.get("onFailure", CONTINUE)))
    )


def _runs_in_background(at: Node) -> bool:
    return at.value.get("async") is True or _rewakes(at)


def _rewakes(at: Node) -> bool:
    return at.value.get("asyncRewake") is True


def _parse_rule(at: Node, named: str) -> Condition | None:
    place = at.get("if")
    text = None if place is None else place.text()
    if place is None or text is None:
        return ALWAYS if place is None else None
    try:
        read = parse_permission_rule(text)
    except BadPattern as bad:
        place.add_problem(
            "bad-rule", f"{place.location}: {bad.why}.", "Write a rule such as Bash(rm *) or Edit(src/**)."
        )
        return None
    if named not in TOOL_EVENTS:
        why = f"{named} has no tool, so a hook with if never runs."
        place.add_problem("never-applies", f"{place.location}: {why}", "Leave if out.", severity=Severity.WARNING)
        return Never(why)
    if read.warning:
        place.add_problem("ignored", f"{place.location}: {read.warning}", "", severity=Severity.WARNING)
    return read.condition
