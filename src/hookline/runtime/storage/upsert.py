"""Inserts that cope with a row that is there already: both databases can, each with a construct of its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import Table

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

    AnyInsert: TypeAlias = PostgresInsert | SqliteInsert


def inserting(dialect: str, table: Table) -> AnyInsert:
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


@cache
def replacing(dialect: str, table: Table) -> AnyInsert:
    """Every column is needed; what stood under the same primary key is overwritten."""
    new = inserting(dialect, table)
    others = {each.name: new.excluded[each.name] for each in table.columns if not each.primary_key}
    return new.on_conflict_do_update(index_elements=[each.name for each in table.primary_key], set_=others)
