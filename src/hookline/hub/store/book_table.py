"""The texts of the hooks under which decisions were made, each set once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select

from hookline.errors import HooklineError
from hookline.hooks.hook_files import HookFiles
from hookline.runtime.storage.columns import escape_text
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.storage.hub_tables import books
from hookline.runtime.storage.queries import insert_into


class BookTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_hashes(self, hashes: Collection[str]) -> set[str]:
        if not hashes:
            return set()
        statement = select(books.c.hash).where(books.c.hash.in_(sorted(hashes)))
        return await self._database.read(lambda connection: set(connection.execute(statement).scalars()))

    async def files(self, hash: str) -> HookFiles:
        """Raises HooklineError if the texts are not here, or were changed since."""
        statement = select(books.c.parts).where(books.c.hash == escape_text(hash[:64]))
        found = await self._database.read(lambda connection: connection.execute(statement).scalar())
        if found is None:
            raise HooklineError("the texts of the hooks that were in force then are not here")
        data = found.encode()
        if hashlib.sha256(data).hexdigest() != hash:
            raise HooklineError(
                "the texts of the hooks that were in force then were changed: run `hookline hub verify`"
            )
        try:
            return HookFiles.parse(data)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise HooklineError("the texts of the hooks that were in force then cannot be read") from None


def insert_books(texts: Mapping[str, bytes], now: float) -> Query[None]:
    """By their hashes, which were checked."""
    values = [{"hash": hash, "parts": data.decode(), "first": now} for hash, data in texts.items()]

    def work(connection: Connection) -> None:
        if values:
            connection.execute(insert_into(connection.dialect.name, books).on_conflict_do_nothing(), values)

    return work
