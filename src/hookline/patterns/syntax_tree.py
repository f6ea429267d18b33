"""The syntax tree of a pattern, the same for every regex syntax.

Character sets are sorted ranges of code points. This module also knows which characters differ only in case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache, lru_cache

from hookline.lazy_dataclasses import dataclass

Ranges = tuple[tuple[int, int], ...]

LAST_CODE_POINT = 0x10FFFF
ALL_CHARACTERS: Ranges = ((0, LAST_CODE_POINT),)
NO_CHARACTERS: Ranges = ()
DIGITS: Ranges = ((0x30, 0x39),)
WORD_CHARACTERS: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
NEWLINE: Ranges = ((0x0A, 0x0A),)
RE2_SPACE: Ranges = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
PYTHON_SPACE: Ranges = (
    (0x09, 0x0D),
    (0x1C, 0x20),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)
JAVASCRIPT_SPACE: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
JAVASCRIPT_LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))

# All characters that have another case are in these ranges.
_CASED_RANGES: Ranges = (
    (0x41, 0x587),
    (0x10A0, 0x13FF),
    (0x1C80, 0x1CBF),
    (0x1D79, 0x1D8E),
    (0x1E00, 0x1FFF),
    (0x2126, 0x2188),
    (0x24B6, 0x24E9),
    (0x2C00, 0x2D2F),
    (0xA640, 0xA7FF),
    (0xAB30, 0xABBF),
    (0xFB05, 0xFB06),
    (0xFF21, 0xFF5A),
    (0x10400, 0x105FF),
    (0x10C80, 0x10DFF),
    (0x118A0, 0x118DF),
    (0x16E40, 0x16EFF),
    (0x1E900, 0x1E943),
)


def union(*sets: Iterable[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pair for ranges in sets for pair in ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in union(ranges):
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= LAST_CODE_POINT:
        gaps.append((start, LAST_CODE_POINT))
    return tuple(gaps)


def are_disjoint(one: Ranges, other: Ranges) -> bool:
    return all(high < low2 or high2 < low for low, high in one for low2, high2 in other)


@lru_cache(256)
def with_other_cases(ranges: Ranges, fold: Callable[[str], str]) -> Ranges:
    """The set, plus all characters that `fold` maps to the same character as one of its members."""
    added: list[tuple[int, int]] = []
    for family in _case_families(fold):
        if any(low <= member <= high for member in family for low, high in ranges):
            added.extend((member, member) for member in family)
    return union(ranges, added)


@cache
def _case_families(fold: Callable[[str], str]) -> tuple[tuple[int, ...], ...]:
    members: defaultdict[str, list[int]] = defaultdict(list)
    for low, high in _CASED_RANGES:
        for code in range(low, high + 1):
            members[fold(chr(code))].append(code)
    return tuple(tuple(family) for family in members.values() if len(family) > 1)


def fold_case_re2(character: str) -> str:
    """RE2 treats two characters as equal, ignoring case, if this is equal."""
    return character.casefold()


def fold_case_javascript(character: str) -> str:
    """Canonicalize of ECMAScript without the `u` flag: upper case, and never from outside ASCII into it."""
    upper = character.upper()
    if len(upper) != 1 or (upper < "\x80" <= character) or character > "\uffff":
        return character
    return upper


class BadPattern(ValueError):
    """why: what is wrong, for the author; position: where in the source, if at one place."""

    def __init__(self, why: str, position: int | None = None) -> None:
        super().__init__(why if position is None else f"{why}, at character {position + 1}")
        self.why = why
        self.position = position


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """One character of a set. `properties` are `\\p{Name}` or `\\P{Name}`, which RE2 and regex both read."""

    ranges: Ranges
    properties: tuple[str, ...] = ()
    negated: bool = False


class Boundary(Enum):
    TEXT_START = "start"
    TEXT_END = "end"
    LAST_LINE_END = "last line's end"  # Python's `$`: the text's end, or before a newline there
    WORD = "word"
    NOT_WORD = "not word"


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[RegexNode, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    options: tuple[RegexNode, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: RegexNode
    least: int
    most: int | None
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    part: RegexNode
    number: int


@dataclass(frozen=True, slots=True)
class LookAround:
    part: RegexNode
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class BackReference:
    """The text of the group among these that matched."""

    groups: tuple[int, ...]
    any_case: bool
    unset_is_empty: bool


RegexNode = CharacterSet | Boundary | Sequence | Alternation | Repeat | Group | LookAround | BackReference

EMPTY_SEQUENCE = Sequence(())


def make_sequence(parts: list[RegexNode]) -> RegexNode:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def make_alternation(options: list[RegexNode]) -> RegexNode:
    return options[0] if len(options) == 1 else Alternation(tuple(options))


def children(node: RegexNode) -> tuple[RegexNode, ...]:
    match node:
        case Sequence(parts):
            return parts
        case Alternation(options):
            return options
        case Repeat(part=part) | Group(part=part) | LookAround(part=part):
            return (part,)
        case _:
            return ()
