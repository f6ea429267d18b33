"""A queue of work and the threads that do it, each with its own connection.

What is asked while a thread is busy it does next, all of it in one transaction: the more is asked at once, the less a
commit costs each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from hookline.errors import HooklineError
from hookline.runtime.storage.work import Work

T = TypeVar("T")

_TOGETHER: Final = 500
"""Works after which a transaction takes no more, so that the first of them does not wait without end."""


@dataclass(frozen=True, slots=True)
class _Asked:
    work: Work[Any]
    answer: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class _Done:
    answer: asyncio.Future[Any]
    result: Any = None
    failed: Exception | None = None

    def tell(self) -> None:
        if self.answer.done():  # its caller was cancelled
            return
        if self.failed is not None:
            self.answer.set_exception(self.failed)
        else:
            self.answer.set_result(self.result)


class Lane:
    """For the event loop in which it is made."""

    def __init__(self, connect: Callable[[], Connection], threads: int = 1) -> None:
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._fresh: list[_Asked] = []
        self._asked: SimpleQueue[list[_Asked]] = SimpleQueue()
        self._threads = [Thread(target=self._serve, name="hookline store", daemon=True) for _ in range(threads)]
        self._closed = False
        for thread in self._threads:
            thread.start()

    async def do(self, work: Work[T]) -> T:
        if self._closed:
            raise HooklineError("the store is closed")
        answer: asyncio.Future[T] = self._loop.create_future()
        if not self._fresh:  # all that is asked in one round of the loop goes together, or the first would go alone
            self._loop.call_soon(self._hand_over)
        self._fresh.append(_Asked(work, answer))
        return await answer

    async def close(self) -> None:
        """After everything that was asked before."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            for _ in self._threads:
                self._asked.put([])
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _hand_over(self) -> None:
        if self._fresh:
            self._asked.put(self._fresh)
            self._fresh = []

    def _serve(self) -> None:
        connection: Connection | None = None
        while batch := self._next():
            try:
                connection = connection or self._connect()
                done = _done(connection, batch)
            except Exception as failed:  # no connection, or one that cannot even undo: the next batch gets another
                _drop(connection)
                connection, done = None, [_Done(asked.answer, failed=failed) for asked in batch]
            self._tell(done)
        _drop(connection)

    def _next(self) -> list[_Asked]:
        """Empty at the end."""
        batch = self._asked.get()
        while batch and len(batch) < _TOGETHER:
            try:
                more = self._asked.get_nowait()
            except Empty:
                break
            if not more:
                self._asked.put(more)
                break
            batch += more
        return batch

    def _tell(self, done: list[_Done]) -> None:
        with suppress(RuntimeError):  # the loop is closed, so nobody listens
            self._loop.call_soon_threadsafe(_tell_all, done)


def _drop(connection: Connection | None) -> None:
    if connection is None:
        return
    with suppress(SQLAlchemyError):  # a broken one may refuse even that, and is let go all the same
        connection.invalidate()
        connection.close()


def _tell_all(done: list[_Done]) -> None:
    for each in done:
        each.tell()


def _done(connection: Connection, batch: list[_Asked]) -> list[_Done]:
    """One that fails takes nothing down with it: all is undone, and each is done again by itself."""
    try:
        transaction = connection.begin()
    except Exception as failed:
        return [_Done(asked.answer, failed=failed) for asked in batch]
    try:
        done = [_Done(asked.answer, asked.work(connection)) for asked in batch]
        transaction.commit()
    except Exception as failed:
        transaction.rollback()
        if len(batch) == 1:
            return [_Done(batch[0].answer, failed=failed)]
        return [done for asked in batch for done in _done(connection, [asked])]
    return done
