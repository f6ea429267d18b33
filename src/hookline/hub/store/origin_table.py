"""The processes that write records: where they run, and how far each one's chain has come."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, select, update

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import FIRST, Head
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.storage.hub_tables import decisions, origins
from hookline.runtime.storage.queries import insert_into


@dataclass(slots=True)
class OriginRow:
    id: str
    host: str = ""
    machine: str = ""
    user: str = ""
    workspace: str = ""
    pid: int | None = None
    version: str = ""
    key: str = ""
    first: float = 0
    last: float = 0
    skew: float = 0
    begin: int = 1
    number: int = 0
    hash: str = FIRST
    newest: int = 0
    lost: int = 0
    removed: int = 0
    removed_hash: str = FIRST
    broken: int | None = None
    running: bool = False
    seen: float = 0

    @property
    def missing(self) -> int:
        """Records that are not here although later ones are. They may still come."""
        return max(0, self.newest - self.number)


_KEPT: Final = ("id", "removed", "removed_hash", "running", "seen")
"""Columns that intake does not write."""
_IS_APART = (decisions.c.number > origins.c.number) | (decisions.c.number < origins.c.begin)
_COLUMNS = tuple(origins.c[name] for name in OriginRow.__dataclass_fields__)


class OriginTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, limit: int = 500) -> list[OriginRow]:
        """Those that reported last come first."""
        statement = select(*_COLUMNS).order_by(origins.c.last.desc()).limit(limit)
        return await self._database.read(lambda connection: [OriginRow(*row) for row in connection.execute(statement)])

    async def find(self, ids: Collection[str]) -> dict[str, OriginRow]:
        statement = select(*_COLUMNS).where(origins.c.id.in_(sorted(ids)))
        rows = await self._database.read(lambda connection: [OriginRow(*row) for row in connection.execute(statement)])
        return {row.id: row for row in rows}

    async def heads(self, key: str) -> dict[str, Head]:
        """The last record of the whole part of each chain that this key reports."""
        statement = select(origins.c.id, origins.c.number, origins.c.hash).where(origins.c.key == key)
        rows = await self._database.read(lambda connection: list(connection.execute(statement)))
        return {id: Head(number, hash) for id, number, hash in rows}

    async def mark_running(self, ids: Collection[str], key: str, now: float) -> tuple[list[OriginRow], set[str]]:
        """Those that began to run just now, and the ids of all that are known. `key` as in `Intake.take`."""
        is_named = (origins.c.id.in_(sorted(ids))) & (origins.c.key == key)
        begun = update(origins).where(is_named, ~origins.c.running).values(running=True, seen=now)
        seen = update(origins).where(is_named).values(seen=now).returning(origins.c.id)

        def work(connection: Connection) -> tuple[list[OriginRow], set[str]]:
            new = [OriginRow(*row) for row in connection.execute(begun.returning(*_COLUMNS))]
            return new, {id for (id,) in connection.execute(seen)}

        return await self._database.write(work)

    async def mark_ended(self, ids: Collection[str], key: str) -> list[OriginRow]:
        """Those of them that ran until now."""
        return await self._end(origins.c.id.in_(sorted(ids)) & (origins.c.key == key))

    async def mark_silent(self, before: float) -> list[OriginRow]:
        """Those that ran, and of which nobody has said so since then."""
        return await self._end(origins.c.seen < before)

    async def _end(self, condition: ColumnElement[bool]) -> list[OriginRow]:
        ended = update(origins).where(origins.c.running, condition).values(running=False).returning(*_COLUMNS)
        return await self._database.write(lambda connection: [OriginRow(*row) for row in connection.execute(ended)])

    async def records_apart(self, ids: Collection[str]) -> dict[str, dict[int, tuple[str, str]]]:
        """Records beside the whole part of a chain, which wait for those between: number → (previous, hash)."""
        statement = (
            select(decisions.c.origin, decisions.c.number, decisions.c.record, decisions.c.hash)
            .join(origins, origins.c.id == decisions.c.origin)
            .where(decisions.c.origin.in_(sorted(ids)), _IS_APART)
        )
        return await self._database.read(lambda connection: _by_origin(connection.execute(statement)))


def _by_origin(rows: Iterable[Any]) -> dict[str, dict[int, tuple[str, str]]]:
    found: dict[str, dict[int, tuple[str, str]]] = {}
    for origin, number, record, hash in rows:
        start = record.find('"previous":"') + len('"previous":"')
        found.setdefault(origin, {})[number] = (record[start : start + 64], hash)
    return found


@cache
def _upsert(dialect: str) -> Any:
    new = insert_into(dialect, origins)
    taken = [each.name for each in origins.columns if each.name not in _KEPT]
    return new.on_conflict_do_update(index_elements=["id"], set_={name: new.excluded[name] for name in taken})


_LOCK_ORIGINS: Final = "SELECT pg_advisory_xact_lock(hashtext('origin:' || id)) FROM unnest($1::text[]) AS id"


class StaleChain(HooklineError):
    """Another process has taken records of the origin meanwhile."""


def check_unchanged(expected: Mapping[str, tuple[int, int]]) -> Query[None]:
    """Locks these origins until the transaction ends. Raises StaleChain if (number, newest) of one is not as expected."""
    ids = sorted(expected)
    statement = select(origins.c.id, origins.c.number, origins.c.newest).where(origins.c.id.in_(ids))

    def work(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(_LOCK_ORIGINS, (ids,))
        found = {id: (number, newest) for id, number, newest in connection.execute(statement)} if ids else {}
        if any(found.get(id, (0, 0)) != expected[id] for id in ids):
            raise StaleChain("records of this process are taken by another hub as well")

    return work


def upsert_origins(rows: Sequence[OriginRow]) -> Query[None]:
    """What others have written about an origin stays."""
    values = [{name: getattr(row, name) for name in OriginRow.__dataclass_fields__} for row in rows]

    def work(connection: Connection) -> None:
        if values:
            connection.execute(_upsert(connection.dialect.name), values)

    return work
