from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, event, text

from hookline.errors import HooklineError
from hookline.runtime.storage.lane import Lane
from hookline.runtime.storage.work import Work
from runtime.storage.parts import ids, message, runs, thread, with_thread


class Numbers:
    """A table of numbers, and how often it was committed."""

    def __init__(self) -> None:
        self.commits = 0

    def connect(self) -> Connection:
        engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(":memory:", check_same_thread=False))
        event.listen(engine, "commit", self._count)
        connection = engine.connect()
        connection.execute(text("CREATE TABLE numbers (n INTEGER PRIMARY KEY)"))
        connection.commit()
        self.commits = 0
        return connection

    def _count(self, connection: Connection) -> None:
        self.commits += 1


def add(number: int) -> Work[int]:
    def work(connection: Connection) -> int:
        connection.execute(text("INSERT INTO numbers VALUES (:n)"), {"n": number})
        return number

    return work


def everything(connection: Connection) -> list[int]:
    return list(connection.scalars(text("SELECT n FROM numbers ORDER BY n")))


@runs
async def test_what_is_asked_at_once_is_committed_together() -> None:
    numbers = Numbers()
    lane = Lane(numbers.connect)
    assert await asyncio.gather(*(lane.do(add(number)) for number in range(100))) == list(range(100))
    assert numbers.commits == 1
    assert await lane.do(everything) == list(range(100))
    await lane.close()


@runs
async def test_one_that_fails_takes_nothing_down_with_it() -> None:
    lane = Lane(Numbers().connect)
    tried = await asyncio.gather(*(lane.do(add(number)) for number in (1, 2, 1, 3)), return_exceptions=True)
    assert [type(each).__name__ for each in tried] == ["int", "int", "IntegrityError", "int"]
    assert await lane.do(everything) == [1, 2, 3]
    await lane.close()


@runs
async def test_what_was_begun_goes_on_when_its_caller_is_cancelled() -> None:
    lane = Lane(Numbers().connect)
    task = asyncio.ensure_future(lane.do(add(1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await lane.do(everything) == [1]
    await lane.close()


@runs
async def test_closing_waits_for_what_was_asked() -> None:
    lane = Lane(Numbers().connect)
    tasks = [asyncio.ensure_future(lane.do(add(number))) for number in range(10)]
    await asyncio.sleep(0)
    await lane.close()
    assert await asyncio.gather(*tasks) == list(range(10))
    with pytest.raises(HooklineError, match="closed"):
        await lane.do(everything)
    await lane.close()


@runs
async def test_a_connection_is_tried_again() -> None:
    numbers, tries = Numbers(), iter((True, False))

    def connect() -> Connection:
        if next(tries):
            raise OSError("not yet")
        return numbers.connect()

    lane = Lane(connect)
    with pytest.raises(OSError, match="not yet"):
        await lane.do(everything)
    assert await lane.do(add(1)) == 1
    await lane.close()


@runs
async def test_a_connection_that_cannot_even_undo_is_replaced() -> None:
    def breaks(connection: Connection) -> None:
        connection.connection.dbapi_connection.close()  # type: ignore[union-attr]
        raise HooklineError("broken")

    numbers = Numbers()
    lane = Lane(numbers.connect)
    tried = await asyncio.gather(lane.do(add(1)), lane.do(breaks), return_exceptions=True)
    assert all(isinstance(each, Exception) for each in tried)
    assert await lane.do(add(2)) == 2
    assert await lane.do(everything) == [2]
    await lane.close()


@runs
async def test_reads_see_what_was_written_before(tmp_path: Path) -> None:
    async def write_and_look(name: str) -> None:
        await store.add_thread(thread(name, "s"))
        for number in range(20):
            await store.add_message(name, message(str(number)))
            assert len(await ids(store, name)) == number + 1

    async with with_thread(f"sqlite:///{tmp_path}/store.db") as store:
        await asyncio.gather(*(write_and_look(f"t{number}") for number in range(10)))
