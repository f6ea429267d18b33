"""Sessions and their threads."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from hookline.errors import HooklineError
from hookline.runtime.storage.rows import SessionRow, ThreadRow
from hookline.runtime.storage.schema import kept, sessions, threads
from hookline.runtime.storage.work import Work, changed_columns, hold, made, must_be_one, rows_of, values_of

_TOUCHING: Final = update(sessions).where(sessions.c.id == bindparam("of_id"))
_TOUCHING_THREAD: Final = update(threads).where(threads.c.id == bindparam("of_id"))


def add(session: SessionRow) -> Work[None]:
    values = values_of(session)

    def work(connection: Connection) -> None:
        connection.execute(insert(sessions), values)

    return work


def one(id: str) -> Work[SessionRow | None]:
    found = rows_of(SessionRow, sessions).where(sessions.c.id == id)
    return lambda connection: next(iter(made(SessionRow, connection.execute(found))), None)


def last_used(limit: int) -> Work[list[SessionRow]]:
    newest = sessions.c.last_used.desc(), sessions.c.id
    found = rows_of(SessionRow, sessions).order_by(*newest).limit(max(limit, 0))
    return lambda connection: made(SessionRow, connection.execute(found))


def touch(id: str, changed: dict[str, Any]) -> Work[None]:
    values = {"of_id": id, **changed_columns(SessionRow, changed)}

    def work(connection: Connection) -> None:
        hold(connection, session=id)
        must_be_one(connection.execute(_TOUCHING, values).rowcount, f"session {id!r}")

    return work


def is_ours(id: str) -> Work[bool]:
    def work(connection: Connection) -> bool:
        try:
            hold(connection, session=id)
        except HooklineError:
            return False
        return True

    return work


def remove(id: str) -> Work[None]:
    def work(connection: Connection) -> None:
        its = connection.scalars(select(threads.c.id).where(threads.c.session == id)).all()
        for owner in (id, *its):
            connection.execute(delete(kept).where(kept.c.owner == owner))
        connection.execute(delete(sessions).where(sessions.c.id == id))

    return work


def add_thread(thread: ThreadRow) -> Work[None]:
    values = values_of(thread)

    def work(connection: Connection) -> None:
        hold(connection, session=thread.session)
        connection.execute(insert(threads), values)

    return work


def thread(id: str) -> Work[ThreadRow | None]:
    found = rows_of(ThreadRow, threads).where(threads.c.id == id)
    return lambda connection: next(iter(made(ThreadRow, connection.execute(found))), None)


def threads_of(session: str) -> Work[list[ThreadRow]]:
    found = rows_of(ThreadRow, threads).where(threads.c.session == session).order_by(threads.c.sequence)
    return lambda connection: made(ThreadRow, connection.execute(found))


def touch_thread(id: str, changed: dict[str, Any]) -> Work[None]:
    values = {"of_id": id, **changed_columns(ThreadRow, changed)}
    return lambda connection: must_be_one(connection.execute(_TOUCHING_THREAD, values).rowcount, f"thread {id!r}")
