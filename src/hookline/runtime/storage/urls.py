"""Where a database is, and which kind it is of."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from hookline.errors import HooklineError
from hookline.runtime.storage.postgres import Postgres
from hookline.runtime.storage.sqlite import Sqlite
from hookline.runtime.storage.work import Database

_WRITE: Final = "write sqlite:////absolute/path.db or postgresql://user@host/database"
_POSTGRES: Final = ("postgresql", "postgres", "postgresql+asyncpg")
_IN_MEMORY: Final = ("", ":memory:")


def file_url(file: Path) -> str:
    """Whatever characters its path has."""
    return f"sqlite:///{quote(str(file.absolute()))}"


async def connected(url: str) -> Database:
    kind = url.partition("://")[0] if "://" in url else ""
    if kind == "sqlite":
        return await _sqlite(url)
    if kind in _POSTGRES:
        return Postgres.open(_parsed(url.replace(kind, "postgresql", 1)))
    if kind:
        raise HooklineError(f"hookline does not know {kind!r} databases; {_WRITE}")
    raise HooklineError(f"the database's URL cannot be read; {_WRITE}")


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError) as failed:  # its text would show a password
        raise HooklineError(f"the database's URL cannot be read; {_WRITE}") from failed


async def _sqlite(url: str) -> Database:
    """By hand: SQLAlchemy reads `%` in a path differently from version to version."""
    if not url.startswith("sqlite:///") and url != "sqlite://":
        raise HooklineError(f"{url} has too few slashes; write sqlite:////absolute/path.db")
    parts = urlsplit(url, allow_fragments=False)
    settings = dict(parse_qsl(parts.query, keep_blank_values=True))
    synchronous = settings.pop("synchronous", "normal")
    if settings or synchronous not in ("normal", "full"):
        raise HooklineError("a SQLite URL takes synchronous=normal or synchronous=full, and nothing else")
    path = unquote(parts.path.removeprefix("/"))
    return await Sqlite.open(None if path in _IN_MEMORY else Path(path).absolute(), synchronous)
