"""Actions that always fail: one that could not be read, one whose file is not trusted yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from hookline.hooks.actions.description import describe_json
from hookline.hooks.actions.wrapper import ActionWrapper
from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.outcome import ActionError, FailureKind, Outcome
from hookline.hooks.protocols import Action, May
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InvalidAction:
    """An action that could not be read. It always fails, so that its hook answers with its on_error."""

    why: str
    may: May = May.NOTHING
    kind: FailureKind = FailureKind.CANNOT_START
    written: Any = None  # as its file has it
    instant = True
    constant = None
    label = "its action, which cannot be run"

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return ()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "broken", self.why
        if self.written is not None:
            yield "written", describe_json(self.written)

    async def run(self, event: Event, host: Host) -> Outcome:
        raise ActionError(self.kind, self.why)


@dataclass(frozen=True, slots=True)
class UntrustedAction(ActionWrapper):
    """Takes the place of `action` until its file is trusted. It always fails, so that its hook answers with its on_error."""

    action: Action
    instant = True

    async def run(self, event: Event, host: Host) -> NoReturn:
        raise ActionError(FailureKind.NOT_TRUSTED, "is not trusted yet; review it with `hookline trust`")
