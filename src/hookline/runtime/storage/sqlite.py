"""A database in one file, or in memory."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from hookline.errors import HooklineError
from hookline.runtime.storage.claims import Claims, FileClaims, NoClaims
from hookline.runtime.storage.failures import explained
from hookline.runtime.storage.lane import Lane
from hookline.runtime.storage.work import Work

T = TypeVar("T")

_PATIENCE: Final = 5.0
"""Seconds that another process may hold the file."""

_READERS: Final = 2


class Sqlite:
    """One thread writes and others read, for SQLite has one writer at a time, and readers that never wait for it."""

    def __init__(self, place: str, writer: Lane, readers: Lane, claims: Claims) -> None:
        self._place, self._writer, self._readers, self._claims = place, writer, readers, claims

    @classmethod
    async def open(cls, file: Path | None, synchronous: str) -> Sqlite:
        """`file` None: in memory. `synchronous` is SQLite's own setting: normal or full."""
        if file is None:
            lane = Lane(lambda: _connected(":memory:", "IMMEDIATE", synchronous))
            return cls("the database in memory", lane, lane, NoClaims())
        place = f"the database {file}"
        try:
            await asyncio.to_thread(_prepare, file)
        except (sqlite3.Error, OSError) as failed:
            raise explained(failed, place) from failed
        writer = Lane(lambda: _connected(str(file), "IMMEDIATE", synchronous))
        readers = Lane(lambda: _connected(str(file), "DEFERRED", synchronous), threads=_READERS)
        return cls(place, writer, readers, FileClaims(Path(f"{os.path.realpath(file)}-claims")))

    async def read(self, work: Work[T]) -> T:
        return await self._asked(self._readers, work)

    async def write(self, work: Work[T]) -> T:
        return await self._asked(self._writer, work)

    async def claim(self, session: str) -> bool:
        try:
            return await self._claims.claim(session)
        except OSError as failed:
            raise explained(failed, self._place) from failed

    async def release(self, session: str) -> None:
        await self._claims.release(session)

    async def close(self) -> None:
        await self._claims.close()
        await self._writer.close()
        await self._readers.close()

    async def _asked(self, lane: Lane, work: Work[T]) -> T:
        try:
            return await lane.do(work)
        except (SQLAlchemyError, sqlite3.Error) as failed:
            raise explained(failed, self._place) from failed


def _prepare(file: Path) -> None:
    """The file and its directory are for their owner alone; SQLite gives the files beside it the same rights."""
    file.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    with suppress(FileExistsError):  # it is not opened then: closing it would end all locks that this process has on it
        made = os.open(os.path.realpath(file), os.O_RDWR | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
        os.close(made)
    if not os.access(file, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    found = file.stat()
    if found.st_uid == os.geteuid() and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    connection = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
    try:
        _write_ahead(connection)
    finally:
        connection.close()


def _write_ahead(connection: sqlite3.Connection) -> None:
    """The change of mode does not wait for a lock as everything else does, so that is done here."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = wal").fetchone()
        except sqlite3.OperationalError as failed:
            if "locked" not in str(failed) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _connected(file: str, begin: str, synchronous: str) -> Connection:
    def connect() -> sqlite3.Connection:
        new = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        for setting in ("foreign_keys = on", "trusted_schema = off", f"synchronous = {synchronous}"):
            new.execute(f"PRAGMA {setting}")
        return new

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    opened = engine.connect()
    mine = _identity(file)

    def begun(connection: Connection) -> None:
        if _identity(file) != mine:
            raise HooklineError(f"the database {file} was removed or replaced while it was used; bring it back")
        connection.exec_driver_sql(f"BEGIN {begin}")

    event.listen(engine, "begin", begun)
    return opened


def _identity(file: str) -> tuple[int, int] | None:
    """SQLite goes on with a file that has lost its name, and all that it then stores is lost."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino
