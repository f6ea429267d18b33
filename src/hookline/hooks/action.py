"""The one thing a hook does."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag, auto
from typing import Protocol

from hookline.hooks.event import Event, Path
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome


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


class Action(Protocol):
    @property
    def instant(self) -> bool:
        """True if it answers without waiting."""

    @property
    def constant(self) -> Outcome | None:
        """The outcome, where it is always the same and nothing else is done."""

    @property
    def may(self) -> May: ...

    def changes(self) -> Iterable[Path]:
        """The places that it may change, as far as known before it runs."""

    def reads(self) -> Iterable[Path]:
        """The facts that it reads."""

    async def run(self, event: Event, host: Host) -> Outcome: ...
