"""Recomputes the chain of every process from the records in the database, and what they are found by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import func, select

from hookline.formatting import printable
from hookline.hub.store.origin_table import OriginRow, OriginTable
from hookline.hub.store.record_line import DECISION_COLUMNS, decision_values, parse_line
from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import line_hash
from hookline.runtime.storage.database import Database
from hookline.runtime.storage.hub_tables import books, decisions, origins

_PIECE: Final = 2000
_MAX_INSERTED: Final = 1000  # that are named


@dataclass(frozen=True, slots=True)
class ChainReport:
    records: int
    origins: int
    problems: tuple[str, ...]  # what was changed, removed or inserted
    missing: int  # records that never came, or that their process could not write


async def check_chains(database: Database) -> ChainReport:
    records, missing = 0, 0
    inserted = await _find_inserted(database)
    problems = await _find_unknown_origins(database) + [f"{id}: this record was inserted" for id in inserted]
    rows = await OriginTable(database).all(limit=1_000_000)
    for row in rows:
        count, found = await _check_origin(database, row)
        records += count
        missing += row.missing + row.lost
        problems += found or await _check_apart(database, row, inserted)
    problems += await _check_books(database)
    return ChainReport(records, len(rows), tuple(problems), missing)


async def _find_inserted(database: Database) -> list[str]:
    """Records that the process's row does not know of. Records beside the whole part of its chain wait for others, but
    those that would continue it are never among them. One statement: the hub may take records meanwhile.
    """
    number, row = decisions.c.number, origins.c
    is_inserted = (number < 1) | (number > row.newest) | (number == row.number + 1) | (number == row.begin - 1)
    joined = decisions.join(origins, row.id == decisions.c.origin)
    statement = select(row.id, number).select_from(joined).where(is_inserted).order_by(row.id, number)
    found = await database.read(lambda connection: list(connection.execute(statement.limit(_MAX_INSERTED))))
    return [f"{origin}-{number}" for origin, number in found]


async def _find_unknown_origins(database: Database) -> list[str]:
    statement = (
        select(decisions.c.origin, func.count())
        .outerjoin(origins, origins.c.id == decisions.c.origin)
        .where(origins.c.id.is_(None))
        .group_by(decisions.c.origin)
        .limit(_MAX_INSERTED)
    )
    found = await database.read(lambda connection: list(connection.execute(statement)))
    return [
        f"{printable(origin)}: the hub knows no such process, so its records ({count}) were inserted, or its row removed"
        for origin, count in found
    ]


async def _check_origin(database: Database, row: OriginRow) -> tuple[int, list[str]]:
    """Follows the records up to the first one that is missing."""
    number, hash, count = _start(row), row.removed_hash if row.removed else None, 0
    while True:
        piece = await _read_piece(database, row.id, number)
        for stored in piece:
            found, record, stored_hash = stored.number, stored.record, stored.hash
            if found > row.number:  # it waits for those before it
                return count, []
            if found != number + 1:
                return count, [f"{row.id}-{number + 1}: this record was removed"]
            if line_hash(record.encode()) != stored_hash:
                return count, [f"{row.id}-{found}: it was changed"]
            if hash is not None and _previous(record) != hash:
                return count, [f"{row.id}-{found}: it was changed, or the record before it was changed or inserted"]
            if wrong := _wrong_column(stored, row):
                return count, [f"{row.id}-{found}: its column {wrong} was changed"]
            number, hash, count = found, stored_hash, count + 1
        if len(piece) < _PIECE:
            break
    if number < row.number:
        return count, [f"{row.id}-{number + 1}: this record was removed"]
    if hash is not None and hash != row.hash:
        return count, [f"{row.id}-{number}: it was changed"]
    return count, []


async def _check_apart(database: Database, row: OriginRow, inserted: Sequence[str]) -> list[str]:
    """Checks the records beside the whole part of the chain, of which others are missing."""
    number, hash, after = 0, "", 0
    while True:
        piece = await _read_piece(database, row.id, after, beside=row)
        for stored in piece:
            after = stored.number
            id = f"{row.id}-{stored.number}"
            if id in inserted:
                continue
            if line_hash(stored.record.encode()) != stored.hash:
                return [f"{id}: it was changed"]
            if stored.number == number + 1 and hash and _previous(stored.record) != hash:
                return [f"{id}: it was changed, or the record before it was changed or inserted"]
            if wrong := _wrong_column(stored, row):
                return [f"{id}: its column {wrong} was changed"]
            number, hash = stored.number, stored.hash
        if len(piece) < _PIECE:
            break
    if number < row.newest and row.newest > max(row.number, row.removed):
        return [f"{row.id}-{row.newest}: this record was removed"]
    return []


def _start(row: OriginRow) -> int:
    return max(row.begin - 1, row.removed)


def _previous(record: str) -> str:
    start = record.find('"previous":"') + len('"previous":"')
    return record[start : start + 64]


def _wrong_column(stored: Any, row: OriginRow) -> str:
    """The name of one that is not what its record says. People see records through them."""
    line = parse_line(stored.record.encode())
    if line is None:
        return "record"
    expected = decision_values(line, now=stored.at)  # a time after that of its arrival, if the clock was ahead
    is_time = stored.at == line.at or row.first <= stored.at < line.at
    wrong = [name for name, value in zip(DECISION_COLUMNS, expected, strict=True) if getattr(stored, name) != value]
    return "".join(wrong[:1]) if is_time else "at"


async def _read_piece(database: Database, origin: str, after: int, beside: OriginRow | None = None) -> Sequence[Any]:
    statement = (
        select(*(decisions.c[name] for name in DECISION_COLUMNS))
        .where(decisions.c.origin == origin, decisions.c.number > after)
        .order_by(decisions.c.number)
        .limit(_PIECE)
    )
    if beside is not None:
        is_beside = (decisions.c.number > beside.number) | (decisions.c.number <= _start(beside))
        statement = statement.where(is_beside)
    return await database.read(lambda connection: list(connection.execute(statement)))


async def _check_books(database: Database) -> list[str]:
    statement = select(books.c.hash, books.c.parts)
    rows = await database.read(lambda connection: list(connection.execute(statement)))
    changed = [hash for hash, parts in rows if hashlib.sha256(parts.encode()).hexdigest() != hash]
    return [f"hooks {hash}: their texts were changed" for hash in changed]
