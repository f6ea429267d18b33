"""An action that cannot be carried out as it is written."""

from __future__ import annotations

from dataclasses import dataclass

from hookline.hooks.action import May
from hookline.hooks.event import Event, Path
from hookline.hooks.host import Host
from hookline.hooks.outcome import Failed, FailureKind, Outcome


@dataclass(frozen=True, slots=True)
class Broken:
    """Its hook answers its on_error: a guard that cannot be read still fails as its author said it should."""

    why: str
    may: May = May.NOTHING
    kind: FailureKind = FailureKind.CANNOT_START
    instant = True
    constant = None

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return ()

    async def run(self, event: Event, host: Host) -> Outcome:
        raise Failed(self.kind, self.why)
