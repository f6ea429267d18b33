"""A SQLite database, in a file or in memory, with a queue of queries for its threads.

Queries that arrive while a thread is busy share its next transaction, which makes commits cheaper under load.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass
from hookline.runners.loop_pause import LoopPause
from hookline.runtime.storage.claims import Claims, FileClaims, NoClaims
from hookline.runtime.storage.database import Query, explain_database_error

T = TypeVar("T")

_MAX_BATCH: Final = 500
"""The maximum number of queries in one transaction, so that the first of them does not wait forever."""
_MAX_SENT: Final = 24
"""The maximum number of queries that the loop pauses for. Callers whose queries are stored together go on together: a hundred
sessions would then all wait for their models at the same time."""


@dataclass(slots=True)
class _PendingQuery:
    work: Query[Any]
    answer: asyncio.Future[Any]
    has_ended: bool = False
    end: asyncio.Future[None] | None = None  # for a caller that was cancelled

    async def wait_until_ended(self) -> None:
        if not self.has_ended:
            self.end = asyncio.get_running_loop().create_future()
            await self.end


@dataclass(frozen=True, slots=True)
class _QueryResult:
    pending: _PendingQuery
    result: Any = None
    failed: Exception | None = None

    def deliver(self) -> None:
        pending, answer = self.pending, self.pending.answer
        pending.has_ended = True
        if answer.done():  # its caller was cancelled
            if pending.end is not None and not pending.end.done():
                pending.end.set_result(None)
        elif self.failed is not None:
            answer.set_exception(self.failed)
        else:
            answer.set_result(self.result)


class QueryQueue:
    """Runs queries on threads, for the event loop in which it is created."""

    def __init__(self, connect: Callable[[], Connection], threads: int = 1) -> None:
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._unsent: list[_PendingQuery] = []
        self._pause = LoopPause() if threads == 1 else None  # while the queries of a batch run, up to its commit
        self._running = Lock()  # held by them
        self._is_busy = False  # with a batch that the loop paused for
        self._batches: SimpleQueue[list[_PendingQuery]] = SimpleQueue()
        self._threads = [Thread(target=self._run_thread, name="hookline store", daemon=True) for _ in range(threads)]
        self._closed = False
        for thread in self._threads:
            thread.start()

    async def run(self, work: Query[T]) -> T:
        answer: T = await self._submit(work).answer
        return answer

    async def run_to_end(self, work: Query[T]) -> T:
        """If the caller is cancelled, it goes on only after the query has ended."""
        pending = self._submit(work)
        try:
            answer: T = await pending.answer
        except asyncio.CancelledError:
            await pending.wait_until_ended()
            raise
        return answer

    def _submit(self, work: Query[Any]) -> _PendingQuery:
        if self._closed:
            raise HooklineError("the store is closed")
        if not self._unsent:  # queries of one loop iteration share a batch
            self._loop.call_soon(self._flush)
        pending = _PendingQuery(work, self._loop.create_future())
        self._unsent.append(pending)
        return pending

    async def close(self) -> None:
        """Closes after the queries that are already queued."""
        if not self._closed:
            self._closed = True
            self._send(len(self._unsent))
            for _ in self._threads:
                self._batches.put([])
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _flush(self) -> None:
        """While a batch runs, the next one is collected."""
        if self._is_busy or not self._unsent:
            return
        if self._pause is None:
            self._send(len(self._unsent))
            return
        self._is_busy, self._running = True, Lock()
        self._running.acquire()
        self._send(_MAX_SENT)
        self._pause.wait(lambda seconds: self._running.acquire(timeout=seconds))

    def _send(self, most: int) -> None:
        if self._unsent:
            self._batches.put(self._unsent[:most])
            del self._unsent[:most]

    def _run_thread(self) -> None:
        connection: Connection | None = None
        while batch := self._next_batch():
            try:
                connection = connection or self._connect()
                done = _run_batch(connection, batch, self._end_pause)
            except Exception as failed:  # no connection, or its rollback failed: the next batch gets a new one
                _discard_connection(connection)
                connection, done = None, [_QueryResult(pending, failed=failed) for pending in batch]
            self._end_pause()
            self._deliver(done)
        _discard_connection(connection)

    def _next_batch(self) -> list[_PendingQuery]:
        """Waits for queries and returns those that are queued; empty when the queue is closed."""
        batch = self._batches.get()
        while batch and len(batch) < _MAX_BATCH:
            try:
                more = self._batches.get_nowait()
            except Empty:
                break
            if not more:
                self._batches.put(more)
                break
            batch += more
        return batch

    def _end_pause(self) -> None:
        """Called from the thread, once or more for each batch."""
        if self._pause is not None and self._running.locked():
            self._running.release()

    def _deliver(self, done: list[_QueryResult]) -> None:
        with suppress(RuntimeError):  # the loop is closed, so no caller is waiting
            self._loop.call_soon_threadsafe(self._deliver_all, done)

    def _deliver_all(self, done: list[_QueryResult]) -> None:
        for each in done:
            each.deliver()
        self._is_busy = False
        if self._unsent:  # after the callers went on: what they ask for next shares the batch
            self._loop.call_soon(self._flush)


def _discard_connection(connection: Connection | None) -> None:
    if connection is None:
        return
    with suppress(SQLAlchemyError):  # closing a broken connection may fail, too
        connection.invalidate()
        connection.close()


def _run_batch(
    connection: Connection, batch: list[_PendingQuery], commits: Callable[[], None] = lambda: None
) -> list[_QueryResult]:
    """If a query fails, the batch is rolled back and each query runs again in its own transaction."""
    try:
        transaction = connection.begin()
    except Exception as failed:
        return [_QueryResult(pending, failed=failed) for pending in batch]
    try:
        done = [_QueryResult(pending, pending.work(connection)) for pending in batch]
        commits()
        transaction.commit()
    except Exception as failed:
        transaction.rollback()
        if len(batch) == 1:
            return [_QueryResult(batch[0], failed=failed)]
        return [done for pending in batch for done in _run_batch(connection, [pending])]
    return done


_LOCK_SECONDS: Final = 5.0
"""How long to wait while another process locks the file."""

_READER_THREADS: Final = 2


class Sqlite:
    """One thread writes and others read: SQLite has a single writer, and readers never wait for it."""

    def __init__(self, place: str, writer: QueryQueue, readers: QueryQueue, claims: Claims) -> None:
        self._place, self._writer, self._readers, self._claims = place, writer, readers, claims

    @classmethod
    async def open(cls, file: Path | None, synchronous: str) -> Sqlite:
        """`file` None: in memory. `synchronous` is SQLite's own setting: normal or full."""
        if file is None:
            queue = QueryQueue(lambda: _open_connection(":memory:", "IMMEDIATE", synchronous))
            return cls("the database in memory", queue, queue, NoClaims())
        place = f"the database {file}"
        try:
            await asyncio.to_thread(_prepare_file, file)
        except (sqlite3.Error, OSError) as failed:
            raise explain_database_error(failed, place) from failed
        writer = QueryQueue(lambda: _open_connection(str(file), "IMMEDIATE", synchronous))
        readers = QueryQueue(lambda: _open_connection(str(file), "DEFERRED", synchronous), threads=_READER_THREADS)
        return cls(place, writer, readers, FileClaims(Path(f"{os.path.realpath(file)}-claims")))

    async def read(self, work: Query[T]) -> T:
        try:
            return await self._readers.run(work)
        except (SQLAlchemyError, sqlite3.Error) as failed:
            raise explain_database_error(failed, self._place) from failed

    async def write(self, work: Query[T]) -> T:
        try:
            return await self._writer.run_to_end(work)
        except (SQLAlchemyError, sqlite3.Error) as failed:
            raise explain_database_error(failed, self._place) from failed

    async def claim(self, session: str) -> bool:
        try:
            return await self._claims.claim(session)
        except OSError as failed:
            raise explain_database_error(failed, self._place) from failed

    async def release(self, session: str) -> None:
        await self._claims.release(session)

    async def close(self) -> None:
        await self._claims.close()
        await self._writer.close()
        await self._readers.close()


def _prepare_file(file: Path) -> None:
    """Only the owner may read the file and its directory; SQLite uses the same rights for its other files."""
    file.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    with suppress(FileExistsError):  # not opened: closing it would release our locks
        descriptor = os.open(os.path.realpath(file), os.O_RDWR | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
        os.close(descriptor)
    if not os.access(file, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    status = file.stat()
    if status.st_uid == os.geteuid() and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    connection = sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None)
    try:
        _enable_write_ahead_log(connection)
    finally:
        connection.close()


def _enable_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Retries while the file is locked: SQLite's own timeout does not apply to this change of mode."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = wal").fetchone()
        except sqlite3.OperationalError as failed:
            if "locked" not in str(failed) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _open_connection(file: str, begin: str, synchronous: str) -> Connection:
    def connect() -> sqlite3.Connection:
        new = sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        for setting in ("foreign_keys = on", "trusted_schema = off", f"synchronous = {synchronous}"):
            new.execute(f"PRAGMA {setting}")
        return new

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    opened = engine.connect()
    opened_identity = _file_identity(file)

    def begun(connection: Connection) -> None:
        if _file_identity(file) != opened_identity:
            raise HooklineError(f"the database {file} was removed or replaced while in use; restore it")
        driver: Any = connection.connection.driver_connection
        driver.execute(f"BEGIN {begin}")  # SQLAlchemy takes ten times as long, and every batch begins

    event.listen(engine, "begin", begun)
    return opened


def _file_identity(file: str) -> tuple[int, int] | None:
    """Identifies the file: SQLite would keep writing to a deleted one, and the data would be lost."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino
