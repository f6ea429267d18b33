"""A pure question about an event, and what the index may know of it.

The one thing a hook does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Flag, auto
from typing import Final, Protocol

from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome, Verdict


class May(Flag):
    """What an action may ask for; the events say which of these they accept."""

    NOTHING = 0
    ALLOW = auto()
    ASK = auto()
    DENY = auto()
    CHANGE = auto()
    NOTES = auto()
    HALT = auto()
    COMPACT = auto()
    JUDGE = ALLOW | ASK | DENY


_MAY_BY_VERDICT = {Verdict.SILENT: May.NOTHING, Verdict.ALLOW: May.ALLOW, Verdict.ASK: May.ASK, Verdict.DENY: May.DENY}


def may_of(outcome: Outcome) -> May:
    """What this outcome asks for."""
    may = _MAY_BY_VERDICT[outcome.verdict]
    if outcome.changes:
        may |= May.CHANGE
    if any(note.audience == "agent" for note in outcome.notes):
        may |= May.NOTES
    if outcome.halt:
        may |= May.HALT
    if outcome.requests:
        may |= May.COMPACT
    return may


class Action(Protocol):
    @property
    def instant(self) -> bool:
        """True if it answers without waiting."""

    @property
    def constant(self) -> Outcome | None:
        """The outcome, where it is always the same and nothing else is done."""

    @property
    def may(self) -> May: ...

    def changes(self) -> Iterable[FactPath]:
        """The places that it may change, as far as known before it runs."""

    def reads(self) -> Iterable[FactPath]:
        """The facts that it reads."""

    @property
    def label(self) -> str:
        """A noun phrase for messages: "the action run", "an answer of its own (deny)"."""

    def describe(self) -> Iterable[tuple[str, str]]:
        """What it would do, as pairs of a verb and its object, for a person who decides whether to trust it."""

    async def run(self, event: Event, host: Host) -> Outcome: ...


NO_DEADLINE: Final = math.inf


class TextPattern(Protocol):
    """A pattern that cannot hang; `deadline` is a moment of time.perf_counter()."""

    @property
    def source(self) -> str: ...
    @property
    def prefilter(self) -> str | None:
        """RE2's source for what is found wherever the pattern is, for the index; None where that cannot be said."""

    def search(self, text: str, deadline: float = NO_DEADLINE) -> bool: ...
    def replace(self, text: str, new: str, deadline: float = NO_DEADLINE) -> str: ...


class AmbiguousTexts(tuple[str, ...]):
    """Texts of which nobody knows which one counts; the subject's `readings` tell them apart."""

    __slots__ = ()


class Subject(Protocol):
    """Which texts of an event a pattern is asked about; hashable, so that equal ones share an index."""

    @property
    def is_cacheable(self) -> bool:
        """True if its texts come again and again, so that an answer about them is worth remembering."""

    def texts(self, event: Event) -> tuple[str, ...]: ...

    def interpretations(self, event: Event) -> tuple[tuple[str, ...], ...]:
        """Its texts for each value that it may stand for; () where there is no doubt about which one it is."""

    def reads(self) -> tuple[FactPath, ...]: ...


@dataclass(frozen=True, slots=True)
class Need:
    """One of the subject's texts must match, or the condition cannot hold."""

    subject: Subject
    pattern: TextPattern


class Condition(Protocol):
    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        """May raise errors.Undecided when the deadline passes, and errors.InDoubt."""

    def needs(self) -> tuple[Need, ...]:
        """All of these must hold for it to hold; () means that the index can say nothing."""

    def reads(self) -> Iterable[FactPath]: ...

    def __str__(self) -> str:
        """The condition in words."""

    def why_not(self, event: Event) -> str:
        """The part that did not hold, in words; asked only after holds() said no."""
