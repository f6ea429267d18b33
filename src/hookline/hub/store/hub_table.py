"""The hubs that run on this database, and the sessions that they have."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Double, cast, delete, func, literal, select, update

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage.columns import escape_text
from hookline.runtime.storage.database import Database
from hookline.runtime.storage.hub_tables import hubs
from hookline.runtime.storage.queries import insert_into
from hookline.runtime.storage.tables import sessions


@dataclass(frozen=True, slots=True)
class HubRow:
    id: str
    url: str
    seen: float


class HubTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark_seen(self, id: str, url: str, forget_after: timedelta) -> None:
        """By the database's clock: those of hubs may differ."""

        def work(connection: Connection) -> None:
            now = _now(connection)
            statement = insert_into(connection.dialect.name, hubs).values(id=id, url=url, seen=now)
            changed = {"url": statement.excluded.url, "seen": statement.excluded.seen}
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=changed))
            connection.execute(delete(hubs).where(hubs.c.seen < now - forget_after.total_seconds()))

        await self._database.write(work)

    async def remove(self, id: str) -> None:
        statement = delete(hubs).where(hubs.c.id == id)
        await self._database.write(lambda connection: connection.execute(statement) and None)

    async def running(self, within: timedelta) -> list[HubRow]:
        """Those that were seen within this time."""

        def work(connection: Connection) -> list[HubRow]:
            statement = select(hubs.c.id, hubs.c.url, hubs.c.seen).where(
                hubs.c.seen >= _now(connection) - within.total_seconds()
            )
            return [HubRow(*row) for row in connection.execute(statement.order_by(hubs.c.id))]

        return await self._database.read(work)

    async def of_session(self, session: str, within: timedelta) -> HubRow | None:
        """The hub that claimed the session last, if it was seen within this time."""

        def work(connection: Connection) -> HubRow | None:
            statement = (
                select(hubs.c.id, hubs.c.url, hubs.c.seen)
                .join(sessions, sessions.c.hub == hubs.c.id)
                .where(sessions.c.id == escape_text(session), hubs.c.seen >= _now(connection) - within.total_seconds())
            )
            row = connection.execute(statement).first()
            return None if row is None else HubRow(*row)

        return await self._database.read(work)

    async def take_session(self, session: str, hub: str) -> None:
        statement = update(sessions).where(sessions.c.id == escape_text(session)).values(hub=hub)
        await self._database.write(lambda connection: connection.execute(statement) and None)


def _now(connection: Connection) -> Any:
    if connection.dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()), Double)
    return literal(time.time(), Double)
