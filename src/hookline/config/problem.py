"""A problem in a config file, as data: where it is, what is wrong, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hookline.formatting import printable


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Sorts by file and line. `what` and `hint` are always one line of printable characters."""

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
        return self._sort_key() < other._sort_key()

    def _sort_key(self) -> tuple[str, int, str, str]:
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
