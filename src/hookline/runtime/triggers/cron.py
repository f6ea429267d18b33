"""Cron triggers: when the five fields match next, and the loop that fires."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from hookline.errors import HooklineError
from hookline.runtime.triggers.trigger import ActivationHandler, Trigger, build_activation

_FIELD_COUNT: Final = 5
_MAX_SLEEP: Final = 60.0  # seconds; notices within this time that the machine slept or its clock was set


class WallClock(Protocol):
    def now(self) -> datetime:
        """With a timezone."""

    async def sleep(self, seconds: float) -> None: ...


class SystemWallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def next_time(fields: str, after: datetime, timezone: str | None = None) -> datetime:
    """The first match of the fields after `after`. Raises HooklineError if they are invalid or never match."""
    zone = _LOCAL_ZONE if timezone is None else parse_zone(timezone)
    if len(fields.split()) != _FIELD_COUNT:
        raise HooklineError("expected five fields: minute, hour, day, month and day of the week")
    from cronsim import CronSim, CronSimError  # comes with hookline[agent]; `check` runs without it

    try:
        moments = CronSim(fields, after.astimezone(zone))
        return next(moment for moment in moments if moment.astimezone(UTC) > after)  # an hour can occur twice
    except CronSimError as error:
        raise HooklineError(str(error)) from None
    except StopIteration:
        raise HooklineError("these fields never match") from None


class _LocalZone(tzinfo):
    """This machine's timezone, with the offset of the day in question: `astimezone` knows only today's offset."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None

    def fromutc(self, moment: datetime) -> datetime:
        there = moment.replace(tzinfo=UTC)
        here = there.astimezone().replace(tzinfo=self)
        return here if here.astimezone(UTC) == there else here.replace(fold=1)


_LOCAL_ZONE: Final = _LocalZone()


def parse_zone(name: str) -> ZoneInfo:
    """Raises HooklineError if there is no such timezone."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise HooklineError(f"there is no timezone {name!r}") from None


async def run_cron(trigger: Trigger, fire: ActivationHandler, clock: WallClock) -> None:
    """Fires at every match. Matches during a firing are merged into one, right after it."""
    done = clock.now()
    while True:
        due = next_time(trigger.at, done, trigger.timezone)
        while (left := due - clock.now()) > timedelta():
            await clock.sleep(min(left.total_seconds(), _MAX_SLEEP))
        done = max(due, clock.now())
        await fire(build_activation(trigger, due))
