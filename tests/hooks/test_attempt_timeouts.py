"""A hook's time stands still while a person is asked, runs on afterwards, and ends whatever the hook does."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import timedelta

import pytest

from engine.hook_factories import FunctionAction, Work, make_book, make_hook, tool_call_event
from hookline.hooks.attempt import attempt, pause_timeouts
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST, Host
from hookline.hooks.outcome import Failure, FailureKind, Outcome, Verdict

pytestmark = pytest.mark.timing

SHORT = timedelta(seconds=0.1)
LONG = 0.3


class Waits:
    """Asks so many people at once, and then goes on for a while by itself."""

    constant = None
    instant = False

    def __init__(self, people: int = 1, then: float = 0.0) -> None:
        self.people = people
        self.then = then

    async def run(self, event: Event, host: Host) -> Outcome:
        await asyncio.gather(*(self._ask(LONG * number) for number in range(1, self.people + 1)))
        await asyncio.sleep(self.then)
        return Outcome()

    async def _ask(self, seconds: float) -> None:
        with pause_timeouts():
            await asyncio.sleep(seconds)


class Within(Waits):
    """A hook in a hook's call."""

    async def run(self, event: Event, host: Host) -> Outcome:
        answer = await attempt(Waits(), event, host, SHORT)  # type: ignore[arg-type]
        assert isinstance(answer, Outcome)
        return answer


def tried(action: Waits) -> Outcome | Failure:
    return asyncio.run(attempt(action, Event("turn.end", {}), NO_HOST, SHORT))  # type: ignore[arg-type]


def test_waiting_for_people_does_not_count() -> None:
    assert isinstance(tried(Waits()), Outcome)
    assert isinstance(tried(Waits(people=3)), Outcome)
    assert isinstance(tried(Within()), Outcome)


def test_time_after_the_answer_counts() -> None:
    failure = tried(Waits(then=30))
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.TIMEOUT


def test_pause_outside_a_hook_is_a_no_op() -> None:
    asyncio.run(Waits()._ask(0))


def test_a_hook_that_has_ended_is_not_held() -> None:
    left: list[asyncio.Task[None]] = []

    class Leaves(Waits):
        async def run(self, event: Event, host: Host) -> Outcome:
            left.append(asyncio.ensure_future(self._later()))
            return Outcome()

        async def _later(self) -> None:
            await asyncio.sleep(0)
            await self._ask(0)

    async def work() -> None:
        await attempt(Leaves(), Event("turn.end", {}), NO_HOST, SHORT)  # type: ignore[arg-type]
        await left[0]

    asyncio.run(work())


async def swallows_once(event: Event, host: Host) -> Outcome:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    await asyncio.sleep(60)
    return Outcome(Verdict.ALLOW)


async def swallows_always(event: Event, host: Host) -> Outcome:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


async def ends_late(event: Event, host: Host) -> Outcome:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    return Outcome(Verdict.ALLOW)


async def waits_for_a_task(event: Event, host: Host) -> Outcome:
    async def child() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(2)

    await asyncio.gather(child(), child())
    return Outcome(Verdict.ALLOW)


async def waits_in_a_finally(event: Event, host: Host) -> Outcome:
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(60)
    return Outcome(Verdict.ALLOW)


async def waits_for_a_thread(event: Event, host: Host) -> Outcome:
    await asyncio.to_thread(time.sleep, 2)
    return Outcome(Verdict.ALLOW)


STUBBORN = [swallows_once, swallows_always, ends_late, waits_for_a_task, waits_in_a_finally, waits_for_a_thread]


@pytest.mark.parametrize("work", STUBBORN)
def test_the_timeout_holds_against_code_that_catches_its_cancellation(work: Work) -> None:
    async def run() -> tuple[Outcome | Failure, float]:
        started = time.monotonic()
        answer = await attempt(FunctionAction(work), tool_call_event(), NO_HOST, timedelta(milliseconds=50))
        return answer, time.monotonic() - started

    began = time.monotonic()
    answer, seconds = asyncio.run(run())
    assert answer == Failure(FailureKind.TIMEOUT, "did not answer within 50 ms")
    assert seconds < 5
    assert time.monotonic() - began < 10  # nothing keeps the program from ending


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_code_that_catches_everything_is_dropped_when_the_program_ends() -> None:
    async def catches_everything(event: Event, host: Host) -> Outcome:
        for _ in range(20):
            with suppress(BaseException):
                await asyncio.sleep(60)
        return Outcome()

    began = time.monotonic()
    action = FunctionAction(catches_everything)
    answer = asyncio.run(attempt(action, tool_call_event(), NO_HOST, timedelta(milliseconds=50)))
    assert isinstance(answer, Failure)
    assert time.monotonic() - began < 10


def test_a_cancelled_round_ends_even_if_its_hook_does_not() -> None:
    async def run() -> None:
        async with asyncio.timeout(0.05):
            await attempt(FunctionAction(swallows_always), tool_call_event(), NO_HOST, timedelta(hours=1))

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert time.monotonic() - began < 10


def test_a_moment_is_left_to_clean_up() -> None:
    cleaned = []

    async def cleans_up(event: Event, host: Host) -> Outcome:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(True)
        return Outcome()

    asyncio.run(attempt(FunctionAction(cleans_up), tool_call_event(), NO_HOST, timedelta(milliseconds=10)))
    assert cleaned == [True]


def test_a_timeout_inside_a_hook_is_its_own() -> None:
    async def tries_for_a_moment(event: Event, host: Host) -> Outcome:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        return Outcome(Verdict.ALLOW)

    answer = asyncio.run(attempt(FunctionAction(tries_for_a_moment), tool_call_event(), NO_HOST, timedelta(hours=1)))
    assert answer == Outcome(Verdict.ALLOW)


def test_code_that_cancels_itself_fails_its_hook_only() -> None:
    async def gives_up(event: Event, host: Host) -> Outcome:
        raise asyncio.CancelledError

    answer = asyncio.run(attempt(FunctionAction(gives_up), tool_call_event(), NO_HOST, timedelta(hours=1)))
    assert answer == Failure(FailureKind.RAISED, "CancelledError")


def test_a_guard_that_does_not_end_denies_at_its_timeout() -> None:
    guard = make_hook(
        FunctionAction(swallows_always), timeout=timedelta(milliseconds=50), on_error=Outcome(Verdict.DENY), id="guard"
    )
    decision = asyncio.run(make_book(guard).decide(tool_call_event()))
    assert (decision.verdict, decision.by) == (Verdict.DENY, "guard")
    assert "did not answer within 50 ms" in decision.reason
