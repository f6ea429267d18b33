"""A problem in a config file, as data: where it is, what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias

from hookline.errors import ConfigError
from hookline.formatting import natural_order, printable
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_logger

_log = lazy_logger("hookline")

OnProblem: TypeAlias = Literal["raise", "warn"]
"""What to do about a config with errors: refuse to start, or start without what cannot be used."""
NO_LINE: Final = 0
"""For a problem of the whole file, such as one that does not exist."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Sorts by file, line and what is wrong. `what` and `hint` are always one line of printable characters."""

    code: str
    file: str
    line: int
    what: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    version: str = ""  # of the content that it is about: the same problem of another version is news
    about: str = field(default="", compare=False)
    """A key or value in the file. hookline.project.problem_lines finds its line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", printable(self.what))
        object.__setattr__(self, "hint", printable(self.hint))

    def __str__(self) -> str:
        place = printable(self.file) if self.line == NO_LINE else f"{printable(self.file)}:{self.line}"
        text = f"{place}  {self.what}"
        return f"{text} {self.hint}" if self.hint else text

    def __lt__(self, other: Problem) -> bool:
        return self._sort_key() < other._sort_key()

    def _sort_key(self) -> tuple[str, int, list[str | int], str]:
        return self.file, self.line, natural_order(self.what), self.code

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.file,
            "line": None if self.line == NO_LINE else self.line,
            "what": self.what,
            "hint": self.hint,
        }


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """The problems that are errors, each once, sorted by file and line."""
    return sorted({problem for problem in problems if problem.severity is Severity.ERROR})


def refuse_errors(problems: Iterable[Problem], on_problem: OnProblem = "raise") -> None:
    """Raises ConfigError with every error among the problems; with "warn", logs each of them instead."""
    if on_problem not in ("raise", "warn"):
        raise ValueError(f'on_problem must be "raise" or "warn", not {on_problem!r}')
    errors = errors_of(problems)
    if errors and on_problem == "raise":
        raise ConfigError(errors)
    for error in errors:
        _log.warning("%s", error)
