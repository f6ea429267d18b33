"""A running hub: its store, its access control, its bus, and what runs in the background."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
import traceback
import uuid
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hub.access.access import Access, RateLimit
from hookline.hub.access.hub_addresses import HubAddresses
from hookline.hub.access.oidc import OidcLogin
from hookline.hub.approvals.approval_desk import ApprovalDesk
from hookline.hub.bus.event_bus import LIVE, NAMESPACE, EventBus
from hookline.hub.bus.live_rows import LiveRows
from hookline.hub.bus.socket_server import create_socket_server
from hookline.hub.cluster.fan_out import FanOut
from hookline.hub.cluster.peers import Peers
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.hub_problems import HubProblems
from hookline.hub.explain.explanation import Explainer
from hookline.hub.explain.hook_counter import HookCounter
from hookline.hub.explain.hook_fires import HookFires
from hookline.hub.explain.hook_list import HookList, HubPlace
from hookline.hub.explain.hooks_in_force import HooksInForce
from hookline.hub.intake.host_watch import HostWatch
from hookline.hub.intake.intake import Intake, TakenLine
from hookline.hub.intake.record_intake import RecordIntake
from hookline.hub.intake.retention import Retention
from hookline.hub.pages.browser_pages import BrowserPages
from hookline.hub.rules.rule_preview import RulePreview
from hookline.hub.rules.rule_sets import RuleSets
from hookline.hub.session_import.session_import import SessionImport
from hookline.hub.store.agent_table import AgentTable
from hookline.hub.store.book_table import BookTable
from hookline.hub.store.decision_table import DecisionTable
from hookline.hub.store.hub_table import HubTable
from hookline.hub.store.open_store import open_store
from hookline.hub.store.origin_table import OriginRow, OriginTable
from hookline.hub.store.outage_log import OutageLog
from hookline.hub.store.question_table import QuestionTable
from hookline.hub.store.record_line import row_json
from hookline.hub.store.rule_table import RuleTable
from hookline.hub.store.user_table import UserTable
from hookline.hub.workspaces.disabled_tools import disabled_tool_hooks
from hookline.hub.workspaces.hub_agents import HubAgents, app_of
from hookline.hub.workspaces.hub_sessions import HubSessions
from hookline.hub.workspaces.runtimes import Runtimes
from hookline.hub.workspaces.session_updates import SessionUpdates
from hookline.record.record_log import outcome_of
from hookline.record.segment import record_directory
from hookline.runtime.settings import Settings
from hookline.runtime.storage.store import Store

_ENTER_TRIES: Final = 5  # a minute, for each address
_TIDY_EVERY: Final = timedelta(minutes=5)
_FOLLOW_EVERY: Final = timedelta(seconds=1)

_log = logging.getLogger("hookline.hub")


class Hub:
    """What routes, namespaces and commands of the bus reach. Open it with `Hub.open`."""

    def __init__(self, config: HubConfig, store: Store, id: str = "") -> None:
        self.config = config
        self.id = id
        self.store = store
        self.database = store.database  # for the hub's own tables
        self.addresses = HubAddresses.of(config)
        self.machine = os.uname().nodename
        self.started = time.time()
        self.access = Access(UserTable(self.database))
        self.enter_limit = RateLimit(_ENTER_TRIES)
        self.oidc: OidcLogin | None = None
        self.socket = create_socket_server()
        self.bus = EventBus(self.socket, self.access)
        self.approvals = ApprovalDesk(QuestionTable(self.database), store, self.bus.publish)
        self._tasks: set[asyncio.Task[None]] = set()
        self._create_record()
        self._create_rules()
        self._create_sessions()
        self.peers = self._create_peers() if config.redis else None
        self.problems = HubProblems(config.name, self.bus.publish, self.run_in_background)
        self._watch_problems()

    def _watch_problems(self) -> None:
        self.problems.watch("record", self.record_intake.outage)
        self.problems.watch("reports", self.report_outage)
        self.problems.watch("hosts", self.host_watch.outage)
        self.problems.watch("retention", self.retention.outage)
        self.problems.watch("approvals", self.approvals.outage)
        self.problems.watch("rules", self.rules.outage)
        if self.peers is not None and self.bus.fan_out is not None:
            self.problems.watch("hubs", self.peers.outage)
            self.problems.watch("redis", self.bus.fan_out.outage)

    def _create_record(self) -> None:
        """What hosts recorded: taken in, shown and explained."""
        self.decisions = DecisionTable(self.database)
        self.origins = OriginTable(self.database)
        self.books = BookTable(self.database)
        self.hooks = HooksInForce(self.books, lambda: self.runtime_settings(Path("/")))
        self.explainer = Explainer(self.decisions, self.hooks)
        self.hook_fires = HookFires(self.decisions)
        self.hook_list = HookList(
            self.hooks, self.origins, self.decisions, self.hook_fires, self.machine, self._hub_places
        )
        self.hook_counter = HookCounter(self.decisions, self.books)
        self.live = LiveRows(self._send_rows, is_watched=self._is_watched)
        self.intake = Intake(self.database, self._on_taken, on_broken=self._on_broken)
        self.record_intake = RecordIntake(record_directory(self.config.state), self.intake, self.store)
        self.report_outage = OutageLog(
            "records of other machines are not taken for now", "records of other machines are taken again"
        )
        self.host_watch = HostWatch(self.origins, self.bus.publish)
        self.retention = Retention(self.database, self.config.record_keep, self.config.record_most)

    def _create_rules(self) -> None:
        own = (self.config.own_hooks,) if self.config.own_hooks is not None else ()
        self.rules = RuleSets(RuleTable(self.database), (*own, *disabled_tool_hooks(self.config.tools)))
        self.rule_preview = RulePreview(self.decisions, self.hooks)

    def _create_sessions(self) -> None:
        """Agents that run here, and their pages."""
        publish, store = self.bus.publish, self.store
        self.agents = HubAgents(AgentTable(self.database), self.config.agents_directory)
        self.runtimes = Runtimes(self._settings_now)
        self.session_updates = SessionUpdates(publish)
        self.sessions = HubSessions(store, self.runtimes, self.session_updates)
        urls = self.addresses.frame_urls
        self.pages = BrowserPages(self.socket, self.access, store, self.agents, publish, urls)
        self.pages.use_runtimes(self.runtimes)
        self.session_import = SessionImport(store, self.agents, self.rules, self.sessions, self.pages.states)

    def _create_peers(self) -> Peers:
        """The other hubs on this database, with Redis between them."""
        self.bus.fan_out = FanOut(self.config.redis, self.id, self._receive)
        self.bus.fan_out.on_gap = self._catch_up
        self.approvals.on_change = self._tell_approvals
        peers = Peers(HubTable(self.database), self.id, self.config.own_peer_url)
        self.sessions.on_start = peers.take
        self.pages.owner_of = peers.owner_of
        return peers

    @property
    def takes_records(self) -> bool:
        """False if the last try failed."""
        return not self.record_intake.problem and not self.report_outage.reason

    @classmethod
    @asynccontextmanager
    async def open(cls, config: HubConfig) -> AsyncIterator[Hub]:
        """Opens the store and starts what runs in the background. Raises HooklineError."""
        async with AsyncExitStack() as stack:
            id = uuid.uuid4().hex
            store = await open_store(config, id)
            stack.push_async_callback(store.close)
            hub = cls(config, store, id)
            stack.push_async_callback(hub.runtimes.close)
            stack.push_async_callback(hub._stop_tasks)
            stack.push_async_callback(hub.sessions.wait_until_stopped)
            hub.run_in_background(hub.live.run())
            hub.run_in_background(hub.bus.keep_checking())
            hub.run_in_background(hub.pages.namespace.keep_checking())
            hub.run_in_background(hub._keep_tidying())
            await hub.approvals.load()
            hub.run_in_background(hub.approvals.run())
            await hub.rules.load()
            await hub.agents.load()
            await hub._join_others(stack)
            hub.oidc = await hub._open_oidc()
            hub.run_in_background(hub.session_updates.run())
            hub.run_in_background(hub.rules.run())
            hub.run_in_background(hub.retention.run())
            own_record = record_directory(config.state) if config.reads_record else None
            hub.run_in_background(hub.host_watch.run(own_record))
            if config.reads_record:
                hub.run_in_background(hub.record_intake.run())
            yield hub

    async def _join_others(self, stack: AsyncExitStack) -> None:
        """The other hubs on this database."""
        fan_out = self.bus.fan_out
        if fan_out is None or self.peers is None:
            return
        stack.push_async_callback(fan_out.close)
        stack.push_async_callback(self.peers.close)
        fan_out.use_channel(await self._database_name())
        await self.peers.beat()
        self.run_in_background(fan_out.run())
        self.run_in_background(self.peers.run())
        self.run_in_background(self._follow_agents())

    async def _database_name(self) -> str:
        """The same for all hubs on this database."""
        return await self._shared_value("database")

    async def _shared_value(self, name: str) -> str:
        if await self.store.get_value("hub", name) is None:
            await self.store.set_value("hub", name, secrets.token_hex(32))
        return str(await self.store.get_value("hub", name))

    async def _open_oidc(self) -> OidcLogin | None:
        settings = self.config.oidc
        if settings is None:
            return None
        env = os.environ if self.config.env is None else self.config.env
        secret = env.get(settings.secret_env, "") if settings.secret_env else ""
        if settings.secret_env and not secret:
            problem = f"oidc.secret_env: the variable {settings.secret_env} is not set"
            raise self.config.wrong_value("oidc.secret_env", problem)
        return OidcLogin(settings, secret, await self._shared_value("oidc"), f"{self.config.url}/oidc/back")

    async def _follow_agents(self) -> None:
        """Agents that were made at another hub."""
        while True:
            await asyncio.sleep(_FOLLOW_EVERY.total_seconds())
            try:
                await self.agents.load()
            except HooklineError:
                _log.debug("agents could not be read", exc_info=True)

    async def _receive(self, message: dict[str, Any]) -> None:
        """What a hub on this database sent."""
        kind, data = message["kind"], message.get("data", {})
        if kind == "event":
            if message["event"].get("type") == "rules_changed":
                await self.rules.load()
            await self.bus.deliver(message["room"], message["seq"], message["event"])
        elif kind == "rows":
            await self.bus.send_rows(data)
        elif kind == "approvals":
            await self.approvals.look()
        elif kind == "access":
            await self._check_connections()

    async def check_access(self) -> None:
        """Somebody's rights have changed: their open connections end, or see less, at all hubs on this database."""
        if self.bus.fan_out is not None:
            await self.bus.fan_out.send("access", {})
        await self._check_connections()

    async def _check_connections(self) -> None:
        await self.bus.check_clients()
        await self.pages.namespace.check_clients()

    async def _catch_up(self) -> None:
        """Redis was away."""
        await self.rules.load()
        await self.approvals.look()
        await self.bus.tell_gap()

    async def _tell_approvals(self) -> None:
        if self.bus.fan_out is not None:
            await self.bus.fan_out.send("approvals", {})

    async def _send_rows(self, data: dict[str, Any]) -> None:
        await self.bus.send_rows(data)
        if self.bus.fan_out is not None:
            await self.bus.fan_out.send("rows", data)

    async def _settings_now(self, workspace: Path) -> Settings:
        """An agent that another hub made a moment ago runs as itself, under its own rules."""
        await self.agents.load()
        return self.runtime_settings(workspace)

    def runtime_settings(self, workspace: Path) -> Settings:
        """How agents run in a workspace, or in the directory of an agent of the console."""
        agent = self.agents.of_workspace(workspace)
        return Settings(
            app=None if agent is None else app_of(agent),
            home=self.config.home or Path.home(),
            env=dict(os.environ) if self.config.env is None else self.config.env,
            store=self.store,
            on_problem="warn",
            patience=self.config.approvals_patience,
            extra_hooks=lambda: self.rules.extra_hooks(workspace, "" if agent is None else agent.id),
            tools_for=self.pages.tools_for,
            host_for=self.pages.host_for,
        )

    def _hub_places(self) -> list[HubPlace]:
        agents = [(Path(row.workspace), row.id) for row in self.agents.rows]
        places = [*((workspace, "") for workspace in self.config.workspaces), *agents]
        return [HubPlace(place, agent, self.rules.extra_hooks(place, agent)) for place, agent in places]

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Until the hub ends. A failure is logged."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)

    async def _stop_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a part of the hub has stopped: %s", _describe_bug(error), exc_info=error)
            self.problems.set("hub", f"a part of the hub has stopped: {type(error).__name__}; its log says more")

    async def _keep_tidying(self) -> None:
        while True:
            try:
                await self.access.remove_expired()
            except Exception:
                _log.warning("old credentials could not be removed", exc_info=True)
            await asyncio.sleep(_TIDY_EVERY.total_seconds())

    def _is_watched(self) -> bool:
        if self.bus.fan_out is not None:
            return True
        return any(True for _ in self.socket.manager.get_participants(NAMESPACE, LIVE))

    def _on_taken(self, taken: Sequence[TakenLine]) -> None:
        if self.approvals.has_edits:
            self.run_in_background(self.approvals.show_denied_edits([each.line.record for each in taken]))
        if not self.live.is_watched:
            return
        rows, outcomes = [], []
        for each in taken:
            record = each.line.record
            if each.line.kind == "decision":
                rows.append(partial(_live_row, each))
            if outcome := outcome_of(record):
                outcomes.append({"session": record.get("session"), "call": record.get("call"), "outcome": outcome})
        self.live.add(rows, outcomes)

    def _on_broken(self, row: OriginRow) -> None:
        where = f"{row.host or 'a host'} on {row.machine or 'an unknown machine'}"
        self.problems.report(
            "chain", f"the record {row.id}-{row.broken} of {where} does not follow from the one before it"
        )


def _describe_bug(error: BaseException) -> str:
    """With the place where it was raised. Of several, the first: they are the work of one task."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    place = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ is not None else None
    where = "" if place is None else f" ({Path(place.filename).name}:{place.lineno}, in {place.name})"
    return f"{type(error).__name__}: {error}{where}"


def _live_row(taken: TakenLine) -> dict[str, Any]:
    return {**row_json(taken.line.record), "machine": taken.machine}
