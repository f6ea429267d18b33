"""Sessions of agents that run on the hub: started, talked to, ended and deleted from the console or the API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hub.store.deleted_sessions import mark_deleted
from hookline.hub.workspaces.runtimes import Runtimes
from hookline.hub.workspaces.session_updates import SessionUpdates
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.runtime import Runtime
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow
from hookline.runtime.updates import ExchangeEnded

_MAX_RUNNING: Final = 1000  # sessions that work at the same time

_log = logging.getLogger("hookline.hub")


class NoSuchSession(HooklineError):
    pass


class SessionBusy(HooklineError):
    """It works, or another process has it."""


class HubSessions:
    def __init__(self, store: Store, runtimes: Runtimes, updates: SessionUpdates) -> None:
        self._store = store
        self._runtimes = runtimes
        self._updates = updates
        self.on_start: Callable[[str], Awaitable[None]] | None = None  # called with a session that is new
        self._running: dict[str, asyncio.Task[None]] = {}
        self._watched: dict[str, AgentSession] = {}

    async def start(self, workspace: Path, agent: str | None, user: str) -> SessionRow:
        """Raises Denied if hooks do not let the agent start, HooklineError if the workspace cannot be used."""
        runtime = await self._runtimes.get(workspace)
        session = await runtime.start(agent)
        await self._tell_owner(session.id)
        self._watch(session, user)
        self._updates.tell("session_started", self.describe(session.row), session.id, session.agent.id)
        return session.row

    async def start_filled(
        self, workspace: Path, agent: str, user: str, fill: Callable[[SessionRow], Awaitable[None]]
    ) -> SessionRow:
        """Starts a session that has a history already: `fill` writes it. Raises Denied."""
        runtime = await self._runtimes.get(workspace)
        session = await runtime.start(agent)
        try:
            await self._tell_owner(session.id)
            await fill(session.row)
        except BaseException:
            await runtime.delete(session.id)
            raise
        await runtime.forget(session)  # whoever uses it next reads what was written
        row = await self.find(session.id)
        self._updates.tell("session_started", self.describe(row), row.id, row.agent)
        return row

    async def find(self, id: str) -> SessionRow:
        """Raises NoSuchSession."""
        row = await self._store.session(id)
        if row is None:
            raise NoSuchSession("there is no such session")
        return row

    async def say(self, id: str, text: str, user: str) -> None:
        """Returns at once; what happens comes on the bus. Raises SessionBusy while it works."""
        row = await self.find(id)
        if row.ended is not None:
            raise SessionBusy(f"the session has ended ({row.ended}); reopen it first")
        session = await self._open(row, user)
        if id in self._running or len(self._running) >= _MAX_RUNNING:  # last: of two messages at once, one begins
            raise SessionBusy("the agent is still working; cancel it, or wait")
        self._updates.tell_message(id, row.agent, text)
        self._running[id] = asyncio.ensure_future(self._exchange(session, text))

    async def go_on(self, id: str, user: str) -> bool:
        """Continues an exchange that was interrupted. False if there is nothing to continue."""
        row = await self.find(id)
        session = await self._open(row, user)
        if not await session.is_unfinished() or id in self._running:
            return False
        self._running[id] = asyncio.ensure_future(self._exchange(session, None))
        return True

    async def reopen(self, id: str, user: str) -> SessionRow:
        """Starts a session again that had ended. Raises Denied if hooks do not let the agent start."""
        row = await self.find(id)
        session = await (await self._runtime_of(row)).reopen(id)
        self._watch(session, user)
        return session.row

    async def cancel(self, id: str) -> bool:
        session = self._watched.get(id)
        if session is None or id not in self._running:
            return False
        session.cancel("cancelled at the hub")
        return True

    async def end(self, id: str) -> None:
        row = await self.find(id)
        if row.ended is not None:
            return
        session = await self._open(row, "")
        await session.end("ended at the hub")

    async def delete(self, id: str) -> None:
        """Ends it, with its last events, and deletes everything of it but its decisions, which are the record."""
        row = await self.find(id)
        await mark_deleted(self._store, id)
        session = self._watched.get(id)
        if session is not None:
            session.cancel("deleted")
        await (await self._runtime_of(row)).delete(id)
        if session is None or id in self._watched:  # it had ended before, or nobody used it since the hub started
            self._tell_ended(id, "deleted")
        self._updates.forget(id)

    async def wait_until_stopped(self) -> None:
        """When the hub ends: sessions stay open, and can be resumed."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def is_running(self, id: str) -> bool:
        return id in self._running

    def describe(self, row: SessionRow) -> dict[str, Any]:
        state = "ended" if row.ended is not None else "working" if self.is_running(row.id) else "idle"
        names = ("id", "agent", "workspace", "user", "created", "last_used", "turns", "tool_calls", "ended")
        return {**{name: getattr(row, name) for name in names}, "host": "hookline", "state": state}

    async def _open(self, row: SessionRow, user: str) -> AgentSession:
        """Raises SessionBusy if another process has it."""
        try:
            session = await (await self._runtime_of(row)).resume(row.id)
        except HooklineError as error:
            raise SessionBusy(str(error)) from error
        self._watch(session, user)
        return session

    async def _tell_owner(self, id: str) -> None:
        if self.on_start is not None:
            await self.on_start(id)

    async def _runtime_of(self, row: SessionRow) -> Runtime:
        return await self._runtimes.get(Path(row.workspace))

    def _watch(self, session: AgentSession, user: str) -> None:
        if self._watched.get(session.id) is not session:
            self._watched[session.id] = session
            session.on_end = lambda reason: self._tell_ended(session.id, reason)
            session.watch(self._updates.listener(session.id, session.agent.id, user))

    async def _exchange(self, session: AgentSession, text: str | None) -> None:
        updates = session.go_on() if text is None else session.say(text)
        try:
            async for update in updates:  # the listener publishes them
                if isinstance(update, ExchangeEnded):
                    _log.debug("session %s: %s", session.id, update.ending)
        except HooklineError as error:
            session.emit_status(session.main, str(error), "error")
        finally:
            self._running.pop(session.id, None)

    def _tell_ended(self, id: str, reason: str) -> None:
        self._watched.pop(id, None)
        self._updates.tell("session_ended", {"id": id, "reason": reason}, id)
