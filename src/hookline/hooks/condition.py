"""A pure question about an event, and what the index may know of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from hookline.hooks.event import Event, Path

NEVER: Final = math.inf


class TextPattern(Protocol):
    """A pattern that cannot hang; `deadline` is a moment of time.perf_counter()."""

    @property
    def source(self) -> str: ...
    @property
    def needed(self) -> str | None:
        """RE2's source for what is found wherever the pattern is, for the index; None where that cannot be said."""

    def search(self, text: str, deadline: float = NEVER) -> bool: ...
    def replace(self, text: str, new: str, deadline: float = NEVER) -> str: ...


class Doubtful(tuple[str, ...]):
    """Texts of which nobody knows which one counts; the subject's `readings` tell them apart."""

    __slots__ = ()


class Subject(Protocol):
    """Which texts of an event a pattern is asked about; hashable, so that equal ones share an index."""

    @property
    def few(self) -> bool:
        """True if its texts come again and again, so that an answer about them is worth remembering."""

    def texts(self, event: Event) -> tuple[str, ...]: ...

    def readings(self, event: Event) -> tuple[tuple[str, ...], ...]:
        """Its texts for each value that it may stand for; () where there is no doubt about which one it is."""

    def reads(self) -> tuple[Path, ...]: ...


@dataclass(frozen=True, slots=True)
class Need:
    """One of the subject's texts must match, or the condition cannot hold."""

    subject: Subject
    pattern: TextPattern


class Condition(Protocol):
    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        """May raise errors.Undecided when the deadline passes, and errors.InDoubt."""

    def needs(self) -> tuple[Need, ...]:
        """All of these must hold for it to hold; () means that the index can say nothing."""

    def reads(self) -> Iterable[Path]: ...

    def __str__(self) -> str:
        """The condition in words."""

    def why_not(self, event: Event) -> str:
        """The part that did not hold, in words; asked only after holds() said no."""
