"""Values under a key: what an agent keeps for itself, and how often a session's hooks have fired."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, select

from hookline.runtime.storage import schema
from hookline.runtime.storage.schema import kept
from hookline.runtime.storage.texts import encoded
from hookline.runtime.storage.upsert import replacing
from hookline.runtime.storage.work import Work


def one(owner: str, key: str) -> Work[Any]:
    found = select(kept.c.value).where(kept.c.owner == owner, kept.c.key == key)
    return lambda connection: connection.execute(found).scalar_one_or_none()


def keep(owner: str, key: str, value: Any) -> Work[None]:
    values = {"owner": owner, "key": key, "value": encoded(value)}

    def work(connection: Connection) -> None:
        connection.execute(replacing(connection.dialect.name, kept), values)

    return work


def forget(owner: str, key: str) -> Work[bool]:
    forgetting = delete(kept).where(kept.c.owner == owner, kept.c.key == key)
    return lambda connection: connection.execute(forgetting).rowcount == 1


def keys(owner: str) -> Work[list[str]]:
    found = select(kept.c.key).where(kept.c.owner == owner)
    return lambda connection: sorted(connection.scalars(found))


def save_counts(session: str, counts: list[dict[str, Any]]) -> Work[None]:
    values = {"session": session, "counts": encoded(counts)}

    def work(connection: Connection) -> None:
        connection.execute(replacing(connection.dialect.name, schema.counts), values)

    return work


def counts(session: str) -> Work[list[dict[str, Any]]]:
    found = select(schema.counts.c.counts).where(schema.counts.c.session == session)
    return lambda connection: connection.execute(found).scalar_one_or_none() or []
