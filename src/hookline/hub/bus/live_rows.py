"""Sends new decisions to the consoles that watch, in batches, at most 2,000 rows a second.

A batch has the rows of 50 ms, or of 200 ms if there are many: a message costs more than the rows in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

_BATCH: Final = timedelta(milliseconds=50)
_LONG_BATCH: Final = timedelta(milliseconds=200)
_MANY_ROWS: Final = 200
MOST_PER_SECOND: Final = 2000

Rows = list[dict[str, Any]]


class LiveRows:
    def __init__(self, send: Callable[[dict[str, Any]], Awaitable[None]], *, is_watched: Callable[[], bool]) -> None:
        self._send = send
        self._is_watched = is_watched
        self._rows: Rows = []
        self._outcomes: Rows = []
        self._dropped = 0
        self._wake = asyncio.Event()

    @property
    def is_watched(self) -> bool:
        return self._is_watched()

    def add(self, rows: Sequence[Callable[[], dict[str, Any]]], outcomes: Iterable[dict[str, Any]]) -> None:
        """The oldest rows of a second stay; later ones are counted, and never made."""
        if not self._is_watched():
            return
        room = max(MOST_PER_SECOND - len(self._rows), 0)
        self._rows += [make() for make in rows[:room]]
        self._dropped += max(0, len(rows) - room)
        self._outcomes = [*self._outcomes, *outcomes][-MOST_PER_SECOND:]
        self._wake.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._wake.wait()
            most = int(MOST_PER_SECOND * (await self._collect()).total_seconds())
            items, self._rows = self._rows[:most], self._rows[most:]
            outcomes, self._outcomes = self._outcomes, []
            dropped, self._dropped = self._dropped, 0
            if not self._rows:
                self._wake.clear()
            await self._send({"items": items, "outcomes": outcomes, "dropped": dropped})

    async def _collect(self) -> timedelta:
        """Waits for more rows, longer if there are many; returns how long."""
        await asyncio.sleep(_BATCH.total_seconds())
        if len(self._rows) <= _MANY_ROWS:
            return _BATCH
        await asyncio.sleep((_LONG_BATCH - _BATCH).total_seconds())
        return _LONG_BATCH
