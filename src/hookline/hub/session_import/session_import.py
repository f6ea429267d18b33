"""Sessions that flo or another hub exported: each gets an agent of its own, with the rules that it brought."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hookline.config.problem import Problem
from hookline.hub.pages.page_tools import is_origin
from hookline.hub.pages.saved_dom import MAX_DOM, PageStateTable
from hookline.hub.rules.rule_sets import BadRules, RuleSets, check_rules
from hookline.hub.session_import.flo_session_format import FloSession, FloTool
from hookline.hub.store.agent_table import AgentRow
from hookline.hub.workspaces.hub_agents import HubAgents
from hookline.hub.workspaces.hub_sessions import HubSessions
from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage import queries
from hookline.runtime.storage.database import Query, combine_queries
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow, ThreadRow

_NOTE: Final = "imported with a session"
_MAX_DEPTH: Final = 8  # of agents started by agents


@dataclass(frozen=True, slots=True)
class ImportedSession:
    session: SessionRow
    agent: AgentRow
    problems: tuple[str, ...]  # what of it is not used here
    rule_problems: tuple[Problem, ...]  # warnings about its rules


@dataclass(frozen=True, slots=True)
class SessionImport:
    store: Store
    agents: HubAgents
    rules: RuleSets
    sessions: HubSessions
    states: PageStateTable

    async def run(self, given: FloSession, by: str, user: str) -> ImportedSession:
        """Raises BadRules if its rules have errors: a session never comes without its guards. Raises Denied."""
        hooks = given.dependencies.hooks
        text = json.dumps({"hooks": hooks.get("hooks", hooks)}, indent=2) + "\n" if hooks else ""
        checked = await asyncio.to_thread(check_rules, text, "agent:imported") if text else None
        if checked is not None and checked.has_errors:
            raise BadRules(checked.problems)
        network, unused = _read_network(given)
        agent = await self.agents.add(by, **_about(given), network=network)
        try:
            if text:
                await self.rules.save(f"agent:{agent.id}", text, 0, by, _NOTE)
            row = await self.sessions.start_filled(
                Path(agent.workspace), agent.id, user, lambda session: self._fill(session, given)
            )
        except BaseException:
            await self._remove(agent)
            raise
        problems = (*unused, *_unused_parts(given))
        return ImportedSession(row, agent, problems, checked.problems if checked is not None else ())

    async def _fill(self, session: SessionRow, given: FloSession) -> None:
        """In one transaction."""
        answers = sum(message["role"] == "assistant" for message in given.messages())
        changed = {"turns": answers, "created": min(given.metadata.createdAt / 1000, time.time())}
        works: list[Query[Any]] = [queries.update_session(session.id, changed)]
        works += [queries.upsert_value(session.agent, key, value) for key, value in given.storage.items()]
        works += _write_thread(session.id, given)
        works += _write_subagents(session, session.id, given, depth=1)
        await self.store.database.write(combine_queries(works))
        if given.domState is not None and _fits(given.domState.viewportHtml):
            await self.states.save(session.id, given.domState.viewportHtml)

    async def _remove(self, agent: AgentRow) -> None:
        await self.agents.remove(agent.id)
        await self.rules.remove(f"agent:{agent.id}")
        shutil.rmtree(agent.workspace, ignore_errors=True)  # it was made for this session, and nothing ran in it


def _about(given: FloSession) -> dict[str, Any]:
    config = given.config
    model = config.model
    if model and config.provider and ":" not in model:
        model = f"{config.provider}:{model}"
    name = "".join(letter for letter in config.name or given.agentId if letter.isprintable()).strip()[:100]
    tools = [tool.name if isinstance(tool, FloTool) else tool for tool in config.tools]
    return {"name": name or "imported", "prompt": config.systemPrompt, "model": model, "tools": tools}


def _read_network(given: FloSession) -> tuple[list[str], list[str]]:
    """Origins that the page may reach, and what is not one: it is not allowed."""
    policy = given.config.networkPolicy
    if policy.mode != "allowlist":
        return [], [f"config.networkPolicy.mode: {policy.mode!r} is not used; name the origins of the agent"]
    origins, unused = [], []
    for domain in policy.allowedDomains:
        origin = (domain if "://" in domain else f"https://{domain}").removesuffix("/")
        if is_origin(origin):
            origins.append(origin)
        else:
            unused.append(f"config.networkPolicy.allowedDomains: {domain!r} is not an origin, so it is not allowed")
    return origins, unused


def _write_thread(thread: str, given: FloSession) -> Iterator[Query[Any]]:
    for message in given.messages():
        yield queries.insert_message(thread, message)
    for file in given.files:
        yield queries.upsert_file(thread, file.path, file.decode(), mimetypes.guess_type(file.path)[0] or "text/plain")


def _write_subagents(session: SessionRow, parent: str, given: FloSession, depth: int) -> Iterator[Query[Any]]:
    for each in given.subagents if depth <= _MAX_DEPTH else ():
        id = f"thread_{uuid.uuid4().hex[:16]}"
        yield queries.insert_thread(
            ThreadRow(id, session.id, each.agentId, parent, depth, each.metadata.createdAt / 1000)
        )
        yield from _write_thread(id, each)
        yield from _write_subagents(session, id, each, depth + 1)


def _fits(dom: str) -> bool:
    return len(dom.encode("utf-8", "replace")) <= MAX_DOM


def _unused_parts(given: FloSession) -> list[str]:
    dependencies, dom = given.dependencies, given.domState
    found = [f"dependencies.skills: {each.name} is not imported; add it to the agent" for each in dependencies.skills]
    found += [f"dependencies.extensions: {each.id} is not used here" for each in dependencies.extensions]
    if dom is not None and not _fits(dom.viewportHtml):
        found.append(f"domState.viewportHtml is larger than {MAX_DOM >> 20} MB: the page begins empty")
    if dom is not None and (dom.listeners or dom.headHtml):
        found.append("domState.listeners and headHtml are not used: the page has its body only")
    if given.ignores_hooks:
        found.append("dependencies.hooks: a session of version 1 has none, so they are not used; write version 2")
    if any(each.dependencies.hooks or each.ignores_hooks for each in _all_subagents(given)):
        found.append("subagents: hooks of agents that it started are not used; those of the session hold for all")
    return found


def _all_subagents(given: FloSession) -> Iterator[FloSession]:
    for each in given.subagents:
        yield each
        yield from _all_subagents(each)
