"""Sessions that were deleted at the hub. Their decisions stay in the record, and must not list them again."""

from __future__ import annotations

import time
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, select

from hookline.hub.store.record_line import searched_name
from hookline.runtime.storage.database import Query
from hookline.runtime.storage.hub_tables import decisions
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import key_values

_OWNER: Final = "hub:deleted-sessions"


async def mark_deleted(store: Store, session: str) -> None:
    await store.set_value(_OWNER, searched_name(session), time.time())


def is_deleted(session: ColumnElement[Any]) -> ColumnElement[bool]:
    return session.in_(select(key_values.c.key).where(key_values.c.owner == _OWNER))


def forget_deleted() -> Query[None]:
    """Those of which retention has removed the last decision."""
    has_decisions = select(decisions.c.sequence).where(decisions.c.session == key_values.c.key).exists()

    def work(connection: Connection) -> None:
        connection.execute(delete(key_values).where(key_values.c.owner == _OWNER, ~has_decisions))

    return work
