"""Brings this user's record into the database while the hub runs."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from hookline.errors import HooklineError
from hookline.hub.intake.intake import Intake
from hookline.hub.intake.spool_reader import SpoolLines, SpoolReader
from hookline.record.segment import RecordDirectory
from hookline.runtime.storage.store import Store

_LOOK_SECONDS: Final = 0.1
_PAUSE_SECONDS: Final = 2.0  # after an error
_OWNER: Final = "hub"

_log = logging.getLogger("hookline.hub")


class RecordIntake:
    def __init__(self, directory: RecordDirectory, intake: Intake, store: Store) -> None:
        self._directory = directory
        self._intake = intake
        self._store = store
        self._key = f"archives:{directory.path}"
        self.problem = ""  # why records cannot be taken now

    async def run(self) -> None:
        """Until it is cancelled. Nothing is skipped: what could not be taken is taken later."""
        reader: SpoolReader | None = None
        while True:
            try:
                reader = reader or await self._open_reader()
                is_all = await self._look(reader)
                self._report("")
            except (HooklineError, OSError) as error:
                self._report(str(error))
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if is_all:
                await asyncio.sleep(_LOOK_SECONDS)

    async def look_once(self) -> None:
        """Takes everything that is there now."""
        reader = await self._open_reader()
        while not await self._look(reader):
            pass

    async def _open_reader(self) -> SpoolReader:
        known = await self._store.get_value(_OWNER, self._key)
        names = known if isinstance(known, list) else []
        return SpoolReader(self._directory, frozenset(name for name in names if isinstance(name, str)))

    async def _look(self, reader: SpoolReader) -> bool:
        found = await asyncio.to_thread(reader.look)
        if found.lines:
            await self._take(found)
        if found.archives != reader.archives:
            await self._store.set_value(_OWNER, self._key, sorted(found.archives))
        reader.confirm(found)
        return found.is_all

    async def _take(self, found: SpoolLines) -> None:
        taken = await self._intake.take(found.lines)
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

    def _report(self, problem: str) -> None:
        if problem and problem != self.problem:
            _log.warning("records are not taken for now: %s", problem)
        elif self.problem and not problem:
            _log.warning("records are taken again")
        self.problem = problem
