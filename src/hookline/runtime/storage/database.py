"""The interface of a database, its queries, and its errors as messages that say what to do."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from sqlalchemy import Column, Connection, Select, Table, bindparam, select
from sqlalchemy.exc import DBAPIError, IntegrityError, StatementError

from hookline.errors import HooklineError
from hookline.runtime.storage.columns import encode_json
from hookline.runtime.storage.tables import (
    ApprovalRow,
    CallRow,
    Injection,
    QueuedToolRow,
    SessionRow,
    ThreadRow,
    sessions,
    threads,
)

_MAX_MESSAGE_LENGTH: Final = 300

_SQLITE_MESSAGES: Final = (
    ("is locked", "{place} is locked by another program; try again when it has ended"),
    ("readonly", "{place} cannot be written; check the permissions of the file and its directory"),
    ("is full", "{place} cannot be written: the disk is full. Nothing was stored; free some space and try again"),
    ("disk I/O error", "{place} cannot be read or written: disk I/O error. Check the disk and its free space"),
    ("not a database", "{place} is not a hookline database; move the file or choose another"),
    ("malformed", "{place} is damaged; move it away, or restore a backup"),
    ("unable to open", "{place} cannot be opened; check that its directory exists and is writable"),
    ("already exists", "{place} has tables of another program; choose another file"),
    ("too big", "this is too large for {place}"),
)
_POSTGRES_MESSAGES: Final = (
    ("3D000", "{place} does not exist; create it with createdb"),
    ("28", "{place} rejected the login; check the user, the password and pg_hba.conf"),
    ("42501", "{place} does not grant this user enough rights"),
    ("42P07", "{place} has tables of another program; give hookline its own database"),
    ("53100", "{place} cannot be written: its disk is full. Nothing was stored; free some space and try again"),
    ("25006", "{place} is read-only"),
    ("40", "{place} rejected a conflicting transaction. Nothing was stored; try again"),
    ("55P03", "{place} is locked by another program; try again when it has ended"),
    ("54", "this is too large for {place}"),
    ("08", "the connection to {place} was lost; check that the server is running and try again"),
    ("57P", "{place} is shutting down or starting; try again when it is running"),
)
_ERRNO_MESSAGES: Final = {
    errno.EACCES: "{place} cannot be written; check the permissions of the file and its directory",
    errno.EPERM: "{place} cannot be written; check the permissions of the file and its directory",
    errno.EROFS: "{place} cannot be written: the disk is read-only; choose a file on another disk",
    errno.ENOSPC: "{place} cannot be written: the disk is full. Nothing was stored; free some space and try again",
}
_FOREIGN_KEY_MESSAGE: Final = "the session or thread that this belongs to is not stored, or was deleted"
_UNIQUE_MESSAGE: Final = "this id is already in use"


def explain_database_error(failed: Exception, place: str) -> Exception:
    """Turns a database failure into a HooklineError. Returns bugs in our own code unchanged."""
    place = " ".join(place.split())
    if isinstance(failed, StatementError) and isinstance(failed.orig, HooklineError):
        return failed.orig
    if isinstance(failed, StatementError) and not isinstance(failed, DBAPIError):
        return failed
    cause = failed.orig if isinstance(failed, DBAPIError) and failed.orig is not None else failed
    if isinstance(failed, (IntegrityError, sqlite3.IntegrityError)) and (text := _constraint_message(cause)):
        return HooklineError(text)
    if isinstance(cause, TimeoutError):
        return HooklineError(f"{place} did not answer in time; check whether it is busy or locked, and try again")
    for text in _known_messages(cause):
        return HooklineError(text.format(place=place))
    return HooklineError(f"{place} cannot be used: {_format_cause(cause)}")


def _known_messages(cause: BaseException) -> list[str]:
    state = getattr(cause, "sqlstate", None)
    if isinstance(state, str):
        return [text for start, text in _POSTGRES_MESSAGES if state.startswith(start)]
    if isinstance(cause, sqlite3.Error):
        return [text for part, text in _SQLITE_MESSAGES if part in str(cause)]
    return [_ERRNO_MESSAGES[cause.errno]] if isinstance(cause, OSError) and cause.errno in _ERRNO_MESSAGES else []


def _constraint_message(cause: BaseException) -> str | None:
    """In the errors of both databases, only the kind of the violated constraint is stable."""
    state = getattr(cause, "sqlstate", None)
    if state == "23503" or "FOREIGN KEY" in str(cause):
        return _FOREIGN_KEY_MESSAGE
    return _UNIQUE_MESSAGE if state == "23505" or "UNIQUE" in str(cause) else None


def _format_cause(cause: BaseException) -> str:
    message = f"{cause.strerror}: {cause.filename}" if isinstance(cause, OSError) and cause.filename else str(cause)
    text = " ".join(message.split()) or type(cause).__name__
    return text if len(text) <= _MAX_MESSAGE_LENGTH else f"{text[:_MAX_MESSAGE_LENGTH]}…"


T = TypeVar("T")
Query: TypeAlias = Callable[[Connection], T]
StoredRow: TypeAlias = SessionRow | ThreadRow | CallRow | ApprovalRow | QueuedToolRow | Injection
R = TypeVar("R", SessionRow, ThreadRow, CallRow, ApprovalRow, QueuedToolRow, Injection)

_SELECT_CLAIM: Final = select(sessions.c.id, sessions.c.claim)
_SELECT_CLAIM_BY_THREAD: Final = (
    _SELECT_CLAIM.join(threads, threads.c.session == sessions.c.id)
    .where(threads.c.id == bindparam("of_thread"))
    .with_for_update(of=sessions, key_share=True)
)
_SELECT_CLAIM_BY_SESSION: Final = _SELECT_CLAIM.where(sessions.c.id == bindparam("of_session")).with_for_update(
    key_share=True
)


class Database(Protocol):
    """A query may run again after a rollback, so it must have no effect outside its connection."""

    async def read(self, work: Query[T]) -> T: ...
    async def write(self, work: Query[T]) -> T:
        """Committed on return. It completes even if the caller is cancelled, and the caller goes on only then."""

    async def claim(self, session: str) -> bool:
        """False if another store has it."""

    async def release(self, session: str) -> None: ...
    async def close(self) -> None: ...


def lock_session(connection: Connection, *, thread: str | None = None, session: str | None = None) -> None:
    """Locks the session against other writers until this transaction commits. SQLite has one writer anyway.

    Raises HooklineError if another process has taken over our claim on it.
    """
    if connection.dialect.name != "postgresql":
        return
    found = connection.execute(
        *(
            (_SELECT_CLAIM_BY_THREAD, {"of_thread": thread})
            if thread
            else (_SELECT_CLAIM_BY_SESSION, {"of_session": session})
        )
    )
    row = found.first()
    claims = connection.get_execution_options().get("claims", {})
    if row is not None and claims.get(row.id, row.claim) != row.claim:
        raise HooklineError(f"another hookline process has taken over the session {row.id}; resume it to continue")


def combine_queries(works: Sequence[Query[Any]]) -> Query[None]:
    def work(connection: Connection) -> None:
        for each in works:
            each(connection)

    return work


def row_values(row: StoredRow) -> dict[str, Any]:
    return column_values({name: getattr(row, name) for name in _field_names(type(row))})


def _field_names(row_type: type[StoredRow]) -> Collection[str]:
    return row_type.__dataclass_fields__.keys()  # dataclasses.fields takes ten times as long


def column_values(values: dict[str, Any]) -> dict[str, Any]:
    return {name: encode_json(value) if isinstance(value, dict) else value for name, value in values.items()}


def select_rows(row_type: type[R], table: Table) -> Select[Any]:
    return select(*(_column(table, name) for name in _field_names(row_type)))


def changed_columns(row_type: type[StoredRow], changed: dict[str, Any]) -> dict[str, Any]:
    unknown = [name for name in changed if name == "id" or name not in _field_names(row_type)]
    if unknown:
        raise TypeError(f"{row_type.__name__} has no field {', '.join(sorted(unknown))} that can be changed")
    if not changed:
        raise TypeError(f"no field of {row_type.__name__} to change was given")
    return column_values(changed)


def require_one_row(changed: int, what: str) -> None:
    if changed != 1:
        raise HooklineError(f"there is no {what}")


def build_rows(row_type: type[R], found: Iterable[Any]) -> list[R]:
    return [row_type(*row) for row in found]


def _column(table: Table, name: str) -> Column[Any]:
    return table.c[name]
