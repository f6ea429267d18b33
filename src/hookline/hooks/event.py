"""What happened, as plain facts, and the way to a fact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

FactPath = tuple[str | int, ...]


class _Sentinel:
    """A value that cannot be mistaken for a fact."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: object) -> _Sentinel:
        return self


MISSING: Final = _Sentinel("MISSING")
REMOVED: Final = _Sentinel("REMOVED")

Changes = tuple[tuple[FactPath, Any], ...]  # (path, new value or REMOVED)


@dataclass(frozen=True, slots=True)
class Event:
    """Nobody mutates the facts of an event that someone else holds; `changed` makes a new one."""

    name: str
    facts: dict[str, Any]

    def read(self, path: FactPath) -> Any:
        """The fact at `path`, or MISSING; negative indexes count from the end, attributes are never reached."""
        return read_path(self.facts, path)

    def with_changes(self, changes: Changes) -> Event:
        """Made one after the other; removing what is not there leaves all as it was."""
        facts: Any = self.facts
        for path, value in changes:
            if value is not MISSING and (value is not REMOVED or read_path(facts, path) is not MISSING):
                facts = _with_value_at(facts, path, value)
        return Event(self.name, facts)

    def differs_from(self, earlier: Event, changes: Changes) -> bool:
        """True if `changes`, which led from the earlier event to this one, left anything else than they found."""
        return any(
            not deep_equal(_affected_value(earlier.facts, path), _affected_value(self.facts, path))
            for path, _ in changes
        )


def read_path(value: Any, path: FactPath) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, MISSING) if isinstance(step, str) else value.get(str(step), MISSING)
        elif isinstance(value, (list, tuple)):
            if not isinstance(step, int) or not -len(value) <= step < len(value):
                return MISSING
            value = value[step]
        else:
            return MISSING
    return value


def _affected_value(facts: Any, path: FactPath) -> Any:
    """What a change at `path` may alter: in a list, where the others move up, all of it."""
    around = read_path(facts, path[:-1])
    return around if isinstance(around, (list, tuple)) else read_path(facts, path)


def parse_path(text: str) -> FactPath:
    """`files.0.path` → ("files", 0, "path")."""
    return tuple(int(step) if _is_index(step) else step for step in text.split(".") if step)


def path_text(path: FactPath) -> str:
    return ".".join(str(step) for step in path)


def overlaps(one: FactPath, other: FactPath) -> bool:
    """True if a change at one of the two places can be seen at the other."""
    return all(a == b for a, b in zip(one, other, strict=False))


def touches(paths: Iterable[FactPath], changes: Changes) -> bool:
    """True if the changes may be seen at one of the paths; places in a list count as one, for they move."""
    return any(_may_overlap(path, changed) for path in paths for changed, _ in changes)


def _may_overlap(one: FactPath, other: FactPath) -> bool:
    return all(a == b or isinstance(a, int) or isinstance(b, int) for a, b in zip(one, other, strict=False))


def deep_equal(one: Any, other: Any) -> bool:
    """Equal all the way down, where True is not 1; values may be nested as deep as they like."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs += [(a[key], b[key]) for key in a]
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif a != b or isinstance(a, bool) != isinstance(b, bool):
            return False
    return True


def _is_index(step: str) -> bool:
    digits = step[1:] if step.startswith("-") else step
    return len(digits) < 10 and digits.isascii() and digits.isdigit()


def _with_value_at(value: Any, path: FactPath, new: Any) -> Any:
    """`value` with `new` at `path`: copies along the way and shares the rest; missing mappings are made."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, (list, tuple)):
        return _list_with_value_at(list(value), step, rest, new)
    held = dict(value) if isinstance(value, dict) else {}
    key = str(step)
    if new is REMOVED and not rest:
        held.pop(key, None)
        return held
    held[key] = _with_value_at(held.get(key), rest, new)
    return held


def _list_with_value_at(value: list[Any], step: str | int, rest: FactPath, new: Any) -> list[Any]:
    if not isinstance(step, int) or not -len(value) <= step < len(value):
        return value
    if new is REMOVED and not rest:
        del value[step]
    else:
        value[step] = _with_value_at(value[step], rest, new)
    return value
