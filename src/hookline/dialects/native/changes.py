"""`set:`, `remove:`, `append:` and `replace:` — what an action changes of the event."""

from __future__ import annotations

from typing import Final

from hookline.config.shape import Reader
from hookline.dialects.native.doing import Doing
from hookline.dialects.native.texts import filled, text_of
from hookline.hooks.action import Action
from hookline.hooks.actions.change import INPUT, Append, Change, Edit, Remove, Replace, Set
from hookline.hooks.event import Path
from hookline.hooks.facts import fact_path
from hookline.hooks.template import Template
from hookline.patterns.pattern import BadPattern, pattern

CHANGES: Final = ("set", "remove", "append", "replace")


def change(at: Reader, value: Reader, doing: Doing) -> Action | None:
    before = len(at.problems)
    edits: list[Edit] = []
    for key, read in (("set", _sets), ("remove", _removes), ("append", _appends), ("replace", _replaces)):
        place = at.get(key)
        if place is not None:
            edits += read(place, doing)
    return Change(tuple(edits)) if len(at.problems) == before else None


def _path(at: Reader, name: str) -> Path:
    path = fact_path(name)
    if path is None:
        at.problem("unknown-fact", f"{name} is not a fact.", "Write input.…, result, prompt, or a fact's full path.")
    return path or ()


def _sets(at: Reader, doing: Doing) -> list[Edit]:
    edits: list[Edit] = []
    for name, place in at.entries():
        value = filled(place, doing.tongue)
        if value is None:
            continue
        path = _path(place, name)
        if path == INPUT and not isinstance(value.value, (dict, Template)):
            _no_object(place)
        edits.append(Set(path, value))
    return edits


def _no_object(at: Reader) -> None:
    hint = "Name a field of it: input.command."
    at.problem("no-object", f"{at.place}: the tool's input would no longer be an object.", hint)


def _removes(at: Reader, doing: Doing) -> list[Edit]:
    paths = [_path(at, name) for name in at.texts() or ()]
    if INPUT in paths:
        _no_object(at)
    return [Remove(path) for path in paths]


def _appends(at: Reader, doing: Doing) -> list[Edit]:
    texts = [(_path(place, name), text_of(place, doing.tongue)) for name, place in at.entries()]
    if any(path == INPUT for path, _ in texts):
        _no_object(at)
    return [Append(path, text) for path, text in texts if text is not None]


def _replaces(at: Reader, doing: Doing) -> list[Edit]:
    edits: list[Edit] = []
    for place in at.items(one_or_many=True):
        place.keys(("in", "pattern", "with"), "replace")
        where, what, new = place.get("in"), place.get("pattern"), place.get("with")
        if where is None or what is None or new is None:
            place.problem("missing-key", f"{place.place}: in, pattern and with are needed.")
            continue
        name, source, text = where.text(), what.text(), new.text(empty=True)
        if name is None or source is None or text is None:
            continue
        try:
            edits.append(Replace(_path(where, name), pattern(source), text))
        except BadPattern as bad:
            what.problem("bad-pattern", f"{what.place}: {bad.why}.")
    return edits
