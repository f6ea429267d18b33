"""Agents of the console: each has a directory of its own as its workspace, and runs like any other app."""

from __future__ import annotations

import re
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hub.store.agent_table import AgentRow, AgentTable
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt

_NOT_IN_ID: Final = re.compile(r"[^a-z0-9]+")


class HubAgents:
    """Keeps all rows in memory, for hosts and tools that cannot wait. Another hub may have made or changed agents since."""

    def __init__(self, table: AgentTable, directory: Path) -> None:
        self._table = table
        self._directory = directory
        self._rows: dict[str, AgentRow] = {}

    async def load(self) -> None:
        self._rows = {row.id: row for row in await self._table.all()}

    @property
    def rows(self) -> list[AgentRow]:
        return list(self._rows.values())

    async def find(self, id: str) -> AgentRow | None:
        """As it is now, also if another hub made or changed it just before."""
        await self.load()
        return self._rows.get(id)

    def of_workspace(self, workspace: Path) -> AgentRow | None:
        return next((row for row in self._rows.values() if row.workspace == str(workspace)), None)

    async def add(self, by: str, **about: Any) -> AgentRow:
        await self.load()
        base = _NOT_IN_ID.sub("-", str(about["name"]).lower()).strip("-")[:40] or "agent"
        id, workspace = self._create_directory(base)
        row = AgentRow(id=id, workspace=str(workspace.resolve()), by=by, created=time.time(), **about)
        await self._table.add(row)
        await self.load()
        return row

    def _create_directory(self, base: str) -> tuple[str, Path]:
        """Returns the id, too, which is its name. A removed agent's id is not used again, because its files and rules remain."""
        id = base
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            workspace = (self._directory / id).absolute()
            if id not in self._rows:
                with suppress(FileExistsError):
                    workspace.mkdir(mode=0o700)
                    return id, workspace
            id = f"{base}-{uuid.uuid4().hex[:6]}"

    async def change(self, id: str, **changed: Any) -> AgentRow:
        """Raises HooklineError if there is no such agent. It counts for sessions that begin afterwards."""
        if changed and not await self._table.change(id, **changed):
            raise HooklineError("there is no such agent")
        found = await self.find(id)
        if found is None:
            raise HooklineError("there is no such agent")
        return found

    async def remove(self, id: str) -> bool:
        """Its directory stays: it may have the person's files."""
        done = await self._table.remove(id)
        await self.load()
        return done


def app_of(row: AgentRow) -> App:
    prompt = Prompt("main", row.prompt, tools=tuple(row.tools) or None)
    model = row.model or None
    return App((Agent(row.id, AgentSide(prompt), name=row.name, model=model),), model=model)
