"""Watches which of the processes that report are running, and publishes when one begins or ends.

The hub sees this machine's own processes itself: each one has a file locked while it runs. Another machine reports its
processes, and again from time to time. A process that is no longer reported counts as ended.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hub.bus.event_bus import LIVE
from hookline.hub.store.origin_table import OriginRow, OriginTable
from hookline.hub.store.outage_log import OutageLog
from hookline.record.segment import RecordDirectory, running_writers

_LOOK_SECONDS: Final = 2.0
_STORE_SECONDS: Final = 20.0  # between two times that the database is told of a process that still runs
SILENT_SECONDS: Final = 90.0  # other machines report their hosts every 20 seconds
MAX_NAMED: Final = 2_000  # processes in one report


class HostWatch:
    def __init__(
        self,
        table: OriginTable,
        publish: Callable[..., Awaitable[None]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._table = table
        self._publish = publish
        self.outage = OutageLog("the hub cannot tell which hosts run", "the hub can tell again which hosts run")
        self._clock = clock
        self._started = clock()
        self._own: dict[str, float] = {}  # this machine's processes that run: when the database was last told

    async def run(self, directory: RecordDirectory | None) -> None:
        """Until it is cancelled. `directory` is this user's own record; None if the hub does not read it."""
        while True:
            try:
                if directory is not None:
                    await self.look(await asyncio.to_thread(running_writers, directory))
                await self.end_silent()
                self.outage.report_success()
            except (HooklineError, OSError) as error:
                self.outage.report(error)
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self, running: Collection[str]) -> None:
        """This machine's own processes that run now."""
        now = self._clock()
        due = [id for id in running if now - self._own.get(id, 0) >= _STORE_SECONDS]
        ended = self._own.keys() - running
        known = await self.note(due, ended)  # a process whose first record was not read yet is due again
        self._own = {id: at for id, at in self._own.items() if id in running} | dict.fromkeys(known, now)

    async def note(self, running: Collection[str], ended: Collection[str], key: str = "") -> set[str]:
        """What a machine says about its processes. Returns those of `running` that have reported with this key."""
        begun, known = await self._table.mark_running(running, key, self._clock()) if running else ([], set())
        for row in begun:
            await self.tell("host_up", row)
        for row in await self._table.mark_ended(ended, key) if ended else ():
            await self.tell("host_down", row, reason="ended")
        return known

    async def end_silent(self) -> None:
        """A hub that has just started gives machines time to say what runs."""
        before = self._clock() - SILENT_SECONDS
        if self._started < before:
            for row in await self._table.mark_silent(before):
                await self.tell("host_down", row, reason="silent")

    async def tell(self, type: str, row: OriginRow, **more: Any) -> None:
        await self._publish(type, {**host_json(row, self._clock()), **more}, rooms=(LIVE,))


def host_json(row: OriginRow, now: float) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.host,
        "machine": row.machine,
        "user": row.user,
        "workspace": row.workspace,
        "pid": row.pid,
        "version": row.version,
        "remote": bool(row.key),
        "running": row.running,
        "first": row.first,
        "last": row.last,
        "ago": round(max(0.0, now - row.last), 3),
        "skew": row.skew,
        "records": row.newest - row.begin + 1,
        "gaps": row.missing,
        "lost": row.lost,
        "chain": chain_state(row),
    }


def chain_state(row: OriginRow) -> str:
    if row.broken is not None:
        return "broken"
    return "incomplete" if row.missing or row.lost else "intact"
