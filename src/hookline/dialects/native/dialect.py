"""Reads `hookline.yaml`: `on / when / then`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity, nearest
from hookline.config.shape import Reader
from hookline.dialects.dialect import Loaded, NamedFolder, Place, Written
from hookline.dialects.native.actions import (
    ON_ERROR,
    action,
    disabling,
    error_outcome,
    judges,
    longest,
    may_fail,
    withholding,
)
from hookline.dialects.native.conditions import Asked, condition
from hookline.dialects.native.doing import Doing
from hookline.dialects.wanted import native_wants
from hookline.hooks.events import EVENTS, all_names, canonical
from hookline.hooks.hook import EVERYWHERE, UNLIMITED, Hook, Limit, Origin, Scope
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.tools import TONGUES

NAME: Final = "native"
APP_KEYS: Final = ("agent", "agents", "model", "models", "mcp", "lsp", "triggers", "skills", "store", "private_hosts")
"""What an agent is made of: the runtime reads it."""

FILE_KEYS: Final = ("version", "hooks", *APP_KEYS, "standard_agents")
KEYS: Final = (
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
TIMEOUT: Final = timedelta(seconds=30)


class Native:
    name = NAME
    places = (
        Place(".config/hookline/hookline.yaml", user=True),
        Place("hookline.yaml"),
        Place(".hookline/*.yaml"),
        Place("hookline.local.yaml", local=True),
    )

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).name in ("hookline.yaml", "hookline.yml", "hookline.local.yaml", "hookline.json"):
            return True
        if PurePath(document.file).parent.name == ".hookline":
            return True
        value = document.value
        hooks = value.get("hooks") if isinstance(value, dict) else None
        return isinstance(hooks, list) and not ("runtime" in value or "agents" in value)

    def load(self, document: Document) -> Loaded:
        problems: list[Problem] = []
        at = Reader.of(document, problems)
        hooks, folders = tuple(_hooks(at)), _folders(at)
        at.unreadable()  # all of the file is ours, so it is an error wherever it stands
        return Loaded(hooks, tuple(problems), folders, native_wants(document))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.native.schema import schema

        return schema()

    def write(self, hooks: Iterable[Hook]) -> Written:
        from hookline.dialects.native.write import written

        return written(hooks)


DIALECT: Final = Native()


def _hooks(at: Reader) -> Iterator[Hook]:
    if at.value is None or at.value == {}:
        return
    at.keys(FILE_KEYS, "a hookline file")
    version = at.get("version")
    if version is not None and (version.value != 1 or isinstance(version.value, bool)):
        version.problem("unknown-version", f"version: {version.value!r} is not known.", "Write version: 1.")
        return
    hooks = at.get("hooks")
    if hooks is None or hooks.sequence() is None:
        return
    seen: dict[tuple[str, Scope], int] = {}
    counts: dict[str, int] = {}
    for place in hooks.items():
        for hook in _hook(place, counts):
            if (first := seen.setdefault((hook.id, hook.scope), hook.origin.line)) != hook.origin.line:
                text = f"id {hook.id} is used twice; first on line {first}."
                place.problem("duplicate-id", text, "Give this hook another id.")
                continue
            yield hook


def _folders(at: Reader) -> tuple[NamedFolder, ...]:
    """The folders whose Python files define hooks, agents and prompts."""
    named = at.get("standard_agents")
    if named is None:
        return ()
    return tuple(
        NamedFolder("standard_agents", path, place.line)
        for place in named.items(one_or_many=True)
        if (path := place.text(hint="Write the path of a folder with Python files.")) is not None
    )


def _hook(at: Reader, counts: dict[str, int]) -> Iterator[Hook]:
    """One hook for each event that it names; nothing after a problem, unless it still can answer its on_error."""
    before = len(at.problems)
    if at.unreadable():
        return
    at.keys(KEYS, "a hook")
    if at.mapping() is None:
        return
    events = _events(at)
    shared = _shared(at)
    for event in events:
        index = counts.get(event, 0)
        counts[event] = index + 1
        id = shared.get("id") or f"{PurePath(at.document.file).name}:{event}[{index}]"
        own: list[Problem] = []  # a problem that another event noted first is this one's too
        place = at if event == events[0] else Reader(at.document, at.path, own, at.value)
        hook = _compiled(place, event, {**shared, "id": id})
        at.problems.extend(problem for problem in own if problem not in at.problems[before:])
        if hook is not None and not disabling(at.problems[before:]):
            yield hook


def _events(at: Reader) -> list[str]:
    on = at.get("on")
    if on is None:
        at.problem("missing-key", f"{at.place}: on is missing.", "Write on: and an event, such as tool.before.")
        return []
    if on.value == []:
        on.problem("empty", f"{on.place}: no event is named here.", "Write on: and an event, such as tool.before.")
    found: list[str] = []
    for place in on.items(one_or_many=True):
        text = place.text()
        event = None if text is None else canonical(text)
        if event is not None:
            found.append(event)
        elif text is not None:
            guess = nearest(text, all_names())
            hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
            place.problem("unknown-event", f"{place.place}: there is no event {text!r}.", hint)
    return list(dict.fromkeys(found))


def _compiled(at: Reader, event: str, shared: dict[str, Any]) -> Hook | None:
    names, timeout = shared.pop("names"), shared["timeout"]
    tongue = TONGUES[names]
    when = condition(at.get("when"), Asked(event, tongue))
    then = at.get("then")
    if then is None:
        at.problem("missing-key", f"{at.place}: then is missing.", "Write then: {deny: reason}, or another action.")
        return None
    made = action(then, Doing(event, tongue, timeout, shared["id"]))
    if when is None or made is None:
        return None
    on_error = withholding(shared["on_error"], event, shared["id"])
    shared |= {"timeout": longest(made, timeout), "on_error": on_error}
    hook = Hook(event=event, when=when, then=made, origin=Origin(at.document.file, at.line, NAME), **shared)
    if at.get("on_error") is None and may_fail(made) and judges(made):
        text = f"{at.place}: on_error is not written; it counts as closed."
        hint = "Write on_error: closed, or open to let the event proceed when the hook fails."
        at.problem("on-error", text, hint, severity=Severity.WARNING)
        return replace(hook, on_error=ON_ERROR["closed"])
    return hook


def _shared(at: Reader) -> dict[str, Any]:
    """What all hooks of one entry share; a value that is wrong has noted its problem and stands as the default."""
    id, timeout, order, enabled = (at.get(key) for key in ("id", "timeout", "order", "enabled"))
    tags, group, background, names = (at.get(key) for key in ("tags", "group", "background", "names"))
    return {
        "id": None if id is None else id.text(),
        "timeout": TIMEOUT if timeout is None else timeout.duration() or TIMEOUT,
        "order": 0 if order is None else order.whole() or 0,
        "enabled": True if enabled is None else enabled.flag() is not False,
        "tags": () if tags is None else tags.texts() or (),
        "group": NAME if group is None else group.text(empty=True) or "",
        "wait": True if background is None else background.flag() is not True,
        "names": NAME if names is None else names.one_of(TONGUES) or NAME,
        "on_error": _on_error(at),
        "scope": _scope(at),
        "limit": _limit(at),
    }


def _on_error(at: Reader) -> Outcome:
    written = at.get("on_error")
    return SILENT if written is None else error_outcome(written) or SILENT


def _scope(at: Reader) -> Scope:
    scope = at.get("scope")
    if scope is None:
        return EVERYWHERE
    scope.keys(("agent", "prompt", "session"), "scope")
    places = [scope.get(key) for key in ("agent", "prompt", "session")]
    return Scope(*(None if place is None else place.text() for place in places))


def _limit(at: Reader) -> Limit:
    fires, cooldown, turns = (at.get(key) for key in ("max_fires", "cooldown", "cooldown_turns"))
    if fires is None and cooldown is None and turns is None:
        return UNLIMITED
    return Limit(
        None if fires is None else fires.whole(least=1, hint="Leave it out for no limit."),
        None if cooldown is None else cooldown.duration(),
        None if turns is None else turns.whole(least=1),
    )
