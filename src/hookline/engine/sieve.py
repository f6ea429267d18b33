"""Which of many patterns a text may match, told by the words that each of them needs: re2.Filter, kept in bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, Final

import re2

from hookline.patterns.searchable import as_code_points

_MOST_SOURCE: Final = 65_536  # characters of patterns in one filter; RE2 does not make one that needs more memory
_WINDOW: Final = 16_384  # bytes between two looks at the clock


class Sieve:
    """May only err on the side of too much. Patterns are known by their number."""

    __slots__ = ("_open", "_parts")

    def __init__(self, sources: Sequence[str]) -> None:
        self._parts: list[tuple[range, Any]] = []
        self._open: set[int] = set()  # nothing can be said about these
        for part in _parts(sources):
            self._add(part, sources)

    def unsifted(self) -> set[int]:
        """Patterns that pass whatever the text: they have no word that must occur."""
        return self.passed(("",))

    def passed(self, texts: Iterable[str], deadline: float = float("inf")) -> set[int]:
        """The patterns that one of these texts may match; all that are left when the deadline passes."""
        found = set(self._open)
        for text in texts:
            data = as_code_points(text)
            for part, filter in self._parts:
                if len(data) > _WINDOW and not _in_time(filter, data, deadline):
                    found.update(part)
                else:
                    passed = filter.Match(data, True)
                    found.update(passed if part.start == 0 else [part.start + n for n in passed])
        return found

    def _add(self, part: range, sources: Sequence[str]) -> None:
        built = _filter([sources[n] for n in part])
        if built is not None:
            self._parts.append((part, built))
        elif len(part) == 1:
            self._open.add(part[0])
        else:
            middle = len(part) // 2
            self._add(part[:middle], sources)
            self._add(part[middle:], sources)


def _parts(sources: Sequence[str]) -> Iterable[range]:
    start = length = 0
    for n, source in enumerate(sources):
        if length + len(source) > _MOST_SOURCE and n > start:
            yield range(start, n)
            start, length = n, 0
        length += len(source)
    yield range(start, len(sources))


def _filter(sources: Iterable[str]) -> Any:
    """None where RE2 does not make one."""
    options = re2.Options()
    options.log_errors = False
    built = re2.Filter()
    try:
        for source in sources:
            built.Add(source.encode(), options)
        built.Compile()
    except re2.error:
        return None
    return built._filter  # the public wrapper costs as much again


def _in_time(filter: Any, data: bytes, deadline: float) -> bool:
    """Tries a long text in windows first, for a filter cannot be stopped.

    Their answers are of no use, a pattern may need words in two of them; but all of the text takes no longer than
    they did, and a text made to be slow is found out within one.
    """
    for start in range(0, len(data), _WINDOW):
        if perf_counter() > deadline:
            return False
        filter.Match(data[start : start + _WINDOW], True)
    return perf_counter() < deadline
