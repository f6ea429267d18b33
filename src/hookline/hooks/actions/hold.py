"""Holds a call because its hook cannot be run, and could have stopped it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.host import Host
from hookline.hooks.outcome import ActionError, Failure, FailureKind, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass


def holding_answer(event: str, reason: str) -> Outcome | None:
    """An ask where the event accepts it, else a deny; None if nothing can be held there."""
    accepts = EVENTS[event].accepts
    if accepts & May.ASK:
        return Outcome(Verdict.ASK, reason)
    return Outcome(Verdict.DENY, reason) if accepts & May.DENY and event not in ENDING_EVENTS else None


def holding_error(failure: Failure, event: str) -> ActionError:
    """The failure of an action that could have stopped the event; if it is broken and not only failed, it holds the event."""
    broken = failure.kind is FailureKind.CANNOT_START and failure.answer is None
    reason = f"hook {current_hook_id()} {failure.text}"
    answer = holding_answer(event, reason) if broken else failure.answer
    return ActionError(failure.kind, failure.text, answer, failure.partial_outcome, failure.detail)


@dataclass(frozen=True, slots=True)
class HoldCall:
    """Takes the place of an action that cannot be run. `reason` tells a person why, and what to do.

    It always fails, so the failure is recorded. A person is asked about the event, and it is denied if the event cannot
    be asked about. The hook's `on_error` counts if it is stronger.
    """

    reason: str
    kind: FailureKind = FailureKind.CANNOT_START
    written: Any = None  # the action, as its file has it
    instant = True
    constant = None
    label = "its action, which cannot be run"

    @property
    def may(self) -> May:
        return May.ASK | May.DENY

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return ()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "stop", self.reason

    async def run(self, event: Event, host: Host) -> NoReturn:
        raise ActionError(self.kind, f"cannot run: {self.reason}", holding_answer(event.name, self.reason))
