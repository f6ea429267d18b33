"""What is wrong in somebody's file, as data: where, what, and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LONGEST_SHOWN = 60
LONGEST_WORD = 64
"""Words longer than this are not compared: nobody mistypes that much, and comparing costs their length squared."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Sorts by file and line. `what` and `hint` are always one line of printable characters, whatever the file said."""

    code: str
    file: str
    line: int
    what: str
    hint: str = ""
    severity: Severity = Severity.ERROR

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", printable(self.what))
        object.__setattr__(self, "hint", printable(self.hint))

    def __str__(self) -> str:
        text = f"{printable(self.file)}:{self.line}  {self.what}"
        return f"{text} {self.hint}" if self.hint else text

    def __lt__(self, other: Problem) -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[str, int, str, str]:
        return self.file, self.line, self.code, self.what

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.file,
            "line": self.line,
            "what": self.what,
            "hint": self.hint,
        }


def printable(text: str) -> str:
    """The text with escapes for whatever could move a cursor, hide text or fail to be encoded."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def short(text: str) -> str:
    """At most 60 characters of it."""
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant; case, `-` and `_` do not count, so `onError` finds `on_error`."""
    if len(word) > LONGEST_WORD:
        return None
    by_letters = {_letters(each): each for each in known}
    found = difflib.get_close_matches(_letters(word), by_letters, n=1, cutoff=0.6)
    return by_letters[found[0]] if found else None


def _letters(word: str) -> str:
    return word.casefold().replace("-", "").replace("_", "").replace(" ", "")
