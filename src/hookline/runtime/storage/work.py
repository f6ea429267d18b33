"""What is asked of a database: a function of a connection, prepared by its caller and run within one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from sqlalchemy import Column, Connection, Select, Table, bindparam, select

from hookline.errors import HooklineError
from hookline.runtime.storage.rows import ApprovalRow, CallRow, Injection, QueuedRow, SessionRow, ThreadRow
from hookline.runtime.storage.schema import sessions, threads
from hookline.runtime.storage.texts import encoded

T = TypeVar("T")
Work: TypeAlias = Callable[[Connection], T]
Row: TypeAlias = SessionRow | ThreadRow | CallRow | ApprovalRow | QueuedRow | Injection
R = TypeVar("R", SessionRow, ThreadRow, CallRow, ApprovalRow, QueuedRow, Injection)

_NUMBERED: Final = select(sessions.c.id, sessions.c.claim)
_BY_THREAD: Final = (
    _NUMBERED.join(threads, threads.c.session == sessions.c.id)
    .where(threads.c.id == bindparam("of_thread"))
    .with_for_update(of=sessions, key_share=True)
)
_BY_SESSION: Final = _NUMBERED.where(sessions.c.id == bindparam("of_session")).with_for_update(key_share=True)


class Database(Protocol):
    """Work may be run again after a failure that undid it, so it must have no effect but on its connection."""

    async def read(self, work: Work[T]) -> T: ...
    async def write(self, work: Work[T]) -> T:
        """Committed when this returns. It goes on to its end even if its caller is cancelled."""

    async def claim(self, session: str) -> bool:
        """False if a store has it."""

    async def release(self, session: str) -> None: ...
    async def close(self) -> None: ...


def hold(connection: Connection, *, thread: str | None = None, session: str | None = None) -> None:
    """Whoever else writes to this session waits until we have committed. SQLite has one writer anyway.

    Raises HooklineError if we had claimed it and somebody else has claimed it since.
    """
    if connection.dialect.name != "postgresql":
        return
    found = connection.execute(
        *((_BY_THREAD, {"of_thread": thread}) if thread else (_BY_SESSION, {"of_session": session}))
    )
    row = found.first()
    ours = connection.get_execution_options().get("claims", {})
    if row is not None and ours.get(row.id, row.claim) != row.claim:
        raise HooklineError(f"another hookline has taken over the session {row.id}; resume it to go on")


def in_order(works: Sequence[Work[Any]]) -> Work[None]:
    def work(connection: Connection) -> None:
        for each in works:
            each(connection)

    return work


def values_of(row: Row) -> dict[str, Any]:
    return columns_of({each.name: getattr(row, each.name) for each in fields(row)})


def columns_of(values: dict[str, Any]) -> dict[str, Any]:
    return {name: encoded(value) if isinstance(value, dict) else value for name, value in values.items()}


def rows_of(row_type: type[R], table: Table) -> Select[Any]:
    return select(*(_column(table, each.name) for each in fields(row_type)))


def changed_columns(row_type: type[Row], changed: dict[str, Any]) -> dict[str, Any]:
    unknown = changed.keys() - ({each.name for each in fields(row_type)} - {"id"})
    if unknown:
        raise TypeError(f"{row_type.__name__} has no {', '.join(sorted(unknown))} that could be changed")
    if not changed:
        raise TypeError(f"nothing of the {row_type.__name__} was given that should be changed")
    return columns_of(changed)


def must_be_one(changed: int, what: str) -> None:
    if changed != 1:
        raise HooklineError(f"there is no {what}")


def made(row_type: type[R], found: Iterable[Any]) -> list[R]:
    return [row_type(*row) for row in found]


def _column(table: Table, name: str) -> Column[Any]:
    return table.c[name]
