"""One function attempts an action, one folds outcomes; the engine and `chain` share both.

A hook's time stands still while a person is asked about a call that it makes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from hookline.errors import UnavailableError
from hookline.hooks.event import Changes, Event
from hookline.hooks.host import CurrentHook, Host, current_hook
from hookline.hooks.masking import mask
from hookline.hooks.outcome import ActionError, Failure, FailureKind, HostRequest, Note, Outcome, Verdict, is_outcome
from hookline.hooks.protocols import Action


class _PausableTimeout:
    """One hook's time limit. It runs again when the last of those who hold it lets go."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self.over = False
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._left = 0.0  # seconds
        self._held = 0

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Nothing is held of another loop's hook, or of one whose time is up."""
        when = self._limit.when()
        if self._loop is not asyncio.get_running_loop() or not self._is_running or (when is None and not self._held):
            yield
            return
        if when is not None:
            self._left = when - self._loop.time()
            self._limit.reschedule(None)
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if not self._held and self._is_running:
                self._limit.reschedule(self._loop.time() + self._left)

    @property
    def _is_running(self) -> bool:
        return not self.over and not self._limit.expired()


_active_timeouts: Final[ContextVar[tuple[_PausableTimeout, ...]]] = ContextVar(
    "watches", default=()
)  # of hooks within hooks' calls


@contextmanager
def track_timeout(limit: asyncio.Timeout) -> Iterator[None]:
    watch = _PausableTimeout(limit)
    token = _active_timeouts.set((*_active_timeouts.get(), watch))
    try:
        yield
    finally:
        watch.over = True
        _active_timeouts.reset(token)


@contextmanager
def pause_timeouts() -> Iterator[None]:
    """The time of every hook that led here stands still."""
    with ExitStack() as held:
        for watch in _active_timeouts.get():
            held.enter_context(watch.pause())
        yield


_MAX_ERROR_CHARS = 500  # characters of somebody's exception that we repeat


async def attempt(
    action: Action, event: Event, host: Host, timeout: timedelta, who: CurrentHook | None = None
) -> Outcome | Failure:
    """What the action asks for, or how it failed. Only cancellation leaves this function as an exception."""
    if action.constant is not None:
        return action.constant
    token = current_hook.set(who) if who is not None else None
    deadline: asyncio.Timeout | None = None
    try:
        if action.instant:
            return _check_outcome(await action.run(event, host))
        async with asyncio.timeout(timeout.total_seconds()) as deadline:
            with track_timeout(deadline):
                return _check_outcome(await action.run(event, host))
    except ActionError as failed:
        return failed.failure
    except TimeoutError:
        took = f"did not answer within {timeout.total_seconds():g} s"
        return Failure(FailureKind.TIMEOUT, took if deadline and deadline.expired() else "timed out")
    except UnavailableError as missing:
        return Failure(FailureKind.UNAVAILABLE, str(missing))
    except (Exception, SystemExit) as error:  # an action may be anybody's code
        return Failure(FailureKind.RAISED, mask(_describe_error(error)[:_MAX_ERROR_CHARS]))
    finally:
        if token is not None:
            current_hook.reset(token)


def _check_outcome(answer: Outcome) -> Outcome | Failure:
    if is_outcome(answer):
        return answer
    return Failure(FailureKind.UNREADABLE_ANSWER, f"gave an answer that cannot be read ({type(answer).__name__})")


def _describe_error(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # even its text may be anybody's code
        return type(error).__name__


def outcome_of_failure(failure: Failure, on_error: Outcome) -> Outcome:
    """The declared answer to a failure, together with what was asked for before it failed."""
    answer = _declared_outcome(failure, on_error)
    return (
        answer
        if failure.partial_outcome is None
        else replace(combine_outcomes((failure.partial_outcome, answer)), final=answer.final)
    )


def _declared_outcome(failure: Failure, on_error: Outcome) -> Outcome:
    """The failure's own answer counts where it is as strong.

    Where the declared one has no words of its own, or says {failure}, it takes the failure's.
    """
    if failure.answer is not None and failure.answer.verdict >= on_error.verdict:
        return failure.answer
    own = on_error.reason.replace("{failure}", failure.text)
    reason = own or (failure.text if on_error.verdict > Verdict.ALLOW or on_error.halt else "")
    notes = tuple(note if note.text else replace(note, text=failure.text) for note in on_error.notes)
    if reason == on_error.reason and notes == on_error.notes:
        return on_error
    return replace(on_error, reason=reason, notes=notes)


@dataclass(slots=True)
class CombinedOutcome:
    """Outcomes heard so far, as one. The strongest verdict counts; its reason and voice are the first with it."""

    verdict: Verdict = Verdict.SILENT
    reason: str = ""
    by: str | None = None
    halt: bool = False
    final: bool = False
    notes: tuple[Note, ...] = ()
    requests: tuple[HostRequest, ...] = ()
    changes: Changes = ()

    def add(self, outcome: Outcome, by: str | None) -> None:
        if outcome.verdict > self.verdict or (outcome.halt and not self.halt):
            if outcome.verdict > self.verdict:
                self.verdict = outcome.verdict
            self.reason, self.by = outcome.reason, by
        self.halt = self.halt or outcome.halt
        self.final = self.final or outcome.final
        if outcome.notes or outcome.requests or outcome.changes:
            self.notes += outcome.notes
            self.requests += outcome.requests
            self.changes += outcome.changes

    def forget_allow(self) -> None:
        """An answer counts for the event that it was given about."""
        if self.verdict is Verdict.ALLOW:
            self.verdict, self.reason, self.by = Verdict.SILENT, "", None

    def outcome(self, applied: bool = True) -> Outcome:
        requests, halt, final = self.requests, self.halt, self.final
        return Outcome(self.verdict, self.reason, self.changes, self.notes, requests, halt, final, applied)


def combine_outcomes(outcomes: Iterable[Outcome]) -> Outcome:
    heard = CombinedOutcome()
    for outcome in outcomes:
        heard.add(outcome, None)
    return heard.outcome()
