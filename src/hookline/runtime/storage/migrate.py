"""Brings a database to our schema. Alembic takes long to import, so it is asked only where there is something to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from hookline.errors import HooklineError
from hookline.runtime.storage.schema import VERSION, VERSION_TABLE
from hookline.runtime.storage.work import Database

if TYPE_CHECKING:
    from alembic.config import Config

_LOCK: Final = 0x686F6F6B  # "hook", among PostgreSQL's advisory locks


async def bring_up(database: Database) -> None:
    """Any number of processes may do this at once."""
    if await database.read(_version) != VERSION:
        await database.write(_upgrade)


def _version(connection: Connection) -> str | None:
    try:
        return _checked(connection)
    except DBAPIError:  # most likely there is no such table yet; whatever it is, the upgrade meets it too
        return None


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if inspect(connection).has_table(VERSION_TABLE) and _checked(connection) == VERSION:
        return
    from alembic import command

    command.upgrade(config(connection), "head")


def config(connection: Connection) -> Config:
    """What Alembic goes by, in the transaction of this connection."""
    from alembic.config import Config

    new = Config()
    new.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    new.attributes["connection"] = connection
    return new


def _checked(connection: Connection) -> str | None:
    version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if version is not None and str(version) > VERSION:
        raise HooklineError(
            f"the database was written by a newer hookline (its schema is {version}, ours {VERSION}); update hookline"
        )
    return None if version is None else str(version)
