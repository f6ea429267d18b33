"""Call somebody's Python function, and read what it returned.

A third party's action.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from hookline.errors import UnavailableError
from hookline.hooks.actions.description import describe_json
from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.event import Changes, Event, FactPath
from hookline.hooks.host import FunctionCall, Host
from hookline.hooks.masking import mask
from hookline.hooks.outcome import SILENT, ActionError, FailureKind, Outcome
from hookline.hooks.protocols import May, may_of


@dataclass(frozen=True, slots=True)
class CustomAction:
    """It gets a copy of the event and may answer only what it declared."""

    name: str
    function: Callable[[Any, Event, Host], Awaitable[Outcome | None]] = field(compare=False, repr=False)
    params: Any = None
    may: May = May.JUDGE | May.CHANGE | May.NOTES | May.HALT | May.COMPACT
    instant = False
    constant = None
    label = "the action custom"

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return ((),)

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "custom", describe_json(self)

    async def run(self, event: Event, host: Host) -> Outcome:
        returned: object = await self.function(self.params, Event(event.name, copy.deepcopy(event.facts)), host)
        if returned is None:
            return SILENT
        if not isinstance(returned, Outcome):
            text = f"{self.name} returned {type(returned).__name__}, not an Outcome or None"
            raise ActionError(FailureKind.UNREADABLE_ANSWER, text)
        beyond = may_of(returned) & ~self.may
        if beyond:
            words = ", ".join(flag.name.lower() for flag in beyond if flag.name)
            raise ActionError(FailureKind.NOT_ACCEPTED, f"{self.name} did not declare that it may: {words}")
        return returned


_MAX_ERROR_CHARS: Final = 500  # characters of somebody's exception that we repeat


class ReturnValueError(Exception):
    """Its text says what was returned, without repeating any of it."""


class CallingConvention(Protocol):
    """How a function is handed an event, and what its answer means."""

    @property
    def changes(self) -> tuple[FactPath, ...]:
        """The facts that its answer may change."""

    @property
    def reads(self) -> tuple[FactPath, ...]: ...
    def arguments(self, event: Event, host: Host) -> tuple[Any, ...]:
        """Copies: nothing that the function does to them can be seen in the event."""

    def changes_from(self, returned: Any, event: Event) -> Changes:
        """What an answer other than None changes. Raises Malformed."""


@dataclass(frozen=True, slots=True)
class RunPython:
    """None means that all stays as it was. Whatever the function raises is a failure of its hook and of nothing else."""

    name: str  # of the function, as people find it
    calling: CallingConvention
    function: Callable[..., Any] = field(repr=False)
    instant = False
    constant = None
    label = "its action"

    @property
    def may(self) -> May:
        return May.CHANGE if self.calling.changes else May.NOTHING

    def changes(self) -> tuple[FactPath, ...]:
        return self.calling.changes

    def reads(self) -> tuple[FactPath, ...]:
        return self.calling.reads

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "runpython", describe_json(self)

    async def run(self, event: Event, host: Host) -> Outcome:
        returned = await _call_function(
            FunctionCall(self.name, self.function, self.calling.arguments(event, host)), host
        )
        if returned is None:
            return SILENT
        try:
            changes = self.calling.changes_from(returned, event)
        except ReturnValueError as wrong:
            raise ActionError(FailureKind.UNREADABLE_ANSWER, str(wrong)) from None
        return Outcome(changes=changes) if changes else SILENT


async def _call_function(call: FunctionCall, host: Host) -> Any:
    try:
        return await host.run_function(call)
    except (ActionError, UnavailableError, TimeoutError):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise _function_error(error) from None  # the function's own, not ours: nobody cancelled this round
    except (Exception, SystemExit) as error:
        raise _function_error(error) from None


def _function_error(error: BaseException) -> ActionError:
    return ActionError(FailureKind.RAISED, f"hook {current_hook_id()} raised {describe_exception(error)}")


def describe_exception(error: BaseException) -> str:
    """An exception's type and words, with secrets hidden; its words may be anybody's code too."""
    try:
        words = str(error)
    except Exception:
        words = "its text cannot be read"
    return mask(f"{type(error).__name__}: {words}"[:_MAX_ERROR_CHARS] if words else type(error).__name__)
