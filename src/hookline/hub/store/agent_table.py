"""Agents that were made in the console."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select, update

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage.columns import encode_json
from hookline.runtime.storage.database import Database
from hookline.runtime.storage.hub_tables import agents


@dataclass(frozen=True, slots=True)
class AgentRow:
    id: str
    name: str
    prompt: str
    model: str
    tools: list[str]  # names or globs; empty: all
    network: list[str]  # origins that its page may reach
    workspace: str
    by: str
    created: float


_NAMES = tuple(AgentRow.__dataclass_fields__)
_COLUMNS = tuple(agents.c[name] for name in _NAMES)


class AgentTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[AgentRow]:
        statement = select(*_COLUMNS).order_by(agents.c.created, agents.c.id)
        return await self._database.read(lambda connection: [AgentRow(*row) for row in connection.execute(statement)])

    async def add(self, row: AgentRow) -> None:
        """Raises HooklineError if the id is in use."""
        statement = insert(agents).values(_encode({name: getattr(row, name) for name in _NAMES}))
        await self._database.write(lambda connection: connection.execute(statement) and None)

    async def change(self, id: str, **changed: Any) -> bool:
        statement = update(agents).where(agents.c.id == id).values(_encode(changed))
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    async def remove(self, id: str) -> bool:
        statement = delete(agents).where(agents.c.id == id)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)


def _encode(values: dict[str, Any]) -> dict[str, Any]:
    return {name: encode_json(value) if isinstance(value, list) else value for name, value in values.items()}
