"""One function attempts an action, one folds outcomes; the engine and `chain` share both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from hookline.errors import Unavailable
from hookline.hooks.action import Action
from hookline.hooks.event import Changes, Event
from hookline.hooks.host import Asking, Host, asking
from hookline.hooks.outcome import Failed, Failure, FailureKind, Note, Outcome, Request, Verdict, is_outcome
from hookline.hooks.patience import timed
from hookline.hooks.secrets import mask

_MOST = 500  # characters of somebody's exception that we repeat


async def attempt(
    action: Action, event: Event, host: Host, timeout: timedelta, who: Asking | None = None
) -> Outcome | Failure:
    """What the action asks for, or how it failed. Only cancellation leaves this function as an exception."""
    if action.constant is not None:
        return action.constant
    token = asking.set(who) if who is not None else None
    deadline: asyncio.Timeout | None = None
    try:
        if action.instant:
            return _readable(await action.run(event, host))
        async with asyncio.timeout(timeout.total_seconds()) as deadline:
            with timed(deadline):
                return _readable(await action.run(event, host))
    except Failed as failed:
        return failed.failure
    except TimeoutError:
        took = f"did not answer within {timeout.total_seconds():g} s"
        return Failure(FailureKind.TIMEOUT, took if deadline and deadline.expired() else "timed out")
    except Unavailable as missing:
        return Failure(FailureKind.UNAVAILABLE, str(missing))
    except (Exception, SystemExit) as error:  # an action may be anybody's code
        return Failure(FailureKind.RAISED, mask(_words_of(error)[:_MOST]))
    finally:
        if token is not None:
            asking.reset(token)


def _readable(answer: Outcome) -> Outcome | Failure:
    if is_outcome(answer):
        return answer
    return Failure(FailureKind.UNREADABLE_ANSWER, f"gave an answer that cannot be read ({type(answer).__name__})")


def _words_of(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # even its text may be anybody's code
        return type(error).__name__


def instead_of(failure: Failure, on_error: Outcome) -> Outcome:
    """The declared answer to a failure, together with what was asked for before it failed."""
    answer = _declared(failure, on_error)
    return answer if failure.kept is None else replace(together((failure.kept, answer)), final=answer.final)


def _declared(failure: Failure, on_error: Outcome) -> Outcome:
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
class Sum:
    """Outcomes heard so far, as one. The strongest verdict counts; its reason and voice are the first with it."""

    verdict: Verdict = Verdict.SILENT
    reason: str = ""
    by: str | None = None
    halt: bool = False
    final: bool = False
    notes: tuple[Note, ...] = ()
    requests: tuple[Request, ...] = ()
    changes: Changes = ()

    def hear(self, outcome: Outcome, by: str | None) -> None:
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


def together(outcomes: Iterable[Outcome]) -> Outcome:
    heard = Sum()
    for outcome in outcomes:
        heard.hear(outcome, None)
    return heard.outcome()
