"""A config file's value with the position of each of its parts, and the problems found while parsing it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Final, NoReturn, TypeAlias

from hookline.config.problem import Problem
from hookline.formatting import shorten
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern


@dataclass(frozen=True, slots=True)
class UnreadableValue:
    """Replaces a value that cannot be read."""

    problem: Problem


class ConflictingKeys(dict[str, Any]):
    """A mapping whose keys conflict, so it is unclear which value was meant.

    It keeps its shape, so that the file's dialect is still recognised, but a Node reads nothing from it.
    """

    def __init__(self, value: dict[str, Any], problems: Iterable[Problem]) -> None:
        super().__init__(value)
        self.problems = tuple(problems)

    def duplicate_keys(self) -> frozenset[str] | None:
        """The keys that occur twice; None if something else is wrong with its keys."""
        if any(not problem.what.startswith(_DUPLICATE_KEY) for problem in self.problems):
            return None
        return frozenset(
            problem.what.removeprefix(_DUPLICATE_KEY).rpartition(_FIRST_USED)[0] for problem in self.problems
        )


_DUPLICATE_KEY: Final = 'Duplicate key "'
_FIRST_USED: Final = '", first used on line '


def problems_of(value: Any) -> Sequence[Problem]:
    if type(value) is ConflictingKeys:
        return value.problems
    return (value.problem,) if type(value) is UnreadableValue else ()


def problems_within(value: Any) -> tuple[Problem, ...]:
    """The problems of the value and of everything in it, each once."""
    found: dict[Problem, None] = {}
    seen: set[int] = set()
    queue = [value]
    while queue:
        part = queue.pop()
        found |= dict.fromkeys(problems_of(part))
        if isinstance(part, (dict, list)) and id(part) not in seen:
            seen.add(id(part))
            queue += part.values() if isinstance(part, dict) else part
    return tuple(found)


KeyPath: TypeAlias = tuple[str | int, ...]
KeyValuePositions: TypeAlias = tuple[int, int]
Positions: TypeAlias = dict[int, "array[int]"]
"""For the id of each list and mapping: where in the text its elements begin, or in turn its keys and values. In JSON, the
last number is where it ends. Numbers in arrays take a tenth of the memory of tuples in a mapping."""
_FEW_KEYS: Final = 32

_LINE_END = lazy_pattern(r"\r\n|\n|\r")


class Missing(Enum):
    MISSING = "missing"


MISSING: Final = Missing.MISSING


def line_starts(text: str) -> array[int]:
    starts = array("L", (0,))
    starts.extend(end.end() for end in _LINE_END.finditer(text))
    return starts


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Positions in a text. They are keyed by identity, so they apply to the parsed value itself, not to a copy."""

    starts: array[int] = field(default_factory=lambda: line_starts(""))
    root: int = 0
    positions: Positions = field(default_factory=dict)
    _key_numbers: dict[int, dict[str, int]] = field(default_factory=dict)  # of large mappings, by their id

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)

    def part_position(self, value: Any, step: str | int) -> KeyValuePositions | None:
        """Where an entry of a list or mapping begins: its key, and its value."""
        positions = self.positions.get(id(value))
        if positions is None:
            return None
        if isinstance(value, dict):
            number = 2 * self._key_number(value, str(step))
            return positions[number], positions[number + 1]
        return positions[int(step)], positions[int(step)]

    def _key_number(self, mapping: dict[str, Any], key: str) -> int:
        if len(mapping) <= _FEW_KEYS:
            return list(mapping).index(key)
        numbers = self._key_numbers.get(id(mapping))
        if numbers is None:
            numbers = self._key_numbers[id(mapping)] = {each: number for number, each in enumerate(mapping)}
        return numbers[key]


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content: plain dicts with text keys, lists, text, numbers, booleans and None.

    Do not change `value`: because of YAML aliases, one list or mapping may be used in several places. Without a source
    map, everything is on line 1. With `syntax_problems`, `value` has ConflictingKeys and UnreadableValue parts.
    """

    file: str
    text: str
    value: Any
    source_map: SourceMap = field(default_factory=SourceMap, repr=False, compare=False)
    syntax_problems: tuple[Problem, ...] = ()
    directory: str = field(default="", compare=False)  # the absolute path of the file's directory, if it is a file
    has_byte_order_mark: bool = False  # before the text; some agents reject such a file

    @property
    def is_json(self) -> bool:
        """Whether messages should use the words of JSON: by the file's name."""
        return self.file.endswith((".json", ".jsonc", ".json5"))

    def line(self, path: KeyPath = ()) -> int:
        """The line where the value begins; for a missing path, where its nearest existing parent begins."""
        return self.source_map.line(self._position(path)[1])

    def key_line(self, path: KeyPath) -> int:
        """The line of the path's last key; for an element of a list, the line of its value."""
        return self.source_map.line(self._position(path)[0])

    def value_at(self, path: KeyPath) -> Any:
        """The value there, or MISSING."""
        value = self.value
        for step in path:
            value = _child_value(value, step)
            if value is MISSING:
                return MISSING
        return value

    def _position(self, path: KeyPath) -> KeyValuePositions:
        position = (self.source_map.root, self.source_map.root)
        value = self.value
        for step in path:
            parent, value = value, _child_value(value, step)
            below = None if value is MISSING else self.source_map.part_position(parent, step)
            if below is None:
                break
            position = below
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

_CONTROL_CHARACTER = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_USUAL_CHARACTERS = b"\t\n\r" + bytes(range(0x20, 0x7F))
_HIDDEN_LINE_END = lazy_pattern("[\u2028\u2029]")


class UnreadableError(Exception):
    """Parsing stops here; the reason is already among the problems."""


class SourceText:
    """A text while it is parsed, and the problems found so far."""

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

    def add_problem(self, code: str, position: int, what: str, hint: str = "") -> Problem:
        if len(self.problems) >= MAX_PROBLEMS:
            what = f"The file has more than {MAX_PROBLEMS} problems. The rest was not read."
            self.problems.append(Problem("too-many-problems", self.file, self.line(position), what))
            raise UnreadableError
        problem = Problem(code, self.file, self.line(position), what, hint)
        self.problems.append(problem)
        return problem

    def fail(self, code: str, position: int, what: str, hint: str = "") -> NoReturn:
        self.add_problem(code, position, what, hint)
        raise UnreadableError

    def add_duplicate_key(self, key: str, position: int, first: int) -> Problem:
        what = f"{_DUPLICATE_KEY}{shorten(key)}{_FIRST_USED}{self.line(first)}."
        return self.add_problem("duplicate-key", position, what, "Keep one of them.")

    def fail_too_deep(self, position: int) -> NoReturn:
        self.fail("too-deep", position, f"Values are nested more than {MAX_NESTING} levels deep.", "Use fewer levels.")

    def fail_too_many_values(self, position: int) -> NoReturn:
        self.fail(
            "too-large", position, f"The file has more than {MAX_VALUES:,} values.", "Split it into several files."
        )

    def refuse_control_characters(self, start: int, end: int) -> None:
        if self.text.isascii() and not self.text.encode().translate(None, _USUAL_CHARACTERS):
            return  # a tenth of the time of the pattern, which most files never need
        found = _CONTROL_CHARACTER.search(self.text, start, end)
        if found:
            what = f"The character U+{ord(found[0]):04X} is not allowed in a config file."
            self.fail(
                "control-character", found.start(), what, "Remove it, or write it as an escape in a quoted string."
            )

    def refuse_hidden_line_ends(self, start: int, end: int) -> None:
        """libyaml reads U+2028 and U+2029 as line ends. Editors do not show them, and YAML 1.2 does not have them."""
        found = None if self.text.isascii() else _HIDDEN_LINE_END.search(self.text, start, end)
        if found:
            what = f"The character U+{ord(found[0]):04X} is a hidden line break."
            self.fail("control-character", found.start(), what, f'Write "\\u{ord(found[0]):04X}" in double quotes.')
