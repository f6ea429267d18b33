"""An agent in a directory: its app, hooks, store and open sessions."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from hookline.config.problem import Problem, errors_of, refuse_errors
from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.hook import Hook
from hookline.hooks.host import Clock
from hookline.hooks.session_facts import login_name
from hookline.lazy_dataclasses import replace
from hookline.project.book_watcher import BookWatcher
from hookline.project.effective_file import EffectiveFile
from hookline.project.loader import load_file, own_record_settings
from hookline.project.parsed_file import read_source
from hookline.project.script_lint import script_problems
from hookline.project.sources import Source, named_source
from hookline.record.recorder import Recorder, recorder_of
from hookline.runners.process import ProcessLimit
from hookline.runtime.agent_session import AgentSession, cancel_and_wait
from hookline.runtime.app_check import CheckAppTool
from hookline.runtime.app_message import SendMessageTool
from hookline.runtime.approvals import AskCallback
from hookline.runtime.apps.app import Agent, App
from hookline.runtime.apps.app_loader import app_source, load_app
from hookline.runtime.interception import Emitter
from hookline.runtime.lsp.servers import LanguageServers
from hookline.runtime.models.model import Model
from hookline.runtime.models.registry import create_model
from hookline.runtime.runtime_host import ThreadHost
from hookline.runtime.session_hooks import StoredHooksFile, dump_session_hooks, is_agent_file, parse_stored_files
from hookline.runtime.settings import ExtraHooks, Settings
from hookline.runtime.skills import Skills
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow
from hookline.runtime.subagents import StartAgentsTool, StartAgentTool, startable_agents
from hookline.runtime.thread import StoredThread
from hookline.runtime.tools.tool_definition import Tool
from hookline.runtime.tools.toolbox import Toolbox, built_in_tools, module_tools
from hookline.runtime.updates import Update

T = TypeVar("T")

_MAX_BOOKS: Final = 64  # books whose reads are cached
NO_MODEL: Final = (
    "no model is set: write `model: anthropic:claude-sonnet-4-5` (or openai:…, google:…, ollama:…) into hookline.yaml, "
    "or give --model"
)


class Runtime:
    """Create it with `open`, which starts and stops everything it needs."""

    def __init__(self, workspace: Path, settings: Settings, app: App, store: Store) -> None:
        self.workspace = workspace
        self.app = app
        self.store = store
        self.slots = ProcessLimit()
        self.program_env = {os.fsencode(name): os.fsencode(value) for name, value in settings.env.items()}
        self.skills = _load_skills(app, workspace, settings)
        self.sessions: dict[str, AgentSession] = {}
        self.problems: tuple[Problem | str, ...] = ()  # of files, and of servers that failed to start
        self._settings = settings
        self.recorder.use_environment(settings.env)
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._toolbox = Toolbox(())
        self.hook_tools: dict[str, Tool] = {tool.name: tool for tool in (SendMessageTool(self), CheckAppTool())}
        self._own_tools: tuple[Tool, ...] = ()
        self._served_now: Callable[[], tuple[Tool, ...]] | None = None
        self._watched: BookWatcher | None = None
        self._book = settings.book
        self._named_files: tuple[EffectiveFile, ...] = ()
        self._extended: tuple[Book, tuple[ExtraHooks, ...], Book] | None = None  # hooks of the files, more, both
        self._models: dict[tuple[str, str], Model] = {}
        self._reads: dict[int, tuple[Book, dict[str, frozenset[str]]]] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, directory: str | Path = ".", settings: Settings | None = None) -> AsyncIterator[Runtime]:
        """Opens the agent of this directory. Raises HooklineError if its app or its store cannot be used.

        Raises ConfigError if a file has errors, unless `settings.on_problem` is "warn".
        """
        settings = settings or Settings()
        workspace = Path(directory).resolve()
        if not workspace.is_dir():
            raise HooklineError(f"the directory {directory} does not exist")
        app = settings.app or load_app(
            workspace,
            settings.home,
            settings.trust,
            settings.app_file,
            config_home=settings.env_path("XDG_CONFIG_HOME"),
            config=settings.config,
        )
        given = settings.store
        store = given if isinstance(given, Store) else await Store.open(given or app.store or settings.default_store)
        runtime = cls(workspace, settings, app, store)
        async with AsyncExitStack() as stack:
            if store is not given:
                stack.push_async_callback(store.close)
            await runtime._start(stack)
            stack.push_async_callback(runtime._stop_all)
            yield runtime

    async def _start(self, stack: AsyncExitStack) -> None:
        settings = self._settings
        if settings.config is not None:
            own = own_record_settings(settings.home, settings.env_path("XDG_CONFIG_HOME"), settings.state_directory)
            self._book = load_file(settings.config, settings.dialect, own_record=own)
            named = read_source(named_source(settings.config, settings.dialect))
            self._named_files = (EffectiveFile(named, named.hooks),)
        elif self._book is None:
            self._watched = stack.enter_context(BookWatcher(self._sources, settings.trust))
        broken = () if settings.book else script_problems(self.book.hooks)
        problems = (*self.app.problems, *self.book.problems, *self.skills.problems, *broken)
        refuse_errors(set(problems).difference(settings.book.problems if settings.book else ()), settings.on_problem)
        served, unserved = await self._start_servers(stack)
        languages = await stack.enter_async_context(
            LanguageServers(self.app.language_servers, self.workspace, settings.env)
        )
        self.problems = tuple(dict.fromkeys((*problems, *unserved)))  # a file with hooks and an app is read twice
        self._own_tools = (
            *built_in_tools(self.app.private_hosts),
            *module_tools(),
            *languages.tools(),
            *self._defined_tools(),
        )
        self._toolbox = Toolbox((*self._own_tools, *served))
        cleaning = asyncio.ensure_future(self._keep_expiring())
        stack.push_async_callback(cancel_and_wait, cleaning)

    @property
    def warnings(self) -> tuple[Problem | str, ...]:
        """The problems that are not errors of a config file."""
        errors = errors_of(each for each in self.problems if isinstance(each, Problem))
        return tuple(each for each in self.problems if each not in errors)

    async def _start_servers(self, stack: AsyncExitStack) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
        """The tools of the app's MCP servers, and the problems of servers that failed to start."""
        if not self.app.servers:
            return (), ()
        from hookline.runtime.mcp.server_tools import McpServers  # slow to import

        servers = await stack.enter_async_context(McpServers(self.app.servers, self.workspace, self._settings.env))
        self._served_now = servers.tools
        return servers.tools(), servers.problems

    def _defined_tools(self) -> tuple[Tool, ...]:
        """Tools written in Python. pydantic, which reads their types, is slow to import."""
        definitions = self.app.definitions
        if not self._settings.tools and not definitions.tools:
            return ()
        from hookline.runtime.tools.function_tool import defined_tool, function_tool

        given = tuple(function_tool(function) for function in self._settings.tools)
        return (*given, *(defined_tool(each, definitions) for each in definitions.tools.values()))

    def _sources(self) -> tuple[Source, ...]:
        """The hook files of the workspace. An app file that the user named counts as named, wherever it is."""
        settings = self._settings
        found = settings.trust.sources(self.workspace, settings.home, settings.env_path("XDG_CONFIG_HOME"))
        file = self._settings.app_file
        if file is None:
            return found
        real = os.path.realpath(file)
        others = (source for source in found if os.path.realpath(source.path) != real)
        return (*others, app_source(file))

    def agent_files(self) -> list[StoredHooksFile]:
        """The trusted files whose hooks a stored session has."""
        files = self._watched.files if self._watched is not None else self._named_files
        return [
            StoredHooksFile(each.parsed.dialect, each.parsed.source.display_path, each.parsed.text)
            for each in files
            if each.trusted and each.parsed.dialect is not None and is_agent_file(each.parsed.source.path)
        ]

    def verify_stored_hooks(self, hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
        """The hooks of a stored session, as far as the files that they run are trusted."""
        return self._settings.trust.verify_stored_hooks(hooks, self.workspace)

    @property
    def book(self) -> Book:
        """The hooks of the files, and those of `settings.extra_hooks`."""
        base = self._file_hooks
        more = () if self._settings.extra_hooks is None else self._settings.extra_hooks()
        if not more:
            return base
        if self._extended is None or self._extended[0] is not base or self._extended[1] is not more:
            book = base
            for each in more:
                book = book.with_layer(each.layer, each.files)
            self._extended = (base, more, book)
        return self._extended[2]

    @property
    def _file_hooks(self) -> Book:
        if self._watched is not None:
            return self._watched.book
        if self._book is None:
            self._book = Book()
        return self._book

    @cached_property
    def recorder(self) -> Recorder:
        return recorder_of(self._settings.state_directory)

    @property
    def env(self) -> Mapping[str, str]:
        return self._settings.env

    @property
    def clock(self) -> Clock:
        return self._settings.clock

    @property
    def watch(self) -> Callable[[Update], None] | None:
        return self._settings.watch

    @property
    def interceptors(self) -> Emitter | None:
        return self._settings.interceptors

    @property
    def ask(self) -> AskCallback | None:
        return self._settings.ask

    @property
    def state_directory(self) -> Path:
        return self._settings.state_directory

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

    async def start(self, agent: str | None = None, id: str | None = None) -> AgentSession:
        """Starts a session. Raises Denied if hooks do not let the agent start."""
        who = self.agent(agent)
        now = self.clock.wall()
        row = SessionRow(
            id=id or f"session_{uuid.uuid4().hex[:16]}",
            app=str(self.workspace),
            agent=who.id,
            workspace=str(self.workspace),
            user=login_name(),
            created=now,
            last_used=now,
        )
        session = AgentSession(self, row, who)
        await self.store.claim(row.id)
        try:
            await session.begin()
        except BaseException:
            await self.store.release(row.id)
            raise
        self.sessions[session.id] = session
        return session

    async def resume(self, id: str) -> AgentSession:
        """Continues a session of this or an earlier process. Raises HooklineError if another process runs it now."""
        return await self._open_session(id, self._resume_row)

    async def reopen(self, id: str) -> AgentSession:
        """Like `resume`, but also restarts a session that had ended: its first and last events are fired again.

        Hooks of its skills are gone. Raises Denied if hooks do not let the agent start.
        """
        return await self._open_session(id, self._reopen_row)

    async def _open_session(self, id: str, take_up: Callable[[SessionRow], Awaitable[AgentSession]]) -> AgentSession:
        """Concurrent calls for one id return the same session."""
        async with self._opening.setdefault(id, asyncio.Lock()):
            session = self.sessions.get(id)
            if session is not None and await self.store.holds_claim(id):
                return session
            if session is not None:
                await self.forget(session)
            self.sessions[id] = session = await self._with_claim(id, take_up)
            return session

    async def _with_claim(self, id: str, work: Callable[[SessionRow], Awaitable[T]]) -> T:
        """Runs `work` with the row after claiming the session. The claim is kept unless `work` fails."""
        await self._session_row(id)
        await self.store.claim(id)
        try:
            return await work(await self._session_row(id))
        except BaseException:
            await self.store.release(id)
            raise

    async def _session_row(self, id: str) -> SessionRow:
        row = await self.store.session(id)
        if row is None:
            raise HooklineError(f"there is no session {id!r}")
        return row

    async def _resume_row(self, row: SessionRow) -> AgentSession:
        self._check_workspace(row)
        if row.ended is not None:
            raise HooklineError(f"the session {row.id} has ended ({row.ended}); reopen() starts it again")
        session = AgentSession(self, row, self.agent(row.agent))
        await session.restore()
        session.last_used = self.clock.wall()
        return session

    async def _reopen_row(self, row: SessionRow) -> AgentSession:
        if row.ended is None:
            return await self._resume_row(row)
        kept = [part for part in parse_stored_files(row.hooks) if part.scope.session is None]
        hooks = dump_session_hooks(kept) if kept else None
        session = await self._resume_row(replace(row, ended=None, hooks=hooks))
        await session.reopen()
        await self.store.update_session(row.id, ended=None, hooks=hooks)
        return session

    def _check_workspace(self, row: SessionRow) -> None:
        """In another directory, tools would not run in the workspace that hooks see."""
        if row.workspace != str(self.workspace):
            raise HooklineError(f"the session {row.id} belongs to {row.workspace}; resume it there")

    async def delete(self, id: str) -> None:
        """Ends the session and deletes everything stored for it."""
        if (await self._session_row(id)).ended is None:
            await (await self.resume(id)).end("deleted")
        await self._with_claim(id, lambda row: self.store.delete_session(row.id))
        await self.store.release(id)

    async def answer(
        self, approval: str, yes: bool, by: str = "python", input: dict[str, Any] | None = None, why: str | None = None
    ) -> bool:
        """Answers an approval request. False if it was answered already or has expired.

        With `input`, the call runs with that input, if hooks agree.
        """
        return await self.store.answer_approval(approval, yes, by, self.clock.wall(), edited=input, why=why)

    async def expire(self) -> None:
        """Ends sessions that were idle for too long."""
        before = self.clock.wall() - self._settings.idle.total_seconds()
        for session in list(self.sessions.values()):
            if (
                session.last_used <= before and not session.is_busy
            ):  # now: ending the ones before it may have taken long
                await self.end(session, "idle")

    async def end(self, session: AgentSession, reason: str) -> None:
        """Ends the session. If the store fails, that is emitted as a status message."""
        try:
            await session.end(reason)
        except HooklineError as error:
            session.emit_status(session.main, str(error), "error")

    async def model(self, name: str | None, session: str = "") -> Model:
        """The model of this name, unless the settings name one: that always wins.

        A script is loaded per session, because it remembers its position.
        """
        given = self._settings.model
        if given is not None and not isinstance(given, str):
            return given
        wanted = self.model_name(name)
        if wanted is None:
            raise HooklineError(NO_MODEL)
        key = (session, wanted) if _is_script(wanted, self.app) else ("", wanted)
        if key not in self._models:
            made = await asyncio.to_thread(create_model, wanted, self.app, self._settings.env, self.workspace)
            self._models.setdefault(key, made)
        return self._models[key]

    def model_name(self, name: str | None) -> str | None:
        """The name of the model that an agent with this model uses. None for one that was given as an object."""
        given = self._settings.model
        return (given or name or self.app.model) if given is None or isinstance(given, str) else None

    def use_app(self, app: App) -> None:
        """Sessions that begin from now on use the agents of this app. Those that run keep theirs."""
        self.app = app

    async def use_model(self, name: str) -> Model:
        """Switches all agents to this model from the next request on. Raises HooklineError if it does not exist."""
        before = self._settings
        self._settings = replace(before, model=name)
        try:
            return await self.model(None)
        except HooklineError:
            self._settings = before
            raise

    def fact_roots(self, book: Book, event: str) -> frozenset[str]:
        """The top-level names of the facts that hooks on this event read."""
        cached = self._reads.get(id(book))
        if cached is None or cached[0] is not book:
            if len(self._reads) >= _MAX_BOOKS:
                self._reads.clear()
            cached = self._reads[id(book)] = (book, {})
        if event not in cached[1]:
            paths = book.reads(event)
            cached[1][event] = frozenset(str(path[0]) if path else "messages" for path in paths) | (
                {"messages", "context"} if () in paths else frozenset()
            )
        return cached[1][event]

    @property
    def toolbox(self) -> Toolbox:
        """All tools, including what the MCP servers offer now."""
        if self._served_now is not None:
            tools = (*self._own_tools, *self._served_now())
            if tools != self._toolbox.tools:
                self._toolbox = Toolbox(tools)
        return self._toolbox

    def toolbox_for(self, thread: StoredThread) -> Toolbox:
        session, more = thread.session, self.skills.tools(thread.session)
        if startable_agents(thread):
            more = (*more, StartAgentTool(thread), StartAgentsTool(thread))
        toolbox = self.toolbox.with_tools(more) if more else self.toolbox
        own = () if self._settings.tools_for is None else self._settings.tools_for(session)
        return toolbox.with_tools(own, replacing=True) if own else toolbox

    def host_for(self, session: AgentSession, thread: StoredThread) -> ThreadHost:
        make = self._settings.host_for or ThreadHost
        return make(session, thread)

    async def forget(self, session: AgentSession) -> None:
        self.sessions.pop(session.id, None)
        for key in [key for key in self._models if key[0] == session.id]:
            del self._models[key]
        await self.store.release(session.id)

    def agent(self, id: str | None) -> Agent:
        """The agent of this id, or the app's first one. Raises HooklineError if it does not exist."""
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

    async def _stop_all(self) -> None:
        """Stops what is running. Sessions stay open, so that they can be resumed."""
        for session in list(self.sessions.values()):
            session.cancel("the agent is closed")
            await session.wait_until_stopped()
        for model in self._models.values():
            await model.close()


def _load_skills(app: App, workspace: Path, settings: Settings) -> Skills:
    named = settings.app_file is not None
    config_home = settings.env_path("XDG_CONFIG_HOME")
    return Skills(app, workspace, settings.home, settings.trust, named=named, config_home=config_home)


def _is_script(name: str, app: App) -> bool:
    named = app.models.get(name)
    return (named.model if named is not None else name).startswith("script:")
