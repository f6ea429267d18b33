"""A config file's value, with the line on which each part of it stands."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

from hookline.config.problem import Problem

Path: TypeAlias = tuple[str | int, ...]
KeyAndValue: TypeAlias = tuple[int, int]
Places: TypeAlias = dict[int, "list[int] | dict[str, KeyAndValue]"]
"""For the id of each list and mapping of a value: where in the text its elements, or its keys and values, begin."""

_LINE_END = re.compile(r"\r\n|\n|\r")


class Missing(Enum):
    MISSING = "missing"


MISSING: Final = Missing.MISSING


def line_starts(text: str) -> array[int]:
    starts = array("L", (0,))
    starts.extend(end.end() for end in _LINE_END.finditer(text))
    return starts


@dataclass(frozen=True, slots=True)
class Marks:
    """Positions in a text. They are keyed by identity, so they hold for the very value that was read, not for a copy."""

    starts: array[int] = field(default_factory=lambda: line_starts(""))
    root: int = 0
    places: Places = field(default_factory=dict)

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says: plain dicts with text keys, lists, text, numbers, booleans and None.

    Nobody changes `value`: an alias in YAML makes one list or mapping stand in several places.
    A document that was made by hand, without marks, is all on line 1. One with `damage` also has Torn and Spoilt parts.
    """

    file: str
    text: str
    value: Any
    marks: Marks = field(default_factory=Marks, repr=False, compare=False)
    damage: tuple[Problem, ...] = ()

    def line(self, path: Path = ()) -> int:
        """Where the value begins; for a path that does not exist, where its nearest existing ancestor does."""
        return self.marks.line(self._position(path)[1])

    def key_line(self, path: Path) -> int:
        """The line of the key that the path's last step names; an element of a list has none, so it is its value's."""
        return self.marks.line(self._position(path)[0])

    def at(self, path: Path) -> Any:
        """The value there, or MISSING."""
        value = self.value
        for step in path:
            value = _child(value, step)
            if value is MISSING:
                return MISSING
        return value

    def _position(self, path: Path) -> KeyAndValue:
        position = (self.marks.root, self.marks.root)
        value = self.value
        for step in path:
            below = self.marks.places.get(id(value))
            value = _child(value, step)
            if below is None or value is MISSING:
                break
            if isinstance(below, dict):
                position = below[str(step)]
            else:
                position = (below[int(step)], below[int(step)])
        return position


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step, MISSING)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return MISSING
