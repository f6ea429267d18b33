"""What a condition and an action are, and what the index asks of a condition."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag, auto
from typing import Protocol

from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.outcome import Outcome, Verdict
from hookline.lazy_dataclasses import dataclass


class May(Flag):
    """What an action may ask for. Each event accepts some of these."""

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
    if not (outcome.changes or outcome.notes or outcome.halt or outcome.requests):
        return may  # most outcomes: each step below costs microseconds
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
        """True if it never waits."""

    @property
    def constant(self) -> Outcome | None:
        """The outcome if it is always the same and the action does nothing else; otherwise None."""

    @property
    def may(self) -> May: ...

    def changes(self) -> Iterable[FactPath]:
        """The facts that it may change, as far as known before it runs."""

    def reads(self) -> Iterable[FactPath]:
        """The facts that it reads."""

    @property
    def label(self) -> str:
        """A noun phrase for messages: "the action run", "an answer of its own (deny)"."""

    def describe(self) -> Iterable[tuple[str, str]]:
        """What it would do, as pairs of a verb and its object, for a person who decides whether to trust it."""

    async def run(self, event: Event, host: Host) -> Outcome: ...


class InlineAction:
    """The base of actions that often end before they wait for anything, and then need no task of their own."""

    __slots__ = ()

    def needs_task(self, host: Host) -> bool:
        """False if what it does before it first waits does not depend on the task that does it."""
        raise NotImplementedError


class TextPattern(Protocol):
    """A pattern that cannot hang. `deadline` is a time of time.perf_counter()."""

    @property
    def source(self) -> str: ...
    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Each set has a word of every text that matches, in any case. For the index; empty if no word is sure."""

    @property
    def required_text(self) -> str | None:
        """A text that is in every text that matches, exactly like this; None if none is sure, or before `words` are known."""

    def search(self, text: str, deadline: float = NO_DEADLINE) -> bool: ...
    def replace(self, text: str, new: str, deadline: float = NO_DEADLINE) -> str: ...
    def __hash__(self) -> int: ...


Readings = tuple[tuple[str, ...], ...]
"""The texts of a value for each way to read it."""


class AmbiguousTexts(tuple[str, ...]):
    """The texts of several readings. `Subject.readings` tells them apart."""

    __slots__ = ()


class Subject(Protocol):
    """The texts of an event that a pattern is matched against. Hashable, so that equal subjects share an index."""

    @property
    def is_cacheable(self) -> bool:
        """True if the same texts come often, so that caching a match pays."""

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        """May raise UndecidedError when the deadline passes."""

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        """Its texts for each way to read the event, whatever Event.choices says; () if there is only one way."""

    def reads(self) -> tuple[FactPath, ...]: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Need:
    """One of the subject's texts must match, or the condition cannot hold."""

    subject: Subject
    pattern: TextPattern


class Condition(Protocol):
    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        """May raise UndecidedError when the deadline passes, and AmbiguousField."""

    def needs(self) -> tuple[Need, ...]:
        """All of these must match for the condition to hold. () means that the index cannot rule it out."""

    def reads(self) -> Iterable[FactPath]: ...

    def __str__(self) -> str:
        """The condition in words."""

    def why_not(self, event: Event) -> str:
        """The part that did not hold, in words. Call it only after holds() returned False."""


class PureCondition:
    """The base of conditions that only look at the event: they may be asked twice about it."""

    __slots__ = ()
