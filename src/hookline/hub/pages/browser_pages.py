"""Everything about pages of browser agents that a hub needs, in one object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import socketio

from hookline.errors import HooklineError
from hookline.hub.access.access import Access
from hookline.hub.pages.attached_page import OpenPages
from hookline.hub.pages.browser_agents import BrowserAgents
from hookline.hub.pages.page_host import PageHost
from hookline.hub.pages.page_namespace import PageBackend, PageNamespace
from hookline.hub.pages.page_tools import PageTools
from hookline.hub.pages.saved_dom import PageStateTable
from hookline.hub.store.hub_table import HubRow
from hookline.hub.workspaces.hub_agents import HubAgents
from hookline.hub.workspaces.runtimes import Runtimes
from hookline.runtime.runtime_host import ThreadHost
from hookline.runtime.storage.store import Store
from hookline.runtime.tools.tool_definition import Tool

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.thread import StoredThread


class BrowserPages:
    """`host_for` and `tools_for` are settings of every runtime of the hub."""

    def __init__(
        self,
        server: socketio.AsyncServer,
        access: Access,
        store: Store,
        agents: HubAgents,
        publish: Callable[..., Awaitable[None]],
        frame_urls: dict[str, tuple[str, ...]],
    ) -> None:
        self.open = OpenPages()
        self.states = PageStateTable(store.database)
        self.agents = BrowserAgents(agents, store)
        self._tools = PageTools(self.open, self.states, self.agents.network_of)
        self._runtimes: Runtimes | None = None
        self.owner_of: Callable[[str], Awaitable[HubRow | None]] | None = None  # the other hub that has a session
        backend = PageBackend(
            self.open,
            self.states,
            self.agents.of_session,
            self._open_session,
            publish,
            frame_urls,
            self._owner_url,
        )
        self.namespace = PageNamespace(server, access, backend)

    def use_runtimes(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes

    def host_for(self, session: AgentSession, thread: StoredThread) -> ThreadHost:
        if not self.agents.owns(session.runtime.workspace):
            return ThreadHost(session, thread)
        return PageHost(session, thread, self.open, self.states)

    def tools_for(self, session: AgentSession) -> tuple[Tool, ...]:
        if not self.agents.owns(session.runtime.workspace):
            return ()
        return self._tools.tools(session.runtime.toolbox.find("fetch"))

    async def _owner_url(self, session: str) -> str:
        owner = None if self.owner_of is None else await self.owner_of(session)
        return "" if owner is None else owner.url

    async def _open_session(self, id: str) -> AgentSession:
        row = await self.agents.session(id)
        if row is None or self._runtimes is None:
            raise HooklineError(f"there is no session {id!r} of a browser agent")
        runtime = await self._runtimes.get(Path(row.workspace))
        return await runtime.resume(id)
