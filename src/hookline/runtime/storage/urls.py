"""Where a database is, and which kind it is of."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from hookline.errors import HooklineError
from hookline.runtime.storage.postgres import Postgres
from hookline.runtime.storage.sqlite import Sqlite
from hookline.runtime.storage.work import Database

_WRITE: Final = "write sqlite:////absolute/path.db or postgresql://user@host/database"
_IN_MEMORY: Final = (None, "", ":memory:")


async def connected(url: str) -> Database:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as failed:  # its text would show a password
        raise HooklineError(f"the database's URL cannot be read; {_WRITE}") from failed
    if parsed.drivername == "sqlite":
        return await _sqlite(parsed)
    if parsed.drivername in ("postgresql", "postgres"):
        return Postgres.open(parsed)
    raise HooklineError(f"hookline does not know {parsed.drivername!r} databases; {_WRITE}")


async def _sqlite(url: URL) -> Database:
    if url.host:
        raise HooklineError(f"sqlite://{url.host} has too few slashes; write sqlite:////absolute/path.db")
    settings = dict(url.query)
    synchronous = settings.pop("synchronous", "normal")
    if settings or synchronous not in ("normal", "full"):
        raise HooklineError("a SQLite URL takes synchronous=normal or synchronous=full, and nothing else")
    return await Sqlite.open(None if url.database in _IN_MEMORY else Path(str(url.database)).absolute(), synchronous)
