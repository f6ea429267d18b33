"""Tool calls, each attempt with the decision that let it run; and calls that wait for their turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from hookline.errors import HooklineError
from hookline.runtime.storage.rows import CallRow, QueuedRow
from hookline.runtime.storage.schema import queue, tool_calls
from hookline.runtime.storage.texts import encoded
from hookline.runtime.storage.work import Work, hold, made, rows_of, values_of

_OF_CALL: Final = (tool_calls.c.thread == bindparam("of_thread"), tool_calls.c.call == bindparam("of_call"))
_OF_ATTEMPT: Final = (*_OF_CALL, tool_calls.c.attempt == bindparam("of_attempt"))
_ATTEMPTS: Final = select(func.coalesce(func.max(tool_calls.c.attempt), 0)).where(*_OF_CALL).scalar_subquery()
_BEGINNING: Final = insert(tool_calls).values(attempt=_ATTEMPTS + 1).returning(tool_calls.c.attempt)
_BEGUN: Final = select(tool_calls.c.sequence).where(*_OF_ATTEMPT)
_ENDING: Final = update(tool_calls).where(*_OF_ATTEMPT, tool_calls.c.ended.is_(None))


def begin(call: CallRow) -> Work[int]:
    values = {**values_of(call), "of_thread": call.thread, "of_call": call.call}
    del values["attempt"]

    def work(connection: Connection) -> int:
        hold(connection, thread=call.thread)
        return int(connection.execute(_BEGINNING, values).scalar_one())

    return work


def end(thread: str, call: str, attempt: int, outcome: dict[str, Any]) -> Work[None]:
    its = {"of_thread": thread, "of_call": call, "of_attempt": attempt}
    values = {**its, **outcome, "ended": time.time()}

    def work(connection: Connection) -> None:
        if connection.execute(_ENDING, values).rowcount:
            return
        if connection.execute(_BEGUN, its).first() is None:
            raise HooklineError(f"the call {call!r} has no attempt {attempt} in the thread {thread}")

    return work


def of_thread(thread: str) -> Work[list[CallRow]]:
    found = rows_of(CallRow, tool_calls).where(tool_calls.c.thread == thread).order_by(tool_calls.c.sequence)
    return lambda connection: made(CallRow, connection.execute(found))


def enqueue(thread: str, name: str, input: dict[str, Any]) -> Work[None]:
    values = {"thread": thread, "name": name, "input": encoded(input)}

    def work(connection: Connection) -> None:
        hold(connection, thread=thread)
        connection.execute(insert(queue), values)

    return work


def queued(thread: str) -> Work[list[QueuedRow]]:
    found = rows_of(QueuedRow, queue).where(queue.c.thread == thread).order_by(queue.c.sequence)
    return lambda connection: made(QueuedRow, connection.execute(found))


def unqueue(thread: str, rows: Sequence[QueuedRow]) -> Work[int]:
    """How many of them were still there."""
    leaving = delete(queue).where(queue.c.sequence.in_([row.sequence for row in rows]))

    def work(connection: Connection) -> int:
        hold(connection, thread=thread)
        return connection.execute(leaving).rowcount

    return work
