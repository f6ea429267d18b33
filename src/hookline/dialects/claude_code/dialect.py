"""Reads the `hooks` of Claude Code's settings.json, and those of a plugin."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.claude_code.handlers import disabling, handler
from hookline.dialects.claude_code.plugins import hooks_of_plugins
from hookline.dialects.claude_code.rules import FAILED as AFTER_FAILURE
from hookline.dialects.claude_code.rules import SUCCEEDED, matcher, rule
from hookline.dialects.claude_code.words import (
    CONTINUE,
    EVENTS,
    FAILED,
    GROUP_KEYS,
    HANDLER_KEYS,
    MATCHED,
    NAME,
    TONGUE,
    TOOL_EVENTS,
    UNHEARD,
    failing,
    is_plugin,
)
from hookline.dialects.dialect import Loaded, Place, Written
from hookline.dialects.ourselves import launched
from hookline.dialects.settings import Entry, entries, has_errors, hook_id, named_settings, shaped
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import ALWAYS, Always, AnyOf, Never, all_of
from hookline.hooks.hook import UNLIMITED, Hook, Limit, Origin
from hookline.hooks.outcome import Outcome
from hookline.hooks.tools import Kind, kind_of
from hookline.patterns.pattern import BadPattern

NAMES: Final = {**EVENTS, **dict.fromkeys(UNHEARD, "")}
_OUTCOME: Final[dict[str, Condition]] = {"PostToolUse": SUCCEEDED, "PostToolUseFailure": AFTER_FAILURE}
_OWN_EVENTS: Final = set(NAMES) - {"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}
"""Events that no other format with this shape has."""
_OWN_KEYS: Final = {key for keys in HANDLER_KEYS.values() for key in keys} - {"type", "command", "timeout"}


class ClaudeCode:
    name = NAME
    places = (
        Place(".claude/settings.json", user=True),
        Place(".claude/plugins/**/hooks/hooks.json", user=True, listed=hooks_of_plugins),
        Place(".claude/settings.json"),
        Place(".claude/settings.local.json", local=True),
    )

    def recognises(self, document: Document) -> bool:
        folder = PurePath(document.file).parent.name
        if folder.startswith("."):  # whatever the shape, another agent's files have their own units
            return folder == ".claude"
        groups = shaped(document, NAMES)
        if groups is None or not all(_is_group(group) for group in groups):
            return False
        if is_plugin(document.file) or not _OWN_EVENTS.isdisjoint(document.value["hooks"]):
            return True
        own = any(_OWN_KEYS & hook.keys() for group in groups for hook in group["hooks"])
        return own or (named_settings(document) and not any(_speaks_otherwise(group) for group in groups))

    def load(self, document: Document) -> Loaded:
        problems: list[Problem] = []
        hooks = tuple(_hooks(document, problems))
        if _all_disabled(document, problems):
            hooks = tuple(replace(hook, enabled=False) for hook in hooks)
        return Loaded(hooks, tuple(problems))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.claude_code.schema import schema

        return schema()

    def write(self, hooks: Iterable[Hook]) -> Written:
        from hookline.dialects.claude_code.write import written

        return written(hooks)


DIALECT: Final = ClaudeCode()


def _is_group(entry: dict[str, Any]) -> bool:
    hooks = entry.get("hooks")
    if not isinstance(hooks, list) or not entry.keys() <= set(GROUP_KEYS):
        return False
    return all(isinstance(hook, dict) and hook.get("type") in HANDLER_KEYS for hook in hooks)


def _speaks_otherwise(group: dict[str, Any]) -> bool:
    """Whether it names a kind of tool as Claude Code never does."""
    named = str(group.get("matcher", "")).split("|")
    known = {name for names in TONGUE.names.values() for name in names}
    return any(kind_of(name) is not Kind.OTHER and name not in known for name in named)


def _all_disabled(document: Document, problems: list[Problem]) -> bool:
    at = Reader.of(document, problems)
    flag = at.get("disableAllHooks")
    return flag is not None and flag.flag() is True


def _hooks(document: Document, problems: list[Problem]) -> Iterable[Hook]:
    """A handler that stands in several groups of an event is one hook, which hears what any of them hears."""
    held: dict[str, Hook] = {}
    counts: dict[str, int] = {}
    for entry in entries(document, problems, NAMES):
        if not entry.event:
            _unheard(entry)
            continue
        for value, hook in _of_group(entry, counts):
            key = f"{entry.named} {_key(value)}"
            held[key] = _joined(held[key], hook) if key in held else hook
    return held.values()


def _unheard(entry: Entry) -> None:
    if entry.index == 0:
        what = f"{entry.at.place}: {entry.named} comes in Claude Code alone; elsewhere these hooks never run."
        entry.at.problem("not-here", what, "", severity=Severity.WARNING)


def _key(handler: dict[str, Any]) -> str:
    """Equal for handlers that are written alike; a switch that is off says nothing."""
    said = {key: value for key, value in handler.items() if key != "statusMessage" and value is not False}
    return json.dumps(said, sort_keys=True)


def _joined(first: Hook, again: Hook) -> Hook:
    if first.when == again.when or isinstance(first.when, Always):
        return first
    return replace(first, when=AnyOf((first.when, again.when)))


def _of_group(entry: Entry, counts: dict[str, int]) -> Iterator[tuple[dict[str, Any], Hook]]:
    before = len(entry.at.problems)
    entry.at.keys(GROUP_KEYS, "a group")
    unknown = has_errors(entry.at.problems[before:])
    when, listed = _matched(entry), entry.at.get("hooks")
    if listed is None:
        hint = 'Write "hooks": [{"type": "command", "command": "…"}].'
        entry.at.problem("missing-key", f"{entry.at.place}: hooks is missing.", hint)
        return
    for place in listed.items():
        index = counts.get(entry.named, 0)
        counts[entry.named] = index + 1
        if _is_ours(place.value):
            continue
        hook = _hook(place, entry, when or ALWAYS, hook_id(place.document, entry.named, index))
        if hook is not None and when is not None and not unknown:
            yield place.value, hook


def _is_ours(handler: Any) -> bool:
    """Our own entry is no hook: other agents would ask all hooks a second time through it."""
    return isinstance(handler, dict) and any(launched(str(handler.get(key, ""))) for key in ("command", "url"))


def _matched(entry: Entry) -> Condition | None:
    place = entry.at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if entry.named not in TOOL_EVENTS and entry.named not in MATCHED:
        if text not in ("", "*"):
            what = f"{place.place}: a matcher says nothing about {entry.named}."
            place.problem("ignored", what, "Leave it out.", severity=Severity.WARNING)
        return ALWAYS
    try:
        return matcher(text, entry.named)
    except BadPattern as bad:
        hint = "Write names as Edit|Write, a regular expression, or *."
        place.problem("bad-pattern", f"{place.place}: {bad.why}.", hint)
        return None


def _hook(at: Reader, entry: Entry, when: Condition, id: str) -> Hook | None:
    """None after a problem."""
    before = len(at.problems)
    if at.unreadable() or at.mapping() is None:
        return None
    made, asked = handler(at, entry.named), _rule(at, entry.named)
    once = at.get("once")
    limit = Limit(max_fires=1) if once is not None and once.flag() else UNLIMITED
    if made is None or asked is None or disabling(at.problems[before:]):
        return None
    action, timeout = made
    if _rewakes(at):
        what = f"{at.place}: asyncRewake wakes the model in Claude Code alone; here it runs in the background."
        at.problem("not-here", what, "", severity=Severity.WARNING)
    return Hook(
        id=id,
        event=entry.event,
        when=all_of([when, asked, _OUTCOME.get(entry.named, ALWAYS)]),
        then=action,
        origin=Origin(at.document.file, at.line, NAME),
        group=NAME,
        timeout=timeout,
        wait=not _in_background(at),
        on_error=_on_error(at, entry.named),
        limit=limit,
    )


def _on_error(at: Reader, named: str) -> Outcome:
    """Nobody waits for what runs in the background, so its failure blocks nothing."""
    return FAILED if _in_background(at) else failing(named, str(at.value.get("onFailure", CONTINUE)))


def _in_background(at: Reader) -> bool:
    return at.value.get("async") is True or _rewakes(at)


def _rewakes(at: Reader) -> bool:
    return at.value.get("asyncRewake") is True


def _rule(at: Reader, named: str) -> Condition | None:
    place = at.get("if")
    text = None if place is None else place.text()
    if place is None or text is None:
        return ALWAYS if place is None else None
    try:
        read = rule(text)
    except BadPattern as bad:
        place.problem("bad-rule", f"{place.place}: {bad.why}.", "Write a rule such as Bash(rm *) or Edit(src/**).")
        return None
    if named not in TOOL_EVENTS:
        why = f"{named} has no tool, so a hook with if never runs."
        place.problem("never-applies", f"{place.place}: {why}", "Leave if out.", severity=Severity.WARNING)
        return Never(why)
    if read.doubt:
        place.problem("ignored", f"{place.place}: {read.doubt}", "", severity=Severity.WARNING)
    return read.condition
