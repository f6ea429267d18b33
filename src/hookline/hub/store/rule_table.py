"""Sets of rules, and every version that they had."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select, update

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.storage.hub_tables import rule_sets, rule_versions


@dataclass(frozen=True, slots=True)
class RuleSetRow:
    id: str  # everyone, agent:<id> or workspace:<path>
    title: str
    agent: str
    workspace: str
    dialect: str
    head: int  # the number of its last version; 0: it has none


@dataclass(frozen=True, slots=True)
class RuleVersionRow:
    set: str
    number: int
    text: str
    by: str
    at: float
    note: str


_SET_COLUMNS = tuple(rule_sets.c[name] for name in RuleSetRow.__dataclass_fields__)
_VERSION_COLUMNS = tuple(rule_versions.c[name] for name in RuleVersionRow.__dataclass_fields__)


class RuleTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def sets(self) -> list[RuleSetRow]:
        statement = select(*_SET_COLUMNS).order_by(rule_sets.c.id)
        return await self._database.read(lambda connection: [RuleSetRow(*row) for row in connection.execute(statement)])

    async def find_set(self, id: str) -> RuleSetRow | None:
        return next((each for each in await self.sets() if each.id == id), None)

    async def versions(self, set: str, limit: int = 200) -> list[RuleVersionRow]:
        """Newest first."""
        statement = (
            select(*_VERSION_COLUMNS)
            .where(rule_versions.c.set == set)
            .order_by(rule_versions.c.number.desc())
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: [RuleVersionRow(*row) for row in connection.execute(statement)]
        )

    async def version(self, set: str, number: int) -> RuleVersionRow | None:
        statement = select(*_VERSION_COLUMNS).where(rule_versions.c.set == set, rule_versions.c.number == number)
        rows = await self._database.read(
            lambda connection: [RuleVersionRow(*row) for row in connection.execute(statement)]
        )
        return rows[0] if rows else None

    async def heads(self) -> list[RuleVersionRow]:
        """The last version of every set that has one."""
        statement = select(*_VERSION_COLUMNS).join(
            rule_sets, (rule_sets.c.id == rule_versions.c.set) & (rule_sets.c.head == rule_versions.c.number)
        )
        return await self._database.read(
            lambda connection: [RuleVersionRow(*row) for row in connection.execute(statement)]
        )

    async def add_version(self, row: RuleSetRow, version: RuleVersionRow) -> bool:
        """False if somebody else was faster: the set's last version is not the one before this."""
        return await self._database.write(_add_version(row, version))

    async def remove_set(self, id: str) -> None:
        """With all of its versions."""
        statement = delete(rule_sets).where(rule_sets.c.id == id)
        await self._database.write(lambda connection: connection.execute(statement) and None)


def _add_version(row: RuleSetRow, version: RuleVersionRow) -> Query[bool]:
    def work(connection: Connection) -> bool:
        known = connection.execute(select(rule_sets.c.head).where(rule_sets.c.id == row.id)).scalar()
        if known is None and version.number == 1:
            values = {name: getattr(row, name) for name in RuleSetRow.__dataclass_fields__}
            connection.execute(insert(rule_sets).values(**{**values, "head": 1}))
        else:
            is_last = rule_sets.c.id == row.id, rule_sets.c.head == version.number - 1
            changed = connection.execute(update(rule_sets).where(*is_last).values(head=version.number))
            if changed.rowcount != 1:
                return False
        values = {name: getattr(version, name) for name in RuleVersionRow.__dataclass_fields__}
        connection.execute(insert(rule_versions).values(**values))
        return True

    return work
