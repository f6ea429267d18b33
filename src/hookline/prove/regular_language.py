"""Sets of texts that can be joined, intersected and negated, and the search for a text in them.

A language has *derivatives*: what may follow one of its characters (Brzozowski, 1964). Equal languages are one object, as far
as simple rules make them equal, so a language has few derivatives, and a search that follows them ends.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar, Final

from hookline.patterns.syntax_tree import ALL_CHARACTERS, LAST_CODE_POINT, NO_CHARACTERS, Ranges, complement, union

_NICE_CHARACTERS: Final = tuple(
    map(ord, "abcdefghijklmnopqrstuvwxyz0123456789/._-ABCDEFGHIJKLMNOPQRSTUVWXYZ :=,;+*@#%&|<>()[]{}!?$^~'\"`\\")
)


class Language:
    """Made by the functions of this module only."""

    __slots__ = ("_following", "parts", "sets", "takes_empty")
    made: ClassVar[dict[Any, Language]] = {}

    takes_empty: bool  # the empty text is in it
    sets: frozenset[Ranges]  # every set of characters that it tells apart
    parts: Any

    def __init__(self, parts: Any, takes_empty: bool, sets: frozenset[Ranges]) -> None:
        self.parts = parts
        self.takes_empty = takes_empty
        self.sets = sets
        self._following: dict[int, Language] = {}

    def after(self, character: int) -> Language:
        """The texts that may follow this character."""
        found = self._following.get(character)
        if found is None:
            found = self._following[character] = self._derive(character)
        return found

    def _derive(self, character: int) -> Language:
        raise NotImplementedError


class _Character(Language):
    def _derive(self, character: int) -> Language:
        return EMPTY_TEXT if any(low <= character <= high for low, high in self.parts) else NOTHING


class _EmptyText(Language):
    def _derive(self, character: int) -> Language:
        return NOTHING


class _Sequence(Language):
    """The first part and the rest."""

    def _derive(self, character: int) -> Language:
        first, rest = self.parts
        found = sequence((first.after(character), rest))
        return either((found, rest.after(character))) if first.takes_empty else found


class _Either(Language):
    def _derive(self, character: int) -> Language:
        return either([part.after(character) for part in self.parts])


class _Both(Language):
    def _derive(self, character: int) -> Language:
        return both([part.after(character) for part in self.parts])


class _Without(Language):
    def _derive(self, character: int) -> Language:
        return without(self.parts.after(character))


class _Repeated(Language):
    """A part, the least and the most number of times; None: no limit."""

    def _derive(self, character: int) -> Language:
        part, least, most = self.parts
        fewer = repetition(part, max(least - 1, 0), None if most is None else most - 1)
        return sequence((part.after(character), fewer))


def _make(kind: type[Language], parts: Any, takes_empty: bool, sets: frozenset[Ranges]) -> Language:
    key = (kind, parts)
    found = Language.made.get(key)
    if found is None:
        found = Language.made[key] = kind(parts, takes_empty, sets)
    return found


_NO_SETS: Final[frozenset[Ranges]] = frozenset()
EMPTY_TEXT: Final = _make(_EmptyText, (), True, _NO_SETS)
NOTHING: Final = _make(_Either, frozenset(), False, _NO_SETS)
ANY_CHARACTER: Final = _make(_Character, ALL_CHARACTERS, False, _NO_SETS)
ANY_TEXT: Final = _make(_Repeated, (ANY_CHARACTER, 0, None), True, _NO_SETS)


def characters(ranges: Ranges) -> Language:
    """One of these characters."""
    if ranges == ALL_CHARACTERS:
        return ANY_CHARACTER
    return _make(_Character, ranges, False, frozenset((ranges,))) if ranges != NO_CHARACTERS else NOTHING


def single_text(text: str) -> Language:
    return sequence([characters(((ord(each), ord(each)),)) for each in text])


def sequence(parts: Iterable[Language]) -> Language:
    found = EMPTY_TEXT
    for part in reversed(list(parts)):
        found = _prepend(part, found)
    return found


def _prepend(first: Language, rest: Language) -> Language:
    if first is NOTHING or rest is NOTHING:
        return NOTHING
    if first is EMPTY_TEXT:
        return rest
    if rest is EMPTY_TEXT or (first is ANY_TEXT and rest is ANY_TEXT):
        return first
    if isinstance(first, _Sequence):
        return _prepend(first.parts[0], _prepend(first.parts[1], rest))
    if first is ANY_TEXT and isinstance(rest, _Sequence) and rest.parts[0] is ANY_TEXT:
        return rest
    return _make(_Sequence, (first, rest), first.takes_empty and rest.takes_empty, first.sets | rest.sets)


def either(parts: Iterable[Language]) -> Language:
    found: set[Language] = set()
    for part in parts:
        if part is ANY_TEXT:
            return ANY_TEXT
        if isinstance(part, _Either):
            found |= part.parts
        else:
            found.add(part)
    single = [part for part in found if isinstance(part, _Character)]
    if len(single) > 1:
        found = found.difference(single) | {characters(union(*(part.parts for part in single)))}
    if len(found) == 1:
        return next(iter(found))
    if any(isinstance(part, _Without) and part.parts in found for part in found):
        return ANY_TEXT
    return _make(_Either, frozenset(found), any(part.takes_empty for part in found), _all_sets(found))


def both(parts: Iterable[Language]) -> Language:
    found: set[Language] = set()
    for part in parts:
        if part is NOTHING:
            return NOTHING
        if isinstance(part, _Both):
            found |= part.parts
        elif part is not ANY_TEXT:
            found.add(part)
    if EMPTY_TEXT in found:
        return EMPTY_TEXT if all(part.takes_empty for part in found) else NOTHING
    if any(isinstance(part, _Without) and part.parts in found for part in found):
        return NOTHING
    if len(found) < 2:
        return next(iter(found), ANY_TEXT)
    return _make(_Both, frozenset(found), all(part.takes_empty for part in found), _all_sets(found))


def _all_sets(parts: Iterable[Language]) -> frozenset[Ranges]:
    return frozenset().union(*(part.sets for part in parts))


def without(language: Language) -> Language:
    """All other texts."""
    if language is ANY_TEXT:
        return NOTHING
    if language is NOTHING:
        return ANY_TEXT
    if isinstance(language, _Without):
        found: Language = language.parts
        return found
    return _make(_Without, language, not language.takes_empty, language.sets)


def repetition(part: Language, least: int, most: int | None) -> Language:
    if most == 0 or part is EMPTY_TEXT:
        return EMPTY_TEXT
    if part is NOTHING:
        return EMPTY_TEXT if least == 0 else NOTHING
    if (least, most) == (1, 1):
        return part
    if part.takes_empty:
        least = 0
    if part is ANY_TEXT:
        return ANY_TEXT
    return _make(_Repeated, (part, least, most), least == 0, part.sets)


class TooLarge(Exception):
    """A language has too many derivatives to search."""


def find_text(language: Language, may_go_on: Callable[[], None] = lambda: None) -> str | None:
    """A shortest text; None if there is none. `may_go_on` is called now and then, and may raise."""
    came_from: dict[Language, tuple[Language, int] | None] = {language: None}
    layer = [language]
    while layer:
        following: list[Language] = []
        for each in layer:
            if each.takes_empty:
                return _spell_out(each, came_from)
            may_go_on()
            for character in _alphabet(each.sets):  # what may follow tells fewer characters apart
                after = each.after(character)
                if after not in came_from and after is not NOTHING:
                    came_from[after] = (each, character)
                    following.append(after)
        layer = following
    return None


def _spell_out(language: Language, came_from: dict[Language, tuple[Language, int] | None]) -> str:
    text: list[str] = []
    step = came_from[language]
    while step is not None:
        text.append(chr(step[1]))
        step = came_from[step[0]]
    return "".join(reversed(text))


@lru_cache(maxsize=4096)
def _alphabet(sets: frozenset[Ranges]) -> tuple[int, ...]:
    """One character for each way to be in these sets, those that people type first."""
    starts = sorted(
        {0, *(at for ranges in sets for low, high in ranges for at in (low, high + 1) if at <= LAST_CODE_POINT)}
    )
    cells: list[set[int]] = [set() for _ in starts]
    for number, ranges in enumerate(sets):
        for low, high in ranges:
            for at in range(bisect_right(starts, low) - 1, bisect_right(starts, high)):
                cells[at].add(number)
    found: dict[frozenset[int], int] = {}
    for character in _NICE_CHARACTERS:
        found.setdefault(frozenset(cells[bisect_right(starts, character) - 1]), character)
    for at, start in enumerate(starts):
        if not 0xD800 <= start <= 0xDFFF:  # texts have no halves of UTF-16 pairs
            found.setdefault(frozenset(cells[at]), start)
    return tuple(found.values())


def contains(language: Language, text: str) -> bool:
    for character in text:
        language = language.after(ord(character))
    return language.takes_empty


def difference_of(ranges: Ranges, other: Ranges) -> Ranges:
    return complement(union(complement(ranges), other))
