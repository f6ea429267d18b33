"""Removes decisions that are too old, and the oldest ones if there are too many, in small pieces."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from hookline.errors import HooklineError
from hookline.hub.store.deleted_sessions import forget_deleted
from hookline.hub.store.outage_log import OutageLog
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.storage.hub_tables import books, decisions, origins, questions

PIECE: Final = 5_000  # rows in one transaction
_PAUSE_SECONDS: Final = 0.2  # between two pieces: others write too
_EVERY_SECONDS: Final = 600.0


class Retention:
    def __init__(self, database: Database, keep: timedelta, most: int, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._keep = keep
        self._most = most
        self._clock = clock
        self.outage = OutageLog("old decisions cannot be removed", "old decisions are removed again")

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                await self.remove_old()
                self.outage.report_success()
            except HooklineError as error:
                self.outage.report(error)
            await asyncio.sleep(_EVERY_SECONDS)

    async def remove_old(self) -> int:
        """How many records were removed."""
        removed = 0
        while (found := await self._database.write(self._remove_piece())) > 0:
            removed += found
            await asyncio.sleep(_PAUSE_SECONDS)
        before = self._clock() - self._keep.total_seconds()
        await self._database.write(_remove_unused_books(before))
        await self._database.write(_remove_answered_questions(before))
        await self._database.write(forget_deleted())
        return removed

    def _remove_piece(self) -> Query[int]:
        before, most = self._clock() - self._keep.total_seconds(), self._most

        def work(connection: Connection) -> int:
            oldest = _oldest(connection, before, most)
            if not oldest:
                return 0
            _remember_ends(connection, oldest)
            connection.execute(delete(decisions).where(decisions.c.sequence.in_(oldest)))
            return len(oldest)

        return work


def _oldest(connection: Connection, before: float, most: int) -> list[int]:
    """The sequences of one piece. The hub's own order counts, whatever the clocks of machines say.

    A record stays while one that came before it is not old yet: so each chain loses its beginning only.
    """
    first = select(decisions.c.sequence, decisions.c.at).order_by(decisions.c.sequence).limit(PIECE)
    rows = connection.execute(first).all()
    newest = connection.execute(select(func.max(decisions.c.sequence))).scalar() or 0
    found = []
    for sequence, at in rows:
        if at >= before and newest - sequence < most:
            break
        found.append(sequence)
    return found


def _remember_ends(connection: Connection, removed: list[int]) -> None:
    """The end of what is gone of each chain, so that `verify` knows where it begins now."""
    last = (
        select(decisions.c.origin, func.max(decisions.c.number).label("number"))
        .where(decisions.c.sequence.in_(removed))
        .group_by(decisions.c.origin)
        .subquery()
    )
    ends = select(decisions.c.origin, decisions.c.number, decisions.c.hash).join(
        last, (last.c.origin == decisions.c.origin) & (last.c.number == decisions.c.number)
    )
    for origin, number, hash in connection.execute(ends).all():
        known = update(origins).where(origins.c.id == origin, origins.c.removed < number)
        connection.execute(known.values(removed=number, removed_hash=hash))


def _remove_unused_books(before: float) -> Query[None]:
    """Texts of hooks that no record names any more."""
    used = select(decisions.c.book).where(decisions.c.book == books.c.hash).exists()

    def work(connection: Connection) -> None:
        connection.execute(delete(books).where(books.c.first < before, ~used))

    return work


def _remove_answered_questions(before: float) -> Query[None]:
    def work(connection: Connection) -> None:
        connection.execute(delete(questions).where(questions.c.created < before, questions.c.state != "waiting"))

    return work
