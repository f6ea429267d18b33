"""Call somebody's Python function, and read what it returned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from hookline.errors import Unavailable
from hookline.hooks.action import May
from hookline.hooks.actions.tell import who
from hookline.hooks.event import Changes, Event, Path
from hookline.hooks.host import Function, Host
from hookline.hooks.outcome import SILENT, Failed, FailureKind, Outcome
from hookline.hooks.secrets import mask

_MOST: Final = 500  # characters of somebody's exception that we repeat


class Malformed(Exception):
    """Its text says what was returned, without repeating any of it."""


class Calling(Protocol):
    """How a function is handed an event, and what its answer means."""

    @property
    def changes(self) -> tuple[Path, ...]:
        """The facts that its answer may change."""

    @property
    def reads(self) -> tuple[Path, ...]: ...
    def arguments(self, event: Event, host: Host) -> tuple[Any, ...]:
        """Copies: nothing that the function does to them can be seen in the event."""

    def changed(self, returned: Any, event: Event) -> Changes:
        """What an answer other than None changes. Raises Malformed."""


@dataclass(frozen=True, slots=True)
class RunPython:
    """None means that all stays as it was. Whatever the function raises is a failure of its hook and of nothing else."""

    name: str  # of the function, as people find it
    calling: Calling
    function: Callable[..., Any] = field(repr=False)
    instant = False
    constant = None

    @property
    def may(self) -> May:
        return May.CHANGE if self.calling.changes else May.NOTHING

    def changes(self) -> tuple[Path, ...]:
        return self.calling.changes

    def reads(self) -> tuple[Path, ...]:
        return self.calling.reads

    async def run(self, event: Event, host: Host) -> Outcome:
        returned = await _returned(Function(self.name, self.function, self.calling.arguments(event, host)), host)
        if returned is None:
            return SILENT
        try:
            changes = self.calling.changed(returned, event)
        except Malformed as wrong:
            raise Failed(FailureKind.UNREADABLE_ANSWER, str(wrong)) from None
        return Outcome(changes=changes) if changes else SILENT


async def _returned(call: Function, host: Host) -> Any:
    try:
        return await host.run_function(call)
    except (Failed, Unavailable, TimeoutError):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise _raised(error) from None  # the function's own, not ours: nobody cancelled this round
    except (Exception, SystemExit) as error:
        raise _raised(error) from None


def _raised(error: BaseException) -> Failed:
    return Failed(FailureKind.RAISED, f"hook {who()} raised {told(error)}")


def told(error: BaseException) -> str:
    """An exception's type and words, with secrets hidden; its words may be anybody's code too."""
    try:
        words = str(error)
    except Exception:
        words = "its text cannot be read"
    return mask(f"{type(error).__name__}: {words}"[:_MOST] if words else type(error).__name__)
