"""The two engines behind a pattern, each held to the time and memory that a search may cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import regex
from re2 import _re2  # the public wrapper costs twice a short search

from hookline.errors import Undecided
from hookline.patterns.aside import aside
from hookline.patterns.tree import BadPattern

BUDGET = 0.1
"""Seconds that one search may take."""

ANYWHERE = _re2.RE2.Anchor.UNANCHORED
WHOLE = _re2.RE2.Anchor.ANCHOR_BOTH

_SECONDS_A_STEP = 7e-9  # RE2, for a byte and an instruction, when its table of states is of no use
_SECONDS_A_WINDOW = BUDGET / 8
_MOST_INSTRUCTIONS = 200_000
_LONGEST_TABLE_TEXT = 16_000_000
_TAME, _TOLERABLE = 5, 12  # breadths at which hostile texts of 1 MB still took less than BUDGET, and about that
_BYTES_A_CHARACTER = 4
_LONGEST_AT_ONCE = 65_536  # beyond this the regex module looks at its clock too rarely
_LONGEST_BACKTRACKING_TEXT = 2_000_000  # of which it may need some 300 MB for a while

T = TypeVar("T")


class Shape(NamedTuple):
    """See hookline.patterns.cost."""

    breadth: int
    width: int | None


class Measured(Protocol):
    def __call__(self) -> Shape | None:
        """The pattern's shape, None where it is not known. Asked for long texts only."""


class Linear:
    """RE2. Its time grows with the text alone where its table of states holds, else with text × pattern too."""

    __slots__ = ("anchor", "match", "size", "surely_quick")

    def __init__(self, source: str, *, whole: bool) -> None:
        options = _re2.RE2.Options()
        options.log_errors = False
        options.never_capture = True
        compiled = _re2.RE2(source.encode(), options)
        if not compiled.ok():
            raise BadPattern(compiled.error().decode("utf-8", "replace"))
        self.size: int = compiled.ProgramSize()
        if self.size > _MOST_INSTRUCTIONS:
            raise BadPattern("it is too large")
        self.match: Any = compiled.Match
        self.anchor = WHOLE if whole else ANYWHERE
        self.surely_quick = self._quick(BUDGET / 2)

    def found(self, data: bytes) -> bool:
        return bool(self.match(self.anchor, data, 0, len(data))[0][0] >= 0)

    def search(self, data: bytes, measured: Measured, limit: float) -> bool:
        if len(data) <= self.surely_quick:
            return self.found(data)
        shape = measured()
        if shape is None:
            raise Undecided
        long = len(data) > _LONGEST_TABLE_TEXT
        if shape.breadth <= _TAME and not long:
            return self.found(data)
        if shape.width is not None:
            return self._search_by_window(data, shape.width * _BYTES_A_CHARACTER, limit)
        if shape.breadth <= _TOLERABLE and not long:
            return self.found(data)
        raise Undecided

    def _search_by_window(self, data: bytes, widest: int, limit: float) -> bool:
        """Windows that overlap by the widest match miss none, and the clock is read between them."""
        if self.anchor is WHOLE:
            return len(data) <= widest and self._within(data, 0, len(data), limit)
        step = self._quick(_SECONDS_A_WINDOW) - widest
        if step < widest:
            raise Undecided
        return any(
            self._within(data, start, min(start + step + widest, len(data)), limit)
            for start in range(0, len(data), step)
        )

    def _within(self, data: bytes, start: int, end: int, limit: float) -> bool:
        if time.perf_counter() + _SECONDS_A_WINDOW > limit or end - start > self.surely_quick:
            raise Undecided
        return bool(self.match(self.anchor, data, start, end)[0][0] >= 0)

    def _quick(self, seconds: float) -> int:
        return int(seconds / (self.size * _SECONDS_A_STEP))


class Backtracking:
    """The regex module, for look-around and back-references. It may need any time, so it is stopped."""

    __slots__ = ("_compiled", "_whole")

    def __init__(self, source: str, *, whole: bool) -> None:
        try:
            self._compiled = regex.compile(source, regex.V0 | regex.UNICODE, cache_pattern=False)
        except regex.error as error:
            raise BadPattern(str(error)) from None
        self._whole = whole

    def replaced(self, text: str, new: str, limit: float) -> str:
        def sub(left: float) -> str:
            return self._compiled.sub(lambda found: new if found[0] else "", text, timeout=left, concurrent=True)

        return _in_time(sub, text, limit)

    def search(self, text: str, limit: float) -> bool:
        ask = self._compiled.fullmatch if self._whole else self._compiled.search
        return _in_time(lambda left: ask(text, timeout=left, concurrent=True) is not None, text, limit)


def _in_time(ask: Callable[[float], T], text: str, limit: float) -> T:
    """What it answers within the time that is left; a long text is looked at aside, so that nobody waits longer."""
    if len(text) > _LONGEST_BACKTRACKING_TEXT:
        raise Undecided(
            f"look-around and back-references are tried on {_LONGEST_BACKTRACKING_TEXT} characters at most, "
            f"and this text has {len(text)}"
        )
    left = limit - time.perf_counter()
    if left <= 0:
        raise Undecided
    try:
        return ask(left) if len(text) <= _LONGEST_AT_ONCE else aside(lambda: ask(left), left)
    except (TimeoutError, MemoryError):
        raise Undecided from None
