"""The DOM of a browser agent's page, which is put back when a page opens."""

from __future__ import annotations

import time
from typing import Any, Final

from sqlalchemy import Connection, select

from hookline.runtime.storage.columns import escape_text
from hookline.runtime.storage.database import Database
from hookline.runtime.storage.hub_tables import page_states
from hookline.runtime.storage.queries import insert_into

MAX_DOM: Final = 1 << 20  # bytes as UTF-8


class PageStateTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, session: str) -> str:
        """The content of the body. It is markup that an agent wrote: only its frame may show it."""
        statement = select(page_states.c.dom).where(page_states.c.session == escape_text(session))
        found: Any = await self._database.read(lambda connection: connection.execute(statement).scalar())
        return found or ""

    async def save(self, session: str, dom: str) -> bool:
        """False if it is too large: the one that was saved before stays."""
        if len(dom.encode("utf-8", "replace")) > MAX_DOM:
            return False
        values = {"session": session, "dom": dom, "saved": time.time()}

        def work(connection: Connection) -> None:
            statement = insert_into(connection.dialect.name, page_states).values(values)
            changed = {"dom": statement.excluded.dom, "saved": statement.excluded.saved}
            connection.execute(statement.on_conflict_do_update(index_elements=["session"], set_=changed))

        await self._database.write(work)
        return True
