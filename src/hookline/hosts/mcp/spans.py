"""Where each value of a JSON text stands, comments and trailing commas allowed, so that a part can be replaced."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|\ufeff)*", re.S)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_WORD: Final = re.compile(r"[-+.\w]+")
_DEEPEST: Final = 100


class Unreadable(ValueError):
    """The text is not JSON."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    value: Any
    members: dict[str, Span] = field(default_factory=dict)  # of an object
    items: tuple[Span, ...] = ()  # of a list


def span_of(text: str) -> Span:
    """The whole value. Raises Unreadable."""
    scan = _Scan(text)
    whole = scan.value(scan.skip(0), 0)
    if scan.skip(whole.end) != len(text):
        raise scan.wrong(whole.end)
    return whole


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def wrong(self, at: int) -> Unreadable:
        return Unreadable(f"line {self._text.count(chr(10), 0, at) + 1} is not JSON")

    def value(self, at: int, depth: int) -> Span:
        if depth > _DEEPEST:
            raise self.wrong(at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._list(at, depth)
        return self._plain(at)

    def _plain(self, at: int) -> Span:
        found = (_STRING if self._text.startswith('"', at) else _WORD).match(self._text, at)
        if found is None:
            raise self.wrong(at)
        try:
            return Span(at, found.end(), json.loads(found[0]))
        except ValueError:
            raise self.wrong(at) from None

    def _object(self, at: int, depth: int) -> Span:
        members: dict[str, Span] = {}
        here = self.skip(at + 1)
        while not self._text.startswith("}", here):
            key = self._plain(here)
            here = self.skip(key.end)
            if not isinstance(key.value, str) or key.value in members or not self._text.startswith(":", here):
                raise self.wrong(here)
            members[key.value] = held = self.value(self.skip(here + 1), depth + 1)
            here = self._next(held.end, "}")
        return Span(at, here + 1, {name: held.value for name, held in members.items()}, members)

    def _list(self, at: int, depth: int) -> Span:
        items: list[Span] = []
        here = self.skip(at + 1)
        while not self._text.startswith("]", here):
            items.append(self.value(here, depth + 1))
            here = self._next(items[-1].end, "]")
        return Span(at, here + 1, [held.value for held in items], items=tuple(items))

    def _next(self, at: int, closing: str) -> int:
        here = self.skip(at)
        if self._text.startswith(",", here):
            return self.skip(here + 1)
        if not self._text.startswith(closing, here):
            raise self.wrong(here)
        return here
