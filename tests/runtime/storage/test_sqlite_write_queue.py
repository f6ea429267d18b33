from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, event, text

from hookline.errors import HooklineError
from hookline.runtime.storage.database import Query
from hookline.runtime.storage.sqlite import QueryQueue
from runtime.storage.row_factories import async_test, make_message, make_thread, message_ids, open_store_with_thread

pytestmark = pytest.mark.slow


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


def add(number: int) -> Query[int]:
    def work(connection: Connection) -> int:
        connection.execute(text("INSERT INTO numbers VALUES (:n)"), {"n": number})
        return number

    return work


def everything(connection: Connection) -> list[int]:
    return list(connection.scalars(text("SELECT n FROM numbers ORDER BY n")))


@async_test
async def test_what_is_asked_at_once_is_committed_together() -> None:
    numbers = Numbers()
    lane = QueryQueue(numbers.connect)
    assert await asyncio.gather(*(lane.run(add(number)) for number in range(20))) == list(range(20))
    assert numbers.commits == 1
    assert await lane.run(everything) == list(range(20))
    await lane.close()


@async_test
async def test_many_queries_are_committed_in_several_steps() -> None:
    """The callers of the first go on while the others are still stored."""
    numbers, ends = Numbers(), list[int]()
    lane = QueryQueue(numbers.connect)

    async def store(number: int) -> None:
        await lane.run(add(number))
        ends.append(numbers.commits)

    await asyncio.gather(*(store(number) for number in range(100)))
    assert ends[0] == 1
    assert 2 < numbers.commits < 20
    assert await lane.run(everything) == list(range(100))
    await lane.close()


@async_test
async def test_everything_that_was_asked_is_stored_when_it_closes() -> None:
    numbers = Numbers()
    lane = QueryQueue(numbers.connect)
    asked = [asyncio.ensure_future(lane.run(add(number))) for number in range(100)]
    await asyncio.sleep(0)
    await lane.close()
    assert await asyncio.gather(*asked) == list(range(100))


@async_test
async def test_a_cancelled_caller_goes_on_only_after_its_query() -> None:
    numbers, began, may_end = Numbers(), threading.Event(), threading.Event()
    lane = QueryQueue(numbers.connect)

    def slow(connection: Connection) -> int:
        began.set()
        assert may_end.wait(30)
        return add(1)(connection)

    task = asyncio.ensure_future(lane.run_to_end(slow))
    assert await asyncio.to_thread(began.wait, 30)
    task.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert numbers.commits == 1
    assert await lane.run(everything) == [1]
    await lane.close()


@async_test
async def test_one_that_fails_takes_nothing_down_with_it() -> None:
    lane = QueryQueue(Numbers().connect)
    tried = await asyncio.gather(*(lane.run(add(number)) for number in (1, 2, 1, 3)), return_exceptions=True)
    assert [type(each).__name__ for each in tried] == ["int", "int", "IntegrityError", "int"]
    assert await lane.run(everything) == [1, 2, 3]
    await lane.close()


@async_test
async def test_what_was_begun_goes_on_when_its_caller_is_cancelled() -> None:
    lane = QueryQueue(Numbers().connect)
    task = asyncio.ensure_future(lane.run(add(1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await lane.run(everything) == [1]
    await lane.close()


@async_test
async def test_closing_waits_for_what_was_asked() -> None:
    lane = QueryQueue(Numbers().connect)
    tasks = [asyncio.ensure_future(lane.run(add(number))) for number in range(10)]
    await asyncio.sleep(0)
    await lane.close()
    assert await asyncio.gather(*tasks) == list(range(10))
    with pytest.raises(HooklineError, match="closed"):
        await lane.run(everything)
    await lane.close()


@async_test
async def test_a_connection_is_tried_again() -> None:
    numbers, tries = Numbers(), iter((True, False))

    def connect() -> Connection:
        if next(tries):
            raise OSError("not yet")
        return numbers.connect()

    lane = QueryQueue(connect)
    with pytest.raises(OSError, match="not yet"):
        await lane.run(everything)
    assert await lane.run(add(1)) == 1
    await lane.close()


@async_test
async def test_a_connection_that_cannot_even_undo_is_replaced() -> None:
    def breaks(connection: Connection) -> None:
        connection.connection.dbapi_connection.close()  # type: ignore[union-attr]
        raise HooklineError("broken")

    numbers = Numbers()
    lane = QueryQueue(numbers.connect)
    tried = await asyncio.gather(lane.run(add(1)), lane.run(breaks), return_exceptions=True)
    assert all(isinstance(each, Exception) for each in tried)
    assert await lane.run(add(2)) == 2
    assert await lane.run(everything) == [2]
    await lane.close()


@async_test
async def test_reads_see_what_was_written_before(tmp_path: Path) -> None:
    async def write_and_look(name: str) -> None:
        await store.add_thread(make_thread(name, "s"))
        for number in range(20):
            await store.add_message(name, make_message(str(number)))
            assert len(await message_ids(store, name)) == number + 1

    async with open_store_with_thread(f"sqlite:///{tmp_path}/store.db") as store:
        await asyncio.gather(*(write_and_look(f"t{number}") for number in range(10)))


@async_test
async def test_what_is_asked_while_a_batch_runs_is_committed_together() -> None:
    numbers, began, may_end = Numbers(), threading.Event(), threading.Event()
    lane = QueryQueue(numbers.connect)

    def slow(connection: Connection) -> int:
        began.set()
        assert may_end.wait(30)
        return add(0)(connection)

    tasks = [asyncio.ensure_future(lane.run(slow))]
    assert await asyncio.to_thread(began.wait, 30)
    for number in range(1, 4):
        tasks.append(asyncio.ensure_future(lane.run(add(number))))
        await asyncio.sleep(0.01)  # each in an iteration of its own; the loop goes on meanwhile
    may_end.set()
    assert await asyncio.gather(*tasks) == [0, 1, 2, 3]
    assert numbers.commits == 2
    await lane.close()
