"""A hook's time stands still while a person is asked, and runs on afterwards."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hookline.hooks.attempt import attempt, pause_timeouts
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST, Host
from hookline.hooks.outcome import Failure, FailureKind, Outcome

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
