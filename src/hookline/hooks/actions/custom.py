"""A third party's action."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from hookline.hooks.action import May
from hookline.hooks.actions.answer import may_of
from hookline.hooks.event import Event, Path
from hookline.hooks.host import Host
from hookline.hooks.outcome import SILENT, Failed, FailureKind, Outcome


@dataclass(frozen=True, slots=True)
class Custom:
    """It gets a copy of the event and may answer only what it declared."""

    name: str
    function: Callable[[Any, Event, Host], Awaitable[Outcome | None]] = field(compare=False, repr=False)
    params: Any = None
    may: May = May.JUDGE | May.CHANGE | May.NOTES | May.HALT | May.COMPACT
    instant = False
    constant = None

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return ((),)

    async def run(self, event: Event, host: Host) -> Outcome:
        returned: object = await self.function(self.params, Event(event.name, copy.deepcopy(event.facts)), host)
        if returned is None:
            return SILENT
        if not isinstance(returned, Outcome):
            text = f"{self.name} returned {type(returned).__name__}, not an Outcome or None"
            raise Failed(FailureKind.UNREADABLE_ANSWER, text)
        beyond = may_of(returned) & ~self.may
        if beyond:
            words = ", ".join(flag.name.lower() for flag in beyond if flag.name)
            raise Failed(FailureKind.NOT_ACCEPTED, f"{self.name} did not declare that it may: {words}")
        return returned
