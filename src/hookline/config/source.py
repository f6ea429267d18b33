"""A text while it is being read, and what was found wrong with it so far."""

from __future__ import annotations

import re
from array import array
from typing import NoReturn

from hookline.config.document import Marks, Places, line_starts
from hookline.config.problem import Problem, short

MOST_PROBLEMS = 100
MOST_VALUES = 1_000_000
DEEPEST = 100

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_HIDDEN_LINE_END = re.compile("[\u2028\u2029]")


class Unreadable(Exception):
    """The file cannot be read any further; why is already among the problems."""


class Source:
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
        return Marks(self.starts).line(position)

    def marks(self, root: int, places: Places) -> Marks:
        return Marks(self.starts, root, places)

    def note(self, code: str, position: int, what: str, hint: str = "") -> Problem:
        if len(self.problems) >= MOST_PROBLEMS:
            what = f"The file has more than {MOST_PROBLEMS} problems; the rest was not read."
            self.problems.append(Problem("too-many-problems", self.file, self.line(position), what))
            raise Unreadable
        problem = Problem(code, self.file, self.line(position), what, hint)
        self.problems.append(problem)
        return problem

    def stop(self, code: str, position: int, what: str, hint: str = "") -> NoReturn:
        self.note(code, position, what, hint)
        raise Unreadable

    def duplicate(self, key: str, position: int, first: int) -> Problem:
        what = f'"{short(key)}" stands twice in the same mapping, first on line {self.line(first)}.'
        return self.note("duplicate-key", position, what, "Keep one of them.")

    def too_deep(self, position: int) -> NoReturn:
        self.stop("too-deep", position, f"Values are nested more than {DEEPEST} deep.", "Write it flatter.")

    def too_many(self, position: int) -> NoReturn:
        self.stop("too-large", position, f"The file has more than {MOST_VALUES:,} values.", "Split it into several.")

    def refuse_control_characters(self, start: int, end: int) -> None:
        found = _NOT_TEXT.search(self.text, start, end)
        if found:
            what = f"The character U+{ord(found[0]):04X} is not allowed in a config file."
            self.stop("control-character", found.start(), what, "Remove it, or write it as an escape in quotes.")

    def refuse_hidden_line_ends(self, start: int, end: int) -> None:
        """libyaml takes U+2028 and U+2029 for line ends; editors do not show them, and YAML 1.2 has none."""
        found = _HIDDEN_LINE_END.search(self.text, start, end)
        if found:
            what = f"The character U+{ord(found[0]):04X} would end a line that looks unbroken."
            self.stop("control-character", found.start(), what, f'Write "\\u{ord(found[0]):04X}" in double quotes.')
