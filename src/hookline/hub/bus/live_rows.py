"""Sends new decisions to the consoles that watch, in batches: every 50 ms what came, at most 2,000 rows a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

BATCH_SECONDS: Final = 0.05
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
        most = int(MOST_PER_SECOND * BATCH_SECONDS)
        while True:
            await self._wake.wait()
            await asyncio.sleep(BATCH_SECONDS)
            items, self._rows = self._rows[:most], self._rows[most:]
            outcomes, self._outcomes = self._outcomes, []
            dropped, self._dropped = self._dropped, 0
            if not self._rows:
                self._wake.clear()
            await self._send({"items": items, "outcomes": outcomes, "dropped": dropped})
