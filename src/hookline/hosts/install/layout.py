"""Where each list and mapping of a JSON text begins and ends, so that a piece of it can be put in or taken out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from hookline.config.document import Document, Path

_GAP: Final = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*")
_TEXT_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/')
_SCALAR: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[-+.\w$]++')


@dataclass(frozen=True, slots=True)
class Item:
    """One element of a list, or one key with its value."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Container:
    start: int  # of its opening bracket
    end: int  # behind its closing one
    items: tuple[Item, ...]

    @property
    def last(self) -> int:
        """Behind its last item; behind the opening bracket where it has none."""
        return self.items[-1].end if self.items else self.start + 1


def container(document: Document, path: Path = ()) -> Container:
    """The list or mapping at a path that leads to one, in a document that was read from JSON."""
    value, at = document.value, document.marks.root
    for step in path:
        at = _starts(document, value, step)[1]
        value = value[step]
    return _container(document, value, at)


def after_gap(text: str, position: int) -> int:
    """Behind the spaces and comments that stand there."""
    found = _GAP.match(text, position)
    return found.end() if found else position


def comma_after(text: str, position: int) -> int | None:
    """Where the comma stands that is the next thing but spaces and comments."""
    at = after_gap(text, position)
    return at if text.startswith(",", at) else None


def comments(text: str) -> list[str]:
    return [found for found in _TEXT_OR_COMMENT.findall(text) if found.startswith("/")]


def tokens_end(text: str, start: int, end: int) -> int:
    """Behind the last comma or comment between two places; the start where there are only spaces."""
    return start + len(text[start:end].rstrip(" \t\r\n"))


def _container(document: Document, value: Any, at: int) -> Container:
    steps = value if isinstance(value, dict) else range(len(value))
    items = []
    for step in steps:
        key_at, value_at = _starts(document, value, step)
        items.append(Item(key_at, _end(document, value[step], value_at)))
    behind = items[-1].end if items else at + 1
    comma = comma_after(document.text, behind)
    closing = after_gap(document.text, behind if comma is None else comma + 1)
    return Container(at, closing + 1, tuple(items))


def _end(document: Document, value: Any, at: int) -> int:
    if isinstance(value, dict | list):
        return _container(document, value, at).end
    found = _SCALAR.match(document.text, at)
    return found.end() if found else at


def _starts(document: Document, value: Any, step: str | int) -> tuple[int, int]:
    """Of the key and of the value; the same for an element of a list."""
    below = document.marks.places[id(value)]
    if isinstance(below, dict):
        return below[str(step)]
    return below[int(step)], below[int(step)]
