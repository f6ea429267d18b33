"""Actions that are Python functions: registered ones, and functions with a dialect's calling convention."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Protocol

from hookline.errors import UnavailableError
from hookline.hooks.actions.description import describe_json
from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.event import Changes, Event, FactPath, copy_fact
from hookline.hooks.host import FunctionCall, Host
from hookline.hooks.masking import mask
from hookline.hooks.outcome import SILENT, ActionError, FailureKind, Outcome
from hookline.hooks.protocols import May, may_of
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import asyncio, lazy_logger


@dataclass(frozen=True, slots=True)
class CustomAction:
    """A registered action. It gets a copy of the event and may return only what it declared."""

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
        params = describe_json(self.params)
        yield "custom", self.name if params in ("null", "{}") else f"{self.name} {params}"

    async def run(self, event: Event, host: Host) -> Outcome:
        returned: object = await self.function(self.params, Event(event.name, copy_fact(event.facts)), host)
        if returned is None:
            return SILENT
        if not isinstance(returned, Outcome):
            text = f"returned {type(returned).__name__}, not an Outcome or None"
            raise ActionError(FailureKind.UNREADABLE_ANSWER, text)
        beyond = may_of(returned) & ~self.may
        if beyond:
            words = ", ".join(flag.name.lower() for flag in beyond if flag.name)
            raise ActionError(FailureKind.NOT_ACCEPTED, f"{self.name} did not declare that it may: {words}")
        return returned


_log = lazy_logger("hookline")
_MAX_ERROR_CHARS: Final = 500  # characters of an exception in a message


class ReturnValueError(Exception):
    """A function returned something invalid. The message does not repeat the value."""


class CallingConvention(Protocol):
    """How a function gets an event, and what its return value means."""

    @property
    def changes(self) -> tuple[FactPath, ...]:
        """The facts that its return value may change."""

    @property
    def reads(self) -> tuple[FactPath, ...]: ...
    def arguments(self, event: Event, host: Host) -> tuple[Any, ...]:
        """Copies, so that the function cannot change the event."""

    def changes_from(self, returned: Any, event: Event) -> Changes:
        """What a return value other than None changes. Raises ReturnValueError."""


@dataclass(frozen=True, slots=True)
class RunPython:
    """None changes nothing. An exception of the function fails its hook and nothing else."""

    name: str  # the function's name, for messages
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
        yield "python", self.name

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
        raise _function_error(error) from None  # raised by the function itself: this task was not cancelled
    except (Exception, SystemExit) as error:
        raise _function_error(error) from None


def _function_error(error: BaseException) -> ActionError:
    """The exception's text may quote what the hook was given, so only a reason has it, and the log with --debug."""
    hook, text = current_hook_id(), describe_exception(error)
    _log.debug("[%s] raised %s", hook, text)
    failed = f"hook {hook} raised {type(error).__name__}"
    return ActionError(FailureKind.RAISED, failed, detail=f"hook {hook} raised {text}")


def describe_exception(error: BaseException) -> str:
    """An exception's type and message, with secrets masked."""
    words = _exception_words(error)
    return mask(f"{type(error).__name__}: {words}"[:_MAX_ERROR_CHARS] if words else type(error).__name__)


def exception_text(error: BaseException) -> str:
    """An exception's own message, or its type if it has none, with secrets masked."""
    return mask(_exception_words(error)[:_MAX_ERROR_CHARS] or type(error).__name__)


def _exception_words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # its __str__ may be third-party code
        return "its text cannot be read"
