"""Recomputes the chain of every process from the records in the database, and what they are found by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import select

from hookline.hub.store.origin_table import OriginRow, OriginTable
from hookline.hub.store.record_line import DECISION_COLUMNS, decision_values, parse_line
from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import line_hash
from hookline.runtime.storage.database import Database
from hookline.runtime.storage.hub_tables import books, decisions

_PIECE: Final = 2000


@dataclass(frozen=True, slots=True)
class ChainReport:
    records: int
    origins: int
    problems: tuple[str, ...]  # what was changed, removed or inserted
    missing: int  # records that never came, or that their process could not write


async def check_chains(database: Database) -> ChainReport:
    records, missing, problems = 0, 0, []
    rows = await OriginTable(database).all(limit=1_000_000)
    for row in rows:
        count, found = await _check_origin(database, row)
        records += count
        missing += row.missing + row.lost
        problems += found
    problems += await _check_books(database)
    return ChainReport(records, len(rows), tuple(problems), missing)


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


async def _read_piece(database: Database, origin: str, after: int) -> Sequence[Any]:
    statement = (
        select(*(decisions.c[name] for name in DECISION_COLUMNS))
        .where(decisions.c.origin == origin, decisions.c.number > after)
        .order_by(decisions.c.number)
        .limit(_PIECE)
    )
    return await database.read(lambda connection: list(connection.execute(statement)))


async def _check_books(database: Database) -> list[str]:
    statement = select(books.c.hash, books.c.parts)
    rows = await database.read(lambda connection: list(connection.execute(statement)))
    changed = [hash for hash, parts in rows if hashlib.sha256(parts.encode()).hexdigest() != hash]
    return [f"hooks {hash}: their texts were changed" for hash in changed]
