import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from hookline.errors import HooklineError
from hookline.runtime.triggers.cron import next_time, run_cron
from hookline.runtime.triggers.trigger import Activation, ActivationResult, Trigger, TriggerKind

NOON = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)


class FakeClock:
    """Time passes only while somebody sleeps, or when it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        await asyncio.sleep(0)


class Enough(Exception):
    pass


def fires(
    cron: str, most: int, during: Callable[[FakeClock], None] = lambda clock: None, now: datetime = NOON, **more: str
) -> list[str]:
    clock, times = FakeClock(now), list[str]()

    async def fire(fired: Activation) -> ActivationResult:
        times.append(f"{fired.facts['time']} at {clock.now():%H:%M:%S}")
        during(clock)
        if len(times) == most:
            raise Enough
        return ActivationResult("s")

    with pytest.raises(Enough):
        asyncio.run(run_cron(Trigger("t", TriggerKind.CRON, cron, "go", **more), fire, clock))
    return times


def test_fires_at_each_moment_and_at_no_other() -> None:
    assert fires("*/5 * * * *", 3, timezone="UTC") == [
        "2026-03-02T12:05:00Z at 12:05:00",
        "2026-03-02T12:10:00Z at 12:10:00",
        "2026-03-02T12:15:00Z at 12:15:00",
    ]


def test_moments_that_pass_while_it_is_busy_fire_once() -> None:
    def busy(clock: FakeClock) -> None:
        clock.time += timedelta(minutes=3, seconds=20)

    assert fires("* * * * *", 3, busy, timezone="UTC") == [
        "2026-03-02T12:01:00Z at 12:01:00",
        "2026-03-02T12:02:00Z at 12:04:20",
        "2026-03-02T12:05:00Z at 12:07:40",
    ]


def test_a_clock_that_was_set_back_fires_no_moment_twice() -> None:
    def back(clock: FakeClock) -> None:
        clock.time -= timedelta(seconds=5)

    assert [each[:17] for each in fires("* * * * *", 2, back, timezone="UTC")] == [
        "2026-03-02T12:01:",
        "2026-03-02T12:02:",
    ]


def test_the_fields_are_of_the_triggers_timezone() -> None:
    assert fires("0 9 * * *", 1, timezone="Asia/Tokyo") == ["2026-03-03T00:00:00Z at 00:00:00"]


def test_an_hour_that_summer_time_skips_comes_all_the_same() -> None:
    before = datetime(2026, 3, 29, 0, 0, tzinfo=UTC)
    assert next_time("30 2 * * *", before, "Europe/Berlin") < before + timedelta(hours=2)


@pytest.mark.parametrize("fields", ["30 2 * * *", "*/30 2 * * *", "0 * * * *", "30 2 25 10 *", "0 9 * * *"])
@pytest.mark.parametrize("minutes", range(0, 240, 10))
def test_every_moment_lies_ahead_also_in_the_hour_that_comes_twice(fields: str, minutes: int) -> None:
    after = datetime(2026, 10, 24, 22, 0, tzinfo=UTC) + timedelta(minutes=minutes)
    for _ in range(3):
        moment = next_time(fields, after, "Europe/Berlin").astimezone(UTC)
        assert moment > after
        after = moment


def test_a_time_of_the_hour_that_comes_twice_comes_once() -> None:
    began = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # ten past two in Berlin, for the second time
    assert fires("30 2 * * *", 2, now=began, timezone="Europe/Berlin") == [
        "2026-10-26T01:30:00Z at 01:30:00",
        "2026-10-27T01:30:00Z at 01:30:00",
    ]


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where this machine is."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("fields", ["0 9 * * *", "30 2 * * *", "*/30 2 * * *", "15 * * * *", "0 3 29 3 *"])
@pytest.mark.parametrize("day", [datetime(2026, 3, 27, 12, 5, tzinfo=UTC), datetime(2026, 10, 23, 12, 5, tzinfo=UTC)])
def test_without_a_timezone_the_machines_own_holds_with_its_summer_time(
    berlin: None, fields: str, day: datetime
) -> None:
    here, there = day, day
    for _ in range(60):
        here, there = next_time(fields, here), next_time(fields, there, "Europe/Berlin")
        assert here.astimezone(UTC) == there.astimezone(UTC)


@pytest.mark.parametrize(
    ("fields", "zone"),
    [
        ("* * * *", None),
        ("0 * * * * *", None),
        ("61 * * * *", None),
        ("0 0 31 2 *", None),
        ("x * * * *", None),
        ("* * * * *", "Mars/Base"),
        ("* * * * *", "../../etc/passwd"),
        ("* * * * *", "Europe"),
    ],
)
def test_what_is_no_time_is_refused(fields: str, zone: str | None) -> None:
    with pytest.raises(HooklineError):
        next_time(fields, NOON, zone)
