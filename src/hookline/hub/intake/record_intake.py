"""Brings this user's record into the database while the hub runs."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from hookline.errors import HooklineError
from hookline.hub.intake.intake import Intake
from hookline.hub.store.outage_log import OutageLog
from hookline.record.record_feed import RecordFeed
from hookline.record.segment import RecordDirectory
from hookline.runtime.storage.store import Store

_LOOK_SECONDS: Final = 0.1
_MAX_LINES: Final = 2_000  # of one look
_PAUSE_SECONDS: Final = 2.0  # after an error
_OWNER: Final = "hub"

_log = logging.getLogger("hookline.hub")


class RecordIntake:
    def __init__(self, directory: RecordDirectory, intake: Intake, store: Store) -> None:
        self._directory = directory
        self._intake = intake
        self._store = store
        self._key = f"archives:{directory.path}"
        self._archives: frozenset[str] = frozenset()  # as they are stored
        self._feed: RecordFeed | None = None
        self.outage = OutageLog("records are not taken for now", "records are taken again")

    @property
    def problem(self) -> str:
        """Why records cannot be taken now."""
        return self.outage.reason

    async def run(self) -> None:
        """Until it is cancelled. Nothing is skipped: what could not be taken is taken later."""
        while True:
            try:
                taken = await self._look()
                self.outage.report_success()
            except (HooklineError, OSError) as error:
                self.outage.report(error)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if taken < _MAX_LINES:
                await asyncio.sleep(_LOOK_SECONDS)

    async def look_once(self) -> None:
        """Takes everything that is there now, also what the feed holds back at first: see `RecordFeed`."""
        while await self._look() or await self._look():
            pass

    async def _look(self) -> int:
        """How many lines were there. If they cannot be taken, the next look begins where the database ends."""
        feed, self._feed = self._feed or await self._open_feed(), None
        fed = await asyncio.to_thread(feed.take, _MAX_LINES)
        if fed:
            await self._take([each.line for each in fed])
        if feed.archives != self._archives:
            await self._store.set_value(_OWNER, self._key, sorted(feed.archives))
        self._archives, self._feed = feed.archives, feed
        return len(fed)

    async def _open_feed(self) -> RecordFeed:
        known = await self._store.get_value(_OWNER, self._key)
        there = await asyncio.to_thread(lambda: {path.name for path in self._directory.archives()})
        self._archives = frozenset(there.intersection(known if isinstance(known, list) else ()))
        return RecordFeed(self._directory, await self._intake.own_heads(), self._archives)

    async def _take(self, lines: list[bytes]) -> None:
        taken = await self._intake.take(lines)
        if taken.missing_books:
            books = await asyncio.to_thread(self._read_books, taken.missing_books)
            await self._intake.take((), books=books)

    def _read_books(self, hashes: tuple[str, ...]) -> dict[str, bytes]:
        found = {}
        for hash in hashes:
            try:
                found[hash] = (self._directory.hooks / f"{hash}.json").read_bytes()
            except (OSError, ValueError):
                _log.debug("the texts of the hooks %s are not kept", hash)
        return found
