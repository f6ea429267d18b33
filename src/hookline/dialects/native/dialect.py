"""Reads `hookline.yaml`: `on / when / then`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.capabilities import native_capabilities
from hookline.dialects.dialect import ConfigLocation, LoadResult, NamedFolder, WriteResult
from hookline.dialects.native.actions import (
    ON_ERROR,
    has_disabling_error,
    may_fail,
    may_stop,
    parse_action,
    parse_on_error,
    total_timeout,
    withhold_result,
)
from hookline.dialects.native.conditions import ConditionInfo, parse_condition
from hookline.dialects.native.keys import HookInfo
from hookline.formatting import closest_match
from hookline.hooks.events import EVENTS, all_event_names, canonical_event
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook, Limit, Origin, Scope
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.tools import VOCABULARIES

NAME: Final = "native"
APP_KEYS: Final = ("agent", "agents", "model", "models", "mcp", "lsp", "triggers", "skills", "store", "private_hosts")
"""What an agent is made of: the runtime reads it."""

FILE_KEYS: Final = ("version", "hooks", *APP_KEYS, "standard_agents")
HOOK_KEYS: Final = (
    "id",
    "on",
    "when",
    "then",
    "timeout",
    "on_error",
    "order",
    "enabled",
    "tags",
    "scope",
    "cooldown",
    "cooldown_turns",
    "max_fires",
    "background",
    "group",
    "names",
)
DEFAULT_TIMEOUT: Final = timedelta(seconds=30)


class NativeDialect:
    name = NAME
    places = (
        ConfigLocation(".config/hookline/hookline.yaml", user=True),
        ConfigLocation("hookline.yaml"),
        ConfigLocation(".hookline/*.yaml"),
        ConfigLocation("hookline.local.yaml", local=True),
    )

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).name in ("hookline.yaml", "hookline.yml", "hookline.local.yaml", "hookline.json"):
            return True
        if PurePath(document.file).parent.name == ".hookline":
            return True
        value = document.value
        hooks = value.get("hooks") if isinstance(value, dict) else None
        return isinstance(hooks, list) and not ("runtime" in value or "agents" in value)

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        at = Node.of(document, problems)
        hooks, folders = tuple(_parse_hooks(at)), _parse_folders(at)
        at.has_unreadable_parts()  # all of the file is ours, so it is an error wherever it stands
        return LoadResult(hooks, tuple(problems), folders, native_capabilities(document))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.native.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.native.writer import write_hooks

        return write_hooks(hooks)


DIALECT: Final = NativeDialect()


def _parse_hooks(at: Node) -> Iterator[Hook]:
    if at.value is None or at.value == {}:
        return
    at.check_keys(FILE_KEYS, "a hookline file")
    version = at.get("version")
    if version is not None and (version.value != 1 or isinstance(version.value, bool)):
        version.add_problem("unknown-version", f"version: {version.value!r} is not known.", "Write version: 1.")
        return
    hooks = at.get("hooks")
    if hooks is None or hooks.sequence() is None:
        return
    seen: dict[tuple[str, Scope], int] = {}
    counts: dict[str, int] = {}
    for place in hooks.items():
        for hook in _parse_hook(place, counts):
            if (first := seen.setdefault((hook.id, hook.scope), hook.origin.line)) != hook.origin.line:
                text = f"id {hook.id} is used twice; first on line {first}."
                place.add_problem("duplicate-id", text, "Give this hook another id.")
                continue
            yield hook


def _parse_folders(at: Node) -> tuple[NamedFolder, ...]:
    """The folders whose Python files define hooks, agents and prompts."""
    named = at.get("standard_agents")
    if named is None:
        return ()
    return tuple(
        NamedFolder("standard_agents", path, place.line)
        for place in named.items(one_or_many=True)
        if (path := place.text(hint="Write the path of a folder with Python files.")) is not None
    )


def _parse_hook(at: Node, counts: dict[str, int]) -> Iterator[Hook]:
    """One hook for each event that it names; nothing after a problem, unless it still can answer its on_error."""
    before = len(at.problems)
    if at.has_unreadable_parts():
        return
    at.check_keys(HOOK_KEYS, "a hook")
    if at.mapping() is None:
        return
    events = _parse_events(at)
    shared = _parse_shared_keys(at)
    for event in events:
        index = counts.get(event, 0)
        counts[event] = index + 1
        id = shared.get("id") or f"{PurePath(at.document.file).name}:{event}[{index}]"
        own: list[Problem] = []  # a problem that another event noted first is this one's too
        place = at if event == events[0] else Node(at.document, at.path, own, at.value)
        hook = _build_hook(place, event, {**shared, "id": id})
        at.problems.extend(problem for problem in own if problem not in at.problems[before:])
        if hook is not None and not has_disabling_error(at.problems[before:]):
            yield hook


def _parse_events(at: Node) -> list[str]:
    on = at.get("on")
    if on is None:
        at.add_problem("missing-key", f"{at.location}: on is missing.", "Write on: and an event, such as tool.before.")
        return []
    if on.value == []:
        on.add_problem(
            "empty", f"{on.location}: no event is named here.", "Write on: and an event, such as tool.before."
        )
    found: list[str] = []
    for place in on.items(one_or_many=True):
        text = place.text()
        event = None if text is None else canonical_event(text)
        if event is not None:
            found.append(event)
        elif text is not None:
            guess = closest_match(text, all_event_names())
            hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
            place.add_problem("unknown-event", f"{place.location}: there is no event {text!r}.", hint)
    return list(dict.fromkeys(found))


def _build_hook(at: Node, event: str, shared: dict[str, Any]) -> Hook | None:
    names, timeout = shared.pop("names"), shared["timeout"]
    vocabulary = VOCABULARIES[names]
    when = parse_condition(at.get("when"), ConditionInfo(event, vocabulary))
    then = at.get("then")
    if then is None:
        at.add_problem(
            "missing-key", f"{at.location}: then is missing.", "Write then: {deny: reason}, or another action."
        )
        return None
    made = parse_action(then, HookInfo(event, vocabulary, timeout, shared["id"]))
    if when is None or made is None:
        return None
    on_error = withhold_result(shared["on_error"], event, shared["id"])
    shared |= {"timeout": total_timeout(made, timeout), "on_error": on_error}
    hook = Hook(event=event, when=when, then=made, origin=Origin(at.document.file, at.line, NAME), **shared)
    if at.get("on_error") is None and may_fail(made) and may_stop(made):
        text = f"{at.location}: on_error is not written; it counts as closed."
        hint = "Write on_error: closed, or open to let the event proceed when the hook fails."
        at.add_problem("on-error", text, hint, severity=Severity.WARNING)
        return replace(hook, on_error=ON_ERROR["closed"])
    return hook


def _parse_shared_keys(at: Node) -> dict[str, Any]:
    """What all hooks of one entry share; a value that is wrong has noted its problem and stands as the default."""
    id, timeout, order, enabled = (at.get(key) for key in ("id", "timeout", "order", "enabled"))
    tags, group, background, names = (at.get(key) for key in ("tags", "group", "background", "names"))
    return {
        "id": None if id is None else id.text(),
        "timeout": DEFAULT_TIMEOUT if timeout is None else timeout.duration() or DEFAULT_TIMEOUT,
        "order": 0 if order is None else order.integer() or 0,
        "enabled": True if enabled is None else enabled.flag() is not False,
        "tags": () if tags is None else tags.texts() or (),
        "group": NAME if group is None else group.text(empty=True) or "",
        "wait": True if background is None else background.flag() is not True,
        "names": NAME if names is None else names.one_of(VOCABULARIES) or NAME,
        "on_error": _parse_on_error(at),
        "scope": _parse_scope(at),
        "limit": _parse_limit(at),
    }


def _parse_on_error(at: Node) -> Outcome:
    written = at.get("on_error")
    return SILENT if written is None else parse_on_error(written) or SILENT


def _parse_scope(at: Node) -> Scope:
    scope = at.get("scope")
    if scope is None:
        return GLOBAL_SCOPE
    scope.check_keys(("agent", "prompt", "session"), "scope")
    places = [scope.get(key) for key in ("agent", "prompt", "session")]
    return Scope(*(None if place is None else place.text() for place in places))


def _parse_limit(at: Node) -> Limit:
    fires, cooldown, turns = (at.get(key) for key in ("max_fires", "cooldown", "cooldown_turns"))
    if fires is None and cooldown is None and turns is None:
        return UNLIMITED
    return Limit(
        None if fires is None else fires.integer(least=1, hint="Leave it out for no limit."),
        None if cooldown is None else cooldown.duration(),
        None if turns is None else turns.integer(least=1),
    )
