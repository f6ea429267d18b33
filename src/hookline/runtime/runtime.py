"""An agent at work in a directory: its app, its hooks, its store, and the sessions that go on."""

from __future__ import annotations

import asyncio
import getpass
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.host import Clock, SystemClock
from hookline.project.loading import load
from hookline.project.sources import find
from hookline.project.trust import Trust, state_file
from hookline.project.watched import Watched
from hookline.runners.process import Slots
from hookline.runtime.app import Agent, App
from hookline.runtime.approvals import Ask
from hookline.runtime.apps.load import load_app
from hookline.runtime.lsp.servers import LanguageServers
from hookline.runtime.mcp.servers import Servers
from hookline.runtime.models.model import Model
from hookline.runtime.models.table import model_named
from hookline.runtime.session import Session
from hookline.runtime.skills import Skills
from hookline.runtime.storage.rows import SessionRow
from hookline.runtime.storage.store import Store
from hookline.runtime.subagents import StartAgent, StartAgents
from hookline.runtime.tools.table import built_in, modules
from hookline.runtime.tools.toolbox import Toolbox

_BOOKS: Final = 64  # whose wants are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an agent is run; what is not said is found in the directory and the user's home."""

    home: Path = field(default_factory=Path.home)
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    app: App | None = None
    app_file: Path | None = None
    config: Path | None = None  # hooks of this file only, which is trusted
    book: Book | None = None
    model: str | Model | None = None
    store: str | None = None  # a URL
    ask: Ask | None = None  # called where hooks want a person to look
    unattended: bool = False  # nobody can be asked: a question is a no at once
    patience: timedelta = timedelta(minutes=10)  # with a question
    idle: timedelta = timedelta(minutes=30)  # after which a session ends
    explain: bool = False  # decisions tell why each hook did not act
    clock: Clock = field(default_factory=SystemClock)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Runtime:
    """Made by `open`, which starts and ends what it needs."""

    def __init__(self, workspace: Path, settings: Settings, app: App, store: Store) -> None:
        self.workspace = workspace
        self.app = app
        self.store = store
        self.slots = Slots()
        self.skills = Skills(app, workspace, settings.home)
        self.sessions: dict[str, Session] = {}
        self._settings = settings
        self._toolbox = Toolbox(())
        self._watched: Watched | None = None
        self._book = settings.book
        self._models: dict[str, Model] = {}
        self._reads: dict[int, tuple[Book, dict[str, frozenset[str]]]] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, directory: str | Path = ".", settings: Settings | None = None) -> AsyncIterator[Runtime]:
        """The agent of this directory. Raises HooklineError if its app or its store cannot be used."""
        settings = settings or Settings()
        workspace = Path(directory).resolve()
        app = settings.app or load_app(workspace, settings.home, file=settings.app_file)
        store = await Store.open(settings.store or app.store or default_store(workspace, settings))
        runtime = cls(workspace, settings, app, store)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(store.close)
            await runtime._start(stack)
            stack.push_async_callback(runtime._end_all)
            yield runtime

    async def _start(self, stack: AsyncExitStack) -> None:
        settings = self._settings
        if settings.config is not None:
            self._book = load(settings.config)
        elif self._book is None:
            trust = Trust(state_file(settings.home))
            self._watched = stack.enter_context(Watched(lambda: find(self.workspace, settings.home), trust))
        servers = await stack.enter_async_context(Servers(self.app.servers, self.workspace, settings.env))
        languages = await stack.enter_async_context(LanguageServers(self.app.language_servers, self.workspace))
        self.problems = (*self.app.problems, *self.book.problems, *servers.problems)
        defined = self.app_tools()
        self._toolbox = Toolbox((*built_in(), *modules(), *languages.tools(), *servers.tools(), *defined))
        cleaning = asyncio.ensure_future(self._keep_expiring())
        stack.push_async_callback(_stopped, cleaning)

    def app_tools(self) -> tuple[Any, ...]:
        """Tools that were defined in Python, and the one that invokes skills."""
        from hookline.runtime.tools.function import defined

        return tuple(defined(each) for each in self.app.definitions.tools.values())

    @property
    def book(self) -> Book:
        if self._watched is not None:
            return self._watched.book
        return self._book if self._book is not None else Book()

    @property
    def clock(self) -> Clock:
        return self._settings.clock

    @property
    def ask(self) -> Ask | None:
        return self._settings.ask

    @property
    def unattended(self) -> bool:
        return self._settings.unattended

    @property
    def patience(self) -> timedelta:
        return self._settings.patience

    @property
    def explain(self) -> bool:
        return self._settings.explain

    @property
    def sleep(self) -> Callable[[float], Awaitable[None]]:
        return self._settings.sleep

    async def start(self, agent: str | None = None, id: str | None = None) -> Session:
        """A new session. Raises Denied if hooks do not let the agent start."""
        who = self._agent(agent)
        now = self.clock.wall()
        row = SessionRow(
            id=id or f"session_{uuid.uuid4().hex[:16]}",
            app=str(self.workspace),
            agent=who.id,
            workspace=str(self.workspace),
            user=_user(),
            created=now,
            last_used=now,
        )
        session = Session(self, row, who)
        await session.begin()
        self.sessions[session.id] = session
        return session

    async def resume(self, id: str) -> Session:
        """A session that a process before us, or this one, had begun."""
        if id in self.sessions:
            return self.sessions[id]
        row = await self.store.session(id)
        if row is None:
            raise HooklineError(f"there is no session {id!r}")
        if row.ended is not None:
            raise HooklineError(f"the session {id} has ended ({row.ended}); begin a new one")
        session = Session(self, row, self._agent(row.agent))
        await session.restore()
        self.sessions[id] = session
        return session

    async def delete(self, id: str) -> None:
        """Ends the session, and removes everything of it."""
        row = await self.store.session(id)
        if row is None:
            raise HooklineError(f"there is no session {id!r}")
        if row.ended is None:
            await (await self.resume(id)).end("deleted")
        await self.store.delete_session(id)

    async def answer(self, approval: str, yes: bool, by: str = "python") -> bool:
        """False if it was answered, or too late, already."""
        return await self.store.answer_approval(approval, yes, by, self.clock.wall())

    async def expire(self) -> None:
        """Ends the sessions that nobody has used for too long."""
        before = self.clock.wall() - self._settings.idle.total_seconds()
        for session in [each for each in self.sessions.values() if each.last_used <= before and not each.busy]:
            await session.end("idle")

    async def model(self, name: str | None) -> Model:
        """The model of this name; what was said on the command line counts before all names."""
        given = self._settings.model
        if given is not None and not isinstance(given, str):
            return given
        wanted = given or name or self.app.model
        if wanted is None:
            raise HooklineError("no model is named: write `model: provider:name` in hookline.yaml, or give --model")
        if wanted not in self._models:
            self._models[wanted] = await asyncio.to_thread(
                model_named, wanted, self.app, self._settings.env, self.workspace
            )
        return self._models[wanted]

    def reads(self, book: Book, event: str) -> frozenset[str]:
        """The first steps of the facts that hooks on this event read."""
        held = self._reads.get(id(book))
        if held is None or held[0] is not book:
            if len(self._reads) >= _BOOKS:
                self._reads.clear()
            held = self._reads[id(book)] = (book, {})
        if event not in held[1]:
            paths = book.reads(event)
            held[1][event] = frozenset(str(path[0]) if path else "messages" for path in paths) | (
                {"messages", "context"} if () in paths else frozenset()
            )
        return held[1][event]

    def toolbox_for(self, session: Session) -> Toolbox:
        more = self.skills.tools(session)
        if len(self.app.agents) > 1:
            more = (*more, StartAgent(session), StartAgents(session))
        return self._toolbox.with_tools(more)

    def skills_text(self) -> str:
        return self.skills.text()

    def forget(self, session: Session) -> None:
        self.sessions.pop(session.id, None)

    def _agent(self, id: str | None) -> Agent:
        if id is None:
            return self.app.agents[0]
        found = self.app.agent(id)
        if found is None:
            raise HooklineError(f"there is no agent {id!r}; there are {', '.join(a.id for a in self.app.agents)}")
        return found

    async def _keep_expiring(self) -> None:
        while True:
            await asyncio.sleep(min(self._settings.idle.total_seconds(), 30))
            await self.expire()

    async def _end_all(self) -> None:
        """A process that ends leaves its sessions to be resumed; only what runs is stopped."""
        for session in list(self.sessions.values()):
            session.cancel("the agent is closed")
            await session.settle_down()
        for model in self._models.values():
            await model.close()


def default_store(workspace: Path, settings: Settings) -> str:
    """Beside the project where it has a .hookline folder, else in the user's state."""
    beside = workspace / ".hookline"
    if beside.is_dir():
        return f"sqlite:///{beside / 'sessions.db'}"
    state = settings.env.get("XDG_STATE_HOME") or str(settings.home / ".local" / "state")
    return f"sqlite:///{Path(state) / 'hookline' / 'sessions.db'}"


async def _stopped(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
