"""Turns that start at their time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from hookline.errors import HooklineError
from hookline.runtime.triggers.trigger import ActivationHandler, Trigger, build_activation

_FIELD_COUNT: Final = 5
_MAX_SLEEP: Final = 60.0  # seconds: a machine that was asleep, or whose clock was set, is noticed after so long


class WallClock(Protocol):
    def now(self) -> datetime:
        """Aware of its timezone."""

    async def sleep(self, seconds: float) -> None: ...


class SystemWallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def next_time(fields: str, after: datetime, timezone: str | None = None) -> datetime:
    """The first moment after `after` that the fields name. Raises HooklineError if they are wrong, or name none."""
    zone = _LOCAL_ZONE if timezone is None else parse_zone(timezone)
    if len(fields.split()) != _FIELD_COUNT:
        raise HooklineError("minute, hour, day, month and day of the week are expected")
    from cronsim import CronSim, CronSimError  # of the extra `agent`: files are checked without it

    try:
        moments = CronSim(fields, after.astimezone(zone))
        return next(moment for moment in moments if moment.astimezone(UTC) > after)  # an hour may come twice
    except CronSimError as error:
        raise HooklineError(str(error)) from None
    except StopIteration:
        raise HooklineError("there is no such moment") from None


class _LocalZone(tzinfo):
    """Where this machine is, by the rules of the day that is asked about: `astimezone` knows today's only."""

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
    """Fires at each of its moments; those that pass while it fires count as one, right afterwards."""
    done = clock.now()
    while True:
        due = next_time(trigger.at, done, trigger.timezone)
        while (left := due - clock.now()) > timedelta():
            await clock.sleep(min(left.total_seconds(), _MAX_SLEEP))
        done = max(due, clock.now())
        await fire(build_activation(trigger, due))
