"""Which agents have a page, and what it may reach."""

from __future__ import annotations

from pathlib import Path

from hookline.hub.pages.page_tools import origin_of
from hookline.hub.store.agent_table import AgentRow
from hookline.hub.workspaces.hub_agents import HubAgents
from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow


@dataclass(frozen=True, slots=True)
class BrowserAgent:
    """What a page is told when it attaches."""

    id: str
    name: str
    network: tuple[str, ...] = ()  # origins that its page may fetch


class BrowserAgents:
    """Agents of the console have a page; those of workspaces do not."""

    def __init__(self, agents: HubAgents, store: Store) -> None:
        self._agents = agents
        self._store = store

    def owns(self, workspace: Path) -> bool:
        """Whether the workspace is the directory of a browser agent."""
        return self._agents.of_workspace(workspace) is not None

    async def session(self, id: str) -> SessionRow | None:
        """A session of a browser agent."""
        row = await self._store.session(id)
        return row if row is not None and await self._find(row) is not None else None

    async def of_session(self, session: str) -> BrowserAgent | None:
        row = await self._store.session(session)
        agent = None if row is None else await self._find(row)
        if agent is None:
            return None
        origins = (origin_of(each) for each in agent.network)
        return BrowserAgent(agent.id, agent.name, tuple(each for each in origins if each is not None))

    async def network_of(self, session: str) -> tuple[str, ...]:
        agent = await self.of_session(session)
        return () if agent is None else agent.network

    async def _find(self, session: SessionRow) -> AgentRow | None:
        workspace = Path(session.workspace)
        if not self.owns(workspace):
            await self._agents.load()  # another hub may have made it just now
        return self._agents.of_workspace(workspace)
