"""The store: sessions, threads, messages, calls, approvals, files and counts.

Opening a database upgrades its schema. Alembic is slow to import, so it is loaded only for an upgrade.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from sqlalchemy import URL, Connection, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from hookline.errors import HooklineError
from hookline.runtime.storage import queries
from hookline.runtime.storage.database import Database, combine_queries
from hookline.runtime.storage.sqlite import Sqlite
from hookline.runtime.storage.tables import (
    VERSION,
    VERSION_TABLE,
    ApprovalRow,
    CallEnd,
    CallRow,
    Injection,
    QueuedToolRow,
    SessionRow,
    ThreadRow,
)

if TYPE_CHECKING:
    from alembic.config import Config


_MIGRATION_LOCK: Final = 0x686F6F6B  # "hook", among PostgreSQL's advisory locks
_ALEMBIC_LOCK: Final = threading.Lock()  # Alembic's `op` and `context` are global: one upgrade at a time in a process


async def upgrade_schema(database: Database) -> None:
    """Safe to run in several processes at the same time."""
    if await database.read(_find_version) != VERSION:
        await database.write(_run_upgrade)


def _find_version(connection: Connection) -> str | None:
    try:
        return _read_version(connection)
    except DBAPIError:  # usually the table is missing; the upgrade raises any other error again
        return None


def _run_upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
    if inspect(connection).has_table(VERSION_TABLE) and _read_version(connection) == VERSION:
        return
    from alembic import command

    with _ALEMBIC_LOCK:
        command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection) -> Config:
    """Alembic's settings, to run in the transaction of this connection."""
    from alembic.config import Config

    new = Config()
    new.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    new.attributes["connection"] = connection
    return new


def _read_version(connection: Connection) -> str | None:
    version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if version is not None and str(version) > VERSION:
        raise HooklineError(
            f"the database was written by another version of hookline (schema {version}, ours is {VERSION}); use that version"
        )
    return None if version is None else str(version)


_URL_HINT: Final = "write sqlite:////absolute/path.db or postgresql://user@host/database"
_POSTGRES_SCHEMES: Final = ("postgresql", "postgres", "postgresql+asyncpg")
_MEMORY_PATHS: Final = ("", ":memory:")


def file_url(file: Path) -> str:
    """The URL of a SQLite file. The path may contain any character."""
    return f"sqlite:///{quote(str(file.absolute()))}"


async def open_database(url: str, hub: str = "") -> Database:
    kind = url.partition("://")[0] if "://" in url else ""
    if kind == "sqlite":
        return await _open_sqlite(url)
    if kind in _POSTGRES_SCHEMES:
        from hookline.runtime.storage.postgres import Postgres  # it loads SQLAlchemy's object mapper

        return Postgres.open(_parse_url(url.replace(kind, "postgresql", 1)), hub)
    if kind:
        raise HooklineError(f"{kind!r} databases are not supported; {_URL_HINT}")
    raise HooklineError(f"the database URL is invalid; {_URL_HINT}")


def _parse_url(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError) as failed:  # the error text can contain a password
        raise HooklineError(f"the database URL is invalid; {_URL_HINT}") from failed


async def _open_sqlite(url: str) -> Database:
    """Parses the URL itself, because versions of SQLAlchemy differ in how they read `%` in a path."""
    if not url.startswith("sqlite:///") and url != "sqlite://":
        raise HooklineError(f"{url} has too few slashes; write sqlite:////absolute/path.db")
    parts = urlsplit(url, allow_fragments=False)
    settings = dict(parse_qsl(parts.query, keep_blank_values=True))
    synchronous = settings.pop("synchronous", "normal")
    if settings or synchronous not in ("normal", "full"):
        raise HooklineError("a SQLite URL accepts only the option synchronous=normal or synchronous=full")
    path = unquote(parts.path.removeprefix("/"))
    return await Sqlite.open(None if path in _MEMORY_PATHS else Path(path).absolute(), synchronous)


_CLAIM_TRIES: Final = 20
_CLAIM_PAUSE_SECONDS: Final = 0.05  # seconds between two tries: the lock of a killed process is released a moment later


class Store:
    """One database, for any number of sessions and tasks at once.

    When a method returns, its changes are committed. Every database failure is a HooklineError with one line.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, url: str, hub: str = "") -> Store:
        """`sqlite:////absolute/path.db`, `sqlite://` (in memory) or `postgresql://user@host/database`. Upgrades the schema.

        `hub` is the id of the hub that opens it: sessions that it claims on PostgreSQL are marked as its own.
        """
        database = await open_database(url, hub)
        try:
            await upgrade_schema(database)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    @property
    def database(self) -> Database:
        """For tables that others keep in the same database."""
        return self._database

    async def close(self) -> None:
        await self._database.close()

    async def claim(self, session: str) -> None:
        """Claims the session until it is released, the store is closed or the process ends.

        Raises HooklineError if another store has it, in this or another process or on another machine.
        """
        for _ in range(_CLAIM_TRIES):
            if await self._database.claim(session):
                return
            await asyncio.sleep(_CLAIM_PAUSE_SECONDS)
        raise HooklineError(f"another hookline process is using the session {session}; end it there first")

    async def release(self, session: str) -> None:
        await self._database.release(session)

    async def holds_claim(self, session: str) -> bool:
        """False if another process has claimed it since, which can happen while the connection to a server is lost."""
        return await self._database.read(queries.is_claim_ours(session))

    async def add_session(self, session: SessionRow) -> None:
        await self._database.write(queries.insert_session(session))

    async def session(self, id: str) -> SessionRow | None:
        return await self._database.read(queries.select_session(id))

    async def sessions(self, limit: int = 50) -> list[SessionRow]:
        """Most recently used first."""
        return await self._database.read(queries.select_recent_sessions(limit))

    async def update_session(self, id: str, **changed: Any) -> None:
        """Updates fields of SessionRow. Raises HooklineError if there is no such session."""
        await self._database.write(queries.update_session(id, changed))

    async def delete_session(self, id: str) -> None:
        """Deletes the session and everything in it."""
        await self._database.write(queries.delete_session(id))

    async def add_thread(self, thread: ThreadRow, session: SessionRow | None = None) -> None:
        """Adds the thread, and its session if given, in one transaction."""
        works = [] if session is None else [queries.insert_session(session)]
        await self._database.write(combine_queries([*works, queries.insert_thread(thread)]))

    async def thread(self, id: str) -> ThreadRow | None:
        return await self._database.read(queries.select_thread(id))

    async def threads(self, session: str) -> list[ThreadRow]:
        """In the order in which they were created."""
        return await self._database.read(queries.select_threads(session))

    async def update_thread(self, id: str, **changed: Any) -> None:
        """Updates fields of ThreadRow. Raises HooklineError if there is no such thread."""
        await self._database.write(queries.update_thread(id, changed))

    async def add_message(
        self,
        thread: str,
        message: dict[str, Any],
        asks_for: QueuedToolRow | None = None,
        ends: CallEnd | None = None,
    ) -> None:
        """The message needs an `id` that is unique in the thread. Once this returns, kill -9 cannot lose it.

        asks_for: the queued tool that the message calls; it is removed from the queue in the same transaction. Raises
        HooklineError if it is no longer queued. ends: the call whose result the message has; see `end_call`.
        """
        await self._database.write(queries.insert_message(thread, message, asks_for, ends))

    async def update_message(self, thread: str, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        """Returns the message with the updates. Raises HooklineError if there is no such message."""
        return await self._database.write(queries.update_message(thread, id, updates))

    async def messages(self, thread: str, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """Oldest first, without compacted messages. Skips the newest `offset` ones and returns at most `limit` before them."""
        return await self._database.read(queries.select_messages(thread, limit, offset))

    async def first_prompt(self, thread: str) -> dict[str, Any] | None:
        """The user's first message, even if it was compacted."""
        return await self._database.read(queries.select_first_prompt(thread))

    async def compact_messages(self, thread: str, gone: Sequence[str], stands_in: dict[str, Any]) -> None:
        """Replaces the messages `gone` in the history with `stands_in`, at the first one's position. Their rows stay, marked."""
        await self._database.write(queries.compact_messages(thread, gone, stands_in))

    async def add_injection(self, thread: str, injection: Injection) -> None:
        await self._database.write(queries.insert_injection(thread, injection))

    async def injections(self, thread: str) -> list[Injection]:
        return await self._database.read(queries.select_injections(thread))

    async def begin_call(self, call: CallRow) -> int:
        """The attempt's number, from 1, for this thread and call id; `call.attempt` is ignored."""
        return await self._database.write(queries.begin_call(call))

    async def end_call(self, end: CallEnd) -> None:
        await self._database.write(queries.end_call(end))

    async def calls(self, thread: str) -> list[CallRow]:
        return await self._database.read(queries.select_calls(thread))

    async def add_approval(self, approval: ApprovalRow) -> None:
        await self._database.write(queries.insert_approval(approval))

    async def approval(self, id: str) -> ApprovalRow | None:
        return await self._database.read(queries.select_approval(id))

    async def approvals(self, thread: str, call: str) -> list[ApprovalRow]:
        """All approval requests of this call, oldest first."""
        return await self._database.read(queries.select_call_approvals(thread, call))

    async def answer_approval(self, id: str, yes: bool, by: str, now: float, **more: Any) -> bool:
        """False if it is already answered, has expired or does not exist. Of concurrent calls, only one returns True.

        `more`: `edited`, the input as the person changed it, `why` and `remember`.
        """
        return await self._database.write(queries.answer_approval(id, yes, by, now, more))

    async def remembered_approval(self, like: ApprovalRow) -> ApprovalRow | None:
        """A yes that a person gave for the whole session: to the same hook, about the same call."""
        return await self._database.read(queries.select_remembered_approval(like))

    async def answered_approvals(self, limit: int, before: float | None = None) -> list[ApprovalRow]:
        """Newest first."""
        return await self._database.read(queries.select_answered_approvals(limit, before))

    async def waiting_approvals(self, session: str | None = None) -> list[ApprovalRow]:
        """Unanswered requests, oldest first, including expired ones: check `expires`."""
        return await self._database.read(queries.select_waiting_approvals(session))

    async def write_file(self, thread: str, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        """Returns its reference: id, type, path, name, mimeType, size."""
        return await self._database.write(queries.upsert_file(thread, path, data, mime_type))

    async def read_file(self, thread: str, path: str) -> bytes | None:
        return await self._database.read(queries.select_file_data(thread, path))

    async def list_files(self, thread: str, path: str = "") -> list[dict[str, Any]]:
        return await self._database.read(queries.select_files(thread, path))

    async def delete_file(self, thread: str, path: str) -> bool:
        """True if it existed."""
        return await self._database.write(queries.delete_stored_file(thread, path))

    async def get_value(self, owner: str, key: str) -> Any:
        """None if there is no such key."""
        return await self._database.read(queries.select_value(owner, key))

    async def set_value(self, owner: str, key: str, value: Any, max_keys: int | None = None) -> bool:
        """False, and nothing is stored, if the key is new and its owner has `max_keys` keys already."""
        return await self._database.write(queries.upsert_value(owner, key, value, max_keys))

    async def delete_value(self, owner: str, key: str) -> bool:
        """True if it existed."""
        return await self._database.write(queries.delete_value(owner, key))

    async def keys(self, owner: str) -> list[str]:
        return await self._database.read(queries.select_keys(owner))

    async def save_counts(self, session: str, counts: list[dict[str, Any]]) -> None:
        await self._database.write(queries.upsert_counts(session, counts))

    async def save_progress(
        self,
        session: str,
        changed: dict[str, Any],
        counts: list[dict[str, Any]] | None = None,
        thread: tuple[str, dict[str, Any]] | None = None,
    ) -> None:
        """Updates fields of the session, its counts and fields of a thread, in one transaction."""
        works = [queries.update_session(session, changed)]
        works += [] if counts is None else [queries.upsert_counts(session, counts)]
        works += [] if thread is None else [queries.update_thread(*thread)]
        await self._database.write(combine_queries(works))

    async def counts(self, session: str) -> list[dict[str, Any]]:
        return await self._database.read(queries.select_counts(session))

    async def queue_tool(self, thread: str, name: str, input: dict[str, Any]) -> None:
        await self._database.write(queries.insert_queued_tool(thread, name, input))

    async def queued_tools(self, thread: str) -> list[QueuedToolRow]:
        """In order. They stay queued until `add_message` or `unqueue_tools` removes them."""
        return await self._database.read(queries.select_queued_tools(thread))

    async def unqueue_tools(self, thread: str, rows: Sequence[QueuedToolRow]) -> None:
        """Removes them from the queue."""
        await self._database.write(queries.delete_queued_tools(thread, rows))
