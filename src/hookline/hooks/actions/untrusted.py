"""An action of a file that the user has not accepted yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from hookline.hooks.action import Action, May
from hookline.hooks.event import Event, Path
from hookline.hooks.host import Host
from hookline.hooks.outcome import Failed, FailureKind


@dataclass(frozen=True, slots=True)
class NotTrusted:
    """Stands for `action` and always fails, so that its hook answers its on_error."""

    action: Action
    instant = True
    constant = None

    @property
    def may(self) -> May:
        return self.action.may

    def changes(self) -> tuple[Path, ...]:
        return tuple(self.action.changes())

    def reads(self) -> tuple[Path, ...]:
        return tuple(self.action.reads())

    async def run(self, event: Event, host: Host) -> NoReturn:
        raise Failed(FailureKind.NOT_TRUSTED, "is not trusted yet; look at it and run `hookline trust`")
