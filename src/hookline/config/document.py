"""A config file's value, with the line on which each part of it stands.

Parts of a file that cannot be read although the rest can: what stands in their place.

A text while it is being read, and what was found wrong with it so far.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NoReturn, TypeAlias

from hookline.config.problem import Problem
from hookline.formatting import shorten


@dataclass(frozen=True, slots=True)
class UnreadableValue:
    """In the place of a value that nobody can read."""

    problem: Problem


class ConflictingKeys(dict[str, Any]):
    """A mapping whose keys contradict each other: nobody can tell which of two values was meant.

    It keeps the shape of what was written, so that a file is recognised by it, but a Reader takes nothing out of it.
    """

    def __init__(self, value: dict[str, Any], problems: Iterable[Problem]) -> None:
        super().__init__(value)
        self.problems = tuple(problems)


def problems_of(value: Any) -> Sequence[Problem]:
    if type(value) is ConflictingKeys:
        return value.problems
    return (value.problem,) if type(value) is UnreadableValue else ()


def problems_within(value: Any) -> tuple[Problem, ...]:
    """Of the value and of everything in it, each problem once."""
    found: dict[Problem, None] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        found |= dict.fromkeys(problems_of(each))
        if isinstance(each, (dict, list)) and id(each) not in seen:
            seen.add(id(each))
            waiting += each.values() if isinstance(each, dict) else each
    return tuple(found)


KeyPath: TypeAlias = tuple[str | int, ...]
KeyValuePositions: TypeAlias = tuple[int, int]
Positions: TypeAlias = dict[int, "list[int] | dict[str, KeyValuePositions]"]
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
class SourceMap:
    """Positions in a text. They are keyed by identity, so they hold for the very value that was read, not for a copy."""

    starts: array[int] = field(default_factory=lambda: line_starts(""))
    root: int = 0
    places: Positions = field(default_factory=dict)

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
    marks: SourceMap = field(default_factory=SourceMap, repr=False, compare=False)
    syntax_problems: tuple[Problem, ...] = ()

    def line(self, path: KeyPath = ()) -> int:
        """Where the value begins; for a path that does not exist, where its nearest existing ancestor does."""
        return self.marks.line(self._position(path)[1])

    def key_line(self, path: KeyPath) -> int:
        """The line of the key that the path's last step names; an element of a list has none, so it is its value's."""
        return self.marks.line(self._position(path)[0])

    def value_at(self, path: KeyPath) -> Any:
        """The value there, or MISSING."""
        value = self.value
        for step in path:
            value = _child_value(value, step)
            if value is MISSING:
                return MISSING
        return value

    def _position(self, path: KeyPath) -> KeyValuePositions:
        position = (self.marks.root, self.marks.root)
        value = self.value
        for step in path:
            below = self.marks.places.get(id(value))
            value = _child_value(value, step)
            if below is None or value is MISSING:
                break
            if isinstance(below, dict):
                position = below[str(step)]
            else:
                position = (below[int(step)], below[int(step)])
        return position


def _child_value(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step, MISSING)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return MISSING


MAX_PROBLEMS = 100
MAX_VALUES = 1_000_000
MAX_NESTING = 100

_CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_HIDDEN_LINE_END = re.compile("[\u2028\u2029]")


class UnreadableError(Exception):
    """The file cannot be read any further; why is already among the problems."""


class SourceText:
    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.problems: list[Problem] = []
        self._starts: array[int] | None = None

    @property
    def starts(self) -> array[int]:
        if self._starts is None:
            self._starts = line_starts(self.text)
        return self._starts

    def line(self, position: int) -> int:
        return SourceMap(self.starts).line(position)

    def build_source_map(self, root: int, places: Positions) -> SourceMap:
        return SourceMap(self.starts, root, places)

    def add_problem(self, code: str, position: int, what: str, hint: str = "") -> Problem:
        if len(self.problems) >= MAX_PROBLEMS:
            what = f"The file has more than {MAX_PROBLEMS} problems; the rest was not read."
            self.problems.append(Problem("too-many-problems", self.file, self.line(position), what))
            raise UnreadableError
        problem = Problem(code, self.file, self.line(position), what, hint)
        self.problems.append(problem)
        return problem

    def fail(self, code: str, position: int, what: str, hint: str = "") -> NoReturn:
        self.add_problem(code, position, what, hint)
        raise UnreadableError

    def add_duplicate_key(self, key: str, position: int, first: int) -> Problem:
        what = f'"{shorten(key)}" stands twice in the same mapping, first on line {self.line(first)}.'
        return self.add_problem("duplicate-key", position, what, "Keep one of them.")

    def fail_too_deep(self, position: int) -> NoReturn:
        self.fail("too-deep", position, f"Values are nested more than {MAX_NESTING} deep.", "Write it flatter.")

    def fail_too_many_values(self, position: int) -> NoReturn:
        self.fail("too-large", position, f"The file has more than {MAX_VALUES:,} values.", "Split it into several.")

    def refuse_control_characters(self, start: int, end: int) -> None:
        found = _CONTROL_CHARACTER.search(self.text, start, end)
        if found:
            what = f"The character U+{ord(found[0]):04X} is not allowed in a config file."
            self.fail("control-character", found.start(), what, "Remove it, or write it as an escape in quotes.")

    def refuse_hidden_line_ends(self, start: int, end: int) -> None:
        """libyaml takes U+2028 and U+2029 for line ends; editors do not show them, and YAML 1.2 has none."""
        found = _HIDDEN_LINE_END.search(self.text, start, end)
        if found:
            what = f"The character U+{ord(found[0]):04X} would end a line that looks unbroken."
            self.fail("control-character", found.start(), what, f'Write "\\u{ord(found[0]):04X}" in double quotes.')
