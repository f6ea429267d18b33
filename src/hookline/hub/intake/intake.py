"""Takes lines of records into the database, each once: the key is the process that wrote it and its number there."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hookline.hub.intake.origin_chain import OriginChain
from hookline.hub.store.book_table import BookTable, insert_books
from hookline.hub.store.decision_table import insert_decisions
from hookline.hub.store.origin_table import OriginRow, OriginTable, StaleChain, check_unchanged, upsert_origins
from hookline.hub.store.record_line import RecordLine, decision_values, parse_line
from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import Head
from hookline.runtime.storage.database import Database, combine_queries

MAX_BATCH: Final = 500  # lines in one transaction: other processes write to the same SQLite file
_MAX_ORIGINS: Final = 5_000  # whose chains are in memory
_MAX_BOOKS: Final = 2_000  # whose hashes are in memory

_log = logging.getLogger("hookline.hub")


@dataclass(frozen=True, slots=True)
class Intaken:
    taken: int  # lines that are in the database now, or were before
    refused: int  # lines that are not records, or of a process that another key reports
    missing_books: tuple[str, ...] = ()  # hashes of hooks' texts that are not here


@dataclass(frozen=True, slots=True)
class TakenLine:
    line: RecordLine
    machine: str


class Intake:
    """`on_taken` is called with lines that are new, once they are committed; `on_broken` with a process of which a record
    does not follow from the one before it, once.
    """

    def __init__(
        self,
        database: Database,
        on_taken: Callable[[Sequence[TakenLine]], None] = lambda lines: None,
        clock: Callable[[], float] = time.time,
        on_broken: Callable[[OriginRow], None] = lambda row: None,
    ) -> None:
        self._database = database
        self._on_taken = on_taken
        self._on_broken = on_broken
        self._clock = clock
        self._origins = OriginTable(database)
        self._books = BookTable(database)
        self._chains: OrderedDict[str, OriginChain] = OrderedDict()
        self._known_books: OrderedDict[str, None] = OrderedDict()
        self._lock = asyncio.Lock()

    async def take(self, lines: Sequence[bytes], key: str = "", books: Mapping[str, bytes] | None = None) -> Intaken:
        """`key` is the id of the credential that reports them; empty for this machine's own record.

        Raises HooklineError if the database cannot be written; then nothing of the failing batch was taken.
        """
        taken = refused = 0
        missing: dict[str, None] = {}
        async with self._lock:
            for start in range(0, max(len(lines), 1), MAX_BATCH):
                batch, texts = lines[start : start + MAX_BATCH], books if start == 0 else None
                try:
                    done = await self._take_batch(batch, key, texts)
                except StaleChain:  # another hub took records of the same process
                    done = await self._take_batch(batch, key, texts)
                taken, refused = taken + done.taken, refused + done.refused
                missing |= dict.fromkeys(done.missing_books)
        return Intaken(taken, refused, tuple(missing))

    async def own_heads(self) -> dict[str, Head]:
        """How far the chains of this machine's own processes are here."""
        return await self._origins.heads(key="")

    async def _take_batch(self, lines: Sequence[bytes], key: str, books: Mapping[str, bytes] | None) -> Intaken:
        now = self._clock()
        records = await asyncio.to_thread(_parse_lines, lines, now)  # a second of load must not hold up an answer
        origins = {line.origin for line, _ in records}
        await self._load_chains(origins)
        refused = len(lines) - len(records)
        before = {origin: self._chains[origin].stored for origin in origins}
        intact = {origin for origin in origins if self._chains[origin].row.broken is None}
        new: list[RecordLine] = []
        rows: list[tuple[Any, ...]] = []
        changed: dict[str, OriginChain] = {}
        for line, row in records:
            chain = self._chains[line.origin]
            if chain.row.newest and chain.row.key != key and not chain.continues(line):
                refused += chain.row.number < line.number
                continue
            if chain.take(line, now):
                chain.row.key = key
                changed[line.origin] = chain
                new.append(line)
                rows.append(row)
        checked = {hash: data for hash, data in (books or {}).items() if _is_book(hash, data)}
        try:
            await self._database.write(
                combine_queries(
                    [
                        check_unchanged({origin: before[origin] for origin in changed}),
                        insert_decisions(rows),
                        upsert_origins([chain.row for chain in changed.values()]),
                        insert_books(checked, now),
                    ]
                )
            )
        except BaseException:
            for origin in changed:  # what is in memory is ahead of the database: it is read again
                self._chains.pop(origin, None)
            raise
        self._remember_books(checked)
        if new:
            self._on_taken([TakenLine(line, self._chains[line.origin].row.machine) for line in new])
        for origin, chain in changed.items():
            if chain.row.broken is not None and origin in intact:
                self._on_broken(chain.row)
        self._forget_chains()
        return Intaken(len(lines) - refused, refused, tuple(await self._missing_books(new)))

    async def _load_chains(self, ids: set[str]) -> None:
        unknown = [id for id in ids if id not in self._chains]
        if unknown:
            rows = await self._origins.find(unknown)
            apart = await self._origins.records_apart(rows) if rows else {}
            for id in unknown:
                self._chains[id] = OriginChain(rows.get(id) or OriginRow(id), apart.get(id, {}))
        for id in ids:
            self._chains.move_to_end(id)

    def _forget_chains(self) -> None:
        while len(self._chains) > _MAX_ORIGINS:
            self._chains.popitem(last=False)

    async def _missing_books(self, lines: Sequence[RecordLine]) -> list[str]:
        named = {hash for line in lines if isinstance(hash := line.record.get("hooks"), str) and len(hash) == 64}
        unknown = {hash for hash in named if hash not in self._known_books}
        known = await self._books.find_hashes(unknown)
        self._remember_books(known)
        return sorted(unknown - known)

    def _remember_books(self, hashes: Mapping[str, bytes] | set[str]) -> None:
        self._known_books.update(dict.fromkeys(hashes))
        while len(self._known_books) > _MAX_BOOKS:
            self._known_books.popitem(last=False)


def _parse_lines(lines: Sequence[bytes], now: float) -> list[tuple[RecordLine, tuple[Any, ...]]]:
    """Those that are records, with their rows of the table."""
    return [(line, decision_values(line, now)) for each in lines if (line := parse_line(each)) is not None]


def _is_book(hash: str, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == hash
