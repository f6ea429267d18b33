"""Runs one action, checks its outcome, and combines outcomes. The engine and `chain` use all of it.

A hook's timeout is paused while a person is asked about a call that the hook makes.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, Token
from datetime import timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from hookline.errors import UnavailableError
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import EVENTS
from hookline.hooks.host import CurrentHook, Host, current_hook, format_duration
from hookline.hooks.outcome import (
    SILENT,
    ActionError,
    AskTerms,
    Audience,
    Failure,
    FailureKind,
    HostRequest,
    Note,
    Outcome,
    Verdict,
    denied_changes,
    is_outcome,
    merge_terms,
)
from hookline.hooks.protocols import Action, InlineAction, May, may_of
from hookline.hooks.started_coroutine import continue_coroutine
from hookline.hooks.wording import NATIVE_WORDING, Wording
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import asyncio, lazy_logger

T = TypeVar("T")


class _PausableTimeout:
    """One hook's timeout. It resumes when the last pause ends.

    `asyncio.timeout` would take twice as long, and every hook that waits for something has one.
    """

    _timer: asyncio.Handle
    _on_expired: Callable[[], None]
    _ends_at: float  # on the loop's clock
    _seconds_left: float  # when it was started, or paused

    def __init__(self) -> None:
        self.has_expired = False
        self._loop = asyncio.get_running_loop()
        self._is_over = True  # or has not begun
        self._pauses = 0

    def begin(self, seconds: float, on_expired: Callable[[], None]) -> None:
        self._is_over, self._on_expired = False, on_expired
        self._start(seconds)

    def end(self) -> None:
        self._is_over = True
        self._timer.cancel()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Does nothing for a hook of another event loop, or one whose time is up."""
        if self._loop is not asyncio.get_running_loop() or self._is_over:
            yield
            return
        if not self._pauses:
            self._seconds_left = self._ends_at - self._loop.time()
            self._timer.cancel()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses and not self._is_over:
                self._start(self._seconds_left)

    def _start(self, seconds: float) -> None:
        self._seconds_left, self._ends_at = seconds, self._loop.time() + seconds
        later = self._loop.call_later
        self._timer = self._loop.call_soon(self._expire) if seconds <= 0 else later(seconds, self._expire)

    def _expire(self) -> None:
        self._is_over = self.has_expired = True
        self._on_expired()


_active_timeouts: Final[ContextVar[tuple[_PausableTimeout, ...]]] = ContextVar(
    "active_timeouts", default=()
)  # several if hooks decide about calls of other hooks


def _reset(variable: ContextVar[T], token: Token[T]) -> None:
    try:  # noqa: SIM105  `suppress` takes longer than all the rest, for every hook
        variable.reset(token)
    except ValueError:  # a coroutine that nobody awaits any more is closed in another context
        pass


@contextmanager
def pause_timeouts() -> Iterator[None]:
    """Pauses the timeout of every hook whose call led here."""
    with ExitStack() as pauses:
        for timeout in _active_timeouts.get():
            pauses.enter_context(timeout.pause())
        yield


_log = lazy_logger("hookline")

_MAX_ERROR_CHARS = 500  # characters of an exception in a message
_CLEANUP_SECONDS: Final = 1.0  # for an action that was cancelled
_abandoned_tasks: Final[set[asyncio.Task[Any]]] = set()  # the event loop keeps no reference to them


async def attempt(
    action: Action, event: Event, host: Host, timeout: timedelta, who: CurrentHook | None = None
) -> Outcome | Failure:
    """Returns what the action asks for, or how it failed. Only cancellation is raised.

    The timeout also ends an action that catches its cancellation: after a moment to clean up it is abandoned.
    """
    if action.constant is not None:
        return action.constant
    token = current_hook.set(who) if who is not None else None
    try:
        running = _run_action(action, event, host)
        if action.instant:
            return await running
        if isinstance(action, InlineAction) and not _needs_task(action, host):
            return await _await_answer(timeout, _run_inline(timeout, running))
        return await _await_answer(timeout, run_until(timeout, running))
    finally:
        if token is not None:
            _reset(current_hook, token)


def _needs_task(action: InlineAction, host: Host) -> bool:
    try:
        return action.needs_task(host)
    except Exception:  # of a third party's host: the action meets it too, and fails
        return True


async def _run_action(action: Action, event: Event, host: Host) -> Outcome | Failure:
    try:
        return _check_outcome(await action.run(event, host))
    except ActionError as failed:
        return failed.failure
    except TimeoutError:
        return Failure(FailureKind.TIMEOUT, "timed out")
    except UnavailableError as missing:
        return Failure(FailureKind.UNAVAILABLE, str(missing))
    except (Exception, SystemExit) as error:  # an action may be third-party code
        from hookline.hooks.masking import mask  # its formats take two milliseconds to import

        return Failure(FailureKind.RAISED, mask(_describe_error(error)[:_MAX_ERROR_CHARS]))


async def _await_answer(timeout: timedelta, running: Coroutine[Any, Any, Outcome | Failure]) -> Outcome | Failure:
    try:
        return await running
    except DeadlinePassed:
        return Failure(FailureKind.TIMEOUT, f"did not answer within {format_duration(timeout)}")
    except CancelledItself:
        return Failure(FailureKind.RAISED, "CancelledError")


class DeadlinePassed(Exception):
    """Not a TimeoutError, which the coroutine may raise itself."""


class CancelledItself(Exception):
    """The coroutine raised CancelledError, but nobody cancelled it."""


async def _run_inline(timeout: timedelta, running: Coroutine[Any, Any, T]) -> T:
    """`run_until`, with the first step in the caller's task: a coroutine that ends with it needs half of the time."""
    limit = _PausableTimeout()
    token = _active_timeouts.set((*_active_timeouts.get(), limit))
    try:
        awaited = running.send(None)
    except StopIteration as done:
        answer: T = done.value
        return answer
    except asyncio.CancelledError:
        raise CancelledItself from None
    finally:
        _reset(_active_timeouts, token)
    return await run_until(timeout, continue_coroutine(running, awaited), limit)


async def run_until(timeout: timedelta, running: Coroutine[Any, Any, T], limit: _PausableTimeout | None = None) -> T:
    """Awaits the coroutine. Raises DeadlinePassed at the deadline, also if the coroutine catches its cancellation.

    `limit` is the timeout that a coroutine knows which has been started.
    """
    work = _AbandonableWork(running)
    limit = limit or _PausableTimeout()
    limit.begin(timeout.total_seconds(), work.set_ended)
    token = _active_timeouts.set((*_active_timeouts.get(), limit))
    try:
        task = asyncio.create_task(work.run())
        task.add_done_callback(work.set_ended)  # if it was cancelled before it began
        await work.ended
    except asyncio.CancelledError:
        await work.end(task)
        raise
    finally:
        limit.end()
        _reset(_active_timeouts, token)
    if limit.has_expired:
        await work.end(task)
        raise DeadlinePassed
    if task.cancelled():
        raise CancelledItself
    return task.result()


class _AbandonableWork(Generic[T]):
    """A coroutine that may catch its cancellation. Once abandoned, it is dropped when it is cancelled again."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._is_abandoned = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> T:
        """Whoever waits for `ended` goes on in the loop's next round; `asyncio.wait` would take two more."""
        task = asyncio.current_task()
        if task is not None:  # it has begun: it sets its end itself
            task.remove_done_callback(self.set_ended)
        try:
            return await self
        finally:
            self.set_ended()

    def set_ended(self, _: object = None) -> None:
        if not self.ended.done() and not self.ended.get_loop().is_closed():
            self.ended.set_result(None)

    async def end(self, task: asyncio.Task[T]) -> None:
        """Cancels the task, and abandons it if it does not end soon. It may clean up also if the caller is cancelled."""
        cancelled: asyncio.CancelledError | None = None
        task.cancel()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _CLEANUP_SECONDS
        while not task.done() and (left := deadline - loop.time()) > 0:
            try:
                await asyncio.wait({task}, timeout=left)
            except asyncio.CancelledError as error:
                cancelled = error
        if not task.done():
            self._is_abandoned = True
            _abandoned_tasks.add(task)
            task.add_done_callback(_forget_abandoned)
            who = current_hook.get()
            _log.warning("[%s] does not end when cancelled; its result is ignored", who.hook if who else "")
        if cancelled is not None:
            raise cancelled

    def __await__(self) -> Generator[Any, Any, T]:
        """Forwards everything, so that the coroutine runs as if it were awaited."""
        resume: Callable[[], Any] = partial(self._coroutine.send, None)
        while True:
            try:
                waiting_for = resume()
            except StopIteration as done:
                answer: T = done.value
                return answer
            try:
                yield waiting_for
                resume = partial(self._coroutine.send, None)
            except asyncio.CancelledError as cancelled:
                if self._is_abandoned:
                    self._drop()
                    raise
                resume = partial(self._coroutine.throw, cancelled)
            except GeneratorExit:
                self._drop()
                raise
            except Exception as error:
                resume = partial(self._coroutine.throw, error)

    def _drop(self) -> None:
        with suppress(RuntimeError):  # it catches even this
            self._coroutine.close()


def _forget_abandoned(task: asyncio.Task[Any]) -> None:
    _abandoned_tasks.discard(task)
    if not task.cancelled():
        task.exception()  # retrieved, so that it is not reported


def _check_outcome(answer: Outcome) -> Outcome | Failure:
    if is_outcome(answer):
        return answer
    return Failure(FailureKind.UNREADABLE_ANSWER, f"returned an invalid outcome ({type(answer).__name__})")


def _describe_error(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its __str__ may be third-party code
        return type(error).__name__


def accept_outcome(
    outcome: Outcome, event: str, wording: Wording | None = None, event_name: str = ""
) -> tuple[Outcome, Failure | None]:
    """The part of an outcome that the event accepts, and a failure that names the rest in the words of the hook's file."""
    if outcome is SILENT:
        return outcome, None
    kind = EVENTS[event]
    accepts = kind.accepts
    if not outcome.changes and may_of(outcome) in accepts:  # as most do: each step below costs microseconds
        return outcome, None
    rejected = may_of(outcome) & ~accepts & ~May.CHANGE
    rejected_paths = tuple(path for path, _ in outcome.changes if not kind.accepts_change(path))
    if not rejected and not rejected_paths:
        return outcome, None
    accepted = replace(
        outcome,
        verdict=Verdict.SILENT if rejected & May.JUDGE else outcome.verdict,
        reason="" if rejected & May.JUDGE and not outcome.halt else outcome.reason,
        changes=tuple(change for change in outcome.changes if change[0] not in rejected_paths),
        notes=tuple(note for note in outcome.notes if accepts & May.NOTES or note.audience is Audience.USER),
        requests=outcome.requests if accepts & May.COMPACT else (),
        halt=outcome.halt and bool(accepts & May.HALT),
    )
    rejections = (wording or NATIVE_WORDING).rejection(rejected, rejected_paths)
    text = f"{event_name or event} does not accept {' or '.join(rejections)}"
    detail = f"{outcome.reason} ({text})" if outcome.reason else ""
    denied = bool(rejected & (May.DENY | May.ASK))
    return accepted, Failure(FailureKind.NOT_ACCEPTED, text, detail=detail, denied=denied)


def is_weakened(outcome: Outcome, accepted: Outcome) -> bool:
    """Whether a verdict, a change or a halt was not accepted, so that the hook failed. A lost note fails nothing."""
    return (outcome.verdict, outcome.changes, outcome.halt) != (accepted.verdict, accepted.changes, accepted.halt)


def outcome_of_failure(failure: Failure, on_error: Outcome) -> Outcome:
    """The declared answer to a failure, combined with what the action asked for before it failed."""
    answer = _declared_outcome(failure, on_error)
    return (
        answer
        if failure.partial_outcome is None
        else replace(combine_outcomes((failure.partial_outcome, answer)), final=answer.final)
    )


def _declared_outcome(failure: Failure, on_error: Outcome) -> Outcome:
    """The failure's own answer wins if it is at least as strong as the declared one, which is if that changes nothing.

    A declared answer without a reason, or with {failure} in it, gets the failure's text.
    """
    if failure.answer is not None and failure.answer.verdict >= on_error.verdict and not on_error.changes:
        return failure.answer
    text = failure.detail or failure.text
    declared = on_error.reason.replace("{failure}", text)
    reason = declared or (text if on_error.verdict > Verdict.ALLOW or on_error.halt else "")
    notes = tuple(note if note.text else replace(note, text=failure.text) for note in on_error.notes)
    if failure.denied and on_error.changes:
        on_error = replace(on_error, changes=denied_changes(on_error.changes))
    if reason == on_error.reason and notes == on_error.notes:
        return on_error
    return replace(on_error, reason=reason, notes=notes)


@dataclass(slots=True)
class CombinedOutcome:
    """Outcomes combined so far. The strongest verdict wins, with the reason and the hook that gave it first."""

    verdict: Verdict = Verdict.SILENT
    reason: str = ""
    by: str | None = None
    halt: bool = False
    final: bool = False
    notes: tuple[Note, ...] = ()
    requests: tuple[HostRequest, ...] = ()
    changes: Changes = ()
    terms: AskTerms | None = None

    def add(self, outcome: Outcome, by: str | None) -> None:
        if outcome.verdict is Verdict.ASK:
            self.terms = merge_terms((self.terms, outcome.terms)) if self.verdict is Verdict.ASK else outcome.terms
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
        """Call this when the event changed: an allow counts only for the event that it was given for."""
        if self.verdict is Verdict.ALLOW:
            self.verdict, self.reason, self.by = Verdict.SILENT, "", None

    def outcome(self, applied: bool = True) -> Outcome:
        requests, halt, final = self.requests, self.halt, self.final
        terms = self.terms if self.verdict is Verdict.ASK else None
        return Outcome(self.verdict, self.reason, self.changes, self.notes, requests, halt, final, applied, terms)


def combine_outcomes(outcomes: Iterable[Outcome]) -> Outcome:
    combined = CombinedOutcome()
    for outcome in outcomes:
        combined.add(outcome, None)
    return combined.outcome()
