"""Turns the command line's options into a runtime and a session, and logs decisions for /hooks and /why."""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from hookline.cli.context import current_directory, home
from hookline.cli.options import explain_refusal, on_problem
from hookline.config.problem import Problem
from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import dataclass
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import Agent
from hookline.runtime.models.model import Model
from hookline.runtime.runtime import NO_MODEL, Runtime
from hookline.runtime.settings import Settings
from hookline.runtime.storage.tables import SessionRow
from hookline.runtime.update_json import applied_accounts, changed_facts
from hookline.runtime.updates import DecisionMade, Update

_NOT_TRUSTED: Final = "no trusted file names a model. Run `hookline trust`, or give --model."
_MAX_SESSIONS: Final = 1000  # searched, of all directories


@dataclass(frozen=True, slots=True)
class RunOptions:
    model: str | None = None
    agent: str | None = None
    app: str | None = None
    config: str | None = None
    dialect: str | None = None  # of the config
    store: str | None = None
    resume: str | None = None  # an id; "" means the last session of this directory
    keep_going: bool = False  # start although a config file has errors

    def settings(self, **more: object) -> Settings:
        """With the home and environment of this process."""
        known = {
            "home": home(),
            "env": dict(os.environ),
            "app_file": None if self.app is None else _existing_file(self.app),
            "config": None if self.config is None else _existing_file(self.config),
            "dialect": self.dialect,
            "model": self.model,
            "store": self.store,
            "on_problem": on_problem(self.keep_going),
        }
        return Settings(**{**known, **more})  # type: ignore[arg-type]


def _existing_file(name: str) -> Path:
    path = Path(name)
    if not path.exists():
        raise HooklineError(f"{name} does not exist")
    return path


@asynccontextmanager
async def open_runtime(options: RunOptions, **more: object) -> AsyncIterator[Runtime]:
    """Raises HooklineError if an agent cannot work here."""
    async with AsyncExitStack() as stack:
        with explain_refusal():
            runtime = await stack.enter_async_context(Runtime.open(current_directory(), options.settings(**more)))
        yield runtime


@dataclass(frozen=True, slots=True)
class SessionStart:
    """A session that is about to start or to be resumed."""

    id: str
    agent: str
    model: str
    row: SessionRow | None = None  # of a session that is resumed

    async def start(self, runtime: Runtime) -> tuple[AgentSession, bool]:
        """Returns the session and whether it was cut off. Raises Denied if hooks do not let it start."""
        if self.row is None:
            return await runtime.start(self.agent, self.id), False
        session = await runtime.reopen(self.id)
        return session, self.row.ended is None and await session.is_unfinished()


async def prepare_session(runtime: Runtime, options: RunOptions) -> SessionStart:
    """Raises HooklineError, before anything happens, if the session, the agent or the model is missing."""
    row = None if options.resume is None else await find_session(runtime, options.resume)
    agent = runtime.agent(row.agent if row is not None else options.agent)
    model = await _find_model(runtime, options, agent)
    id = row.id if row is not None else f"session_{uuid.uuid4().hex[:16]}"
    return SessionStart(id, agent.id, model.name, row)


async def _find_model(runtime: Runtime, options: RunOptions, agent: Agent) -> Model:
    named = agent.side_a.prompt.model or agent.model
    if options.model is None and named is None and runtime.app.model is None:
        waits = any(isinstance(each, Problem) and each.code == "not-trusted" for each in runtime.problems)
        raise HooklineError(_NOT_TRUSTED if waits else f"{NO_MODEL}. `hookline run --demo` needs none.")
    return await runtime.model(named)


async def find_session(runtime: Runtime, id: str, but: str | None = None) -> SessionRow:
    """Finds it by its id or the start of its id; "" means the last one of this directory except `but`.

    Raises HooklineError if there is none, or more than one.
    """
    if not id:
        past = [row for row in await sessions_here(runtime) if row.id != but]
        if not past:
            raise HooklineError(f"no {'other ' if but else ''}session to resume in this directory")
        return past[0]
    row = await runtime.store.session(id)
    if row is not None:
        return row
    begins = id.removeprefix("session_")
    matching = [row for row in await sessions_here(runtime) if row.id.removeprefix("session_").startswith(begins)]
    if len(matching) != 1:
        raise HooklineError(f"{'no session' if not matching else 'more than one session'} matches {id!r}")
    return matching[0]


async def sessions_here(runtime: Runtime) -> list[SessionRow]:
    """The sessions of this directory that have messages, newest first."""
    here = [row for row in await runtime.store.sessions(_MAX_SESSIONS) if row.workspace == str(runtime.workspace)]
    return [row for row in here if row.turns or await runtime.store.messages(row.id, limit=1)]


async def session_table(runtime: Runtime) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = []
    for row in (await sessions_here(runtime))[:20]:
        first = await runtime.store.first_prompt(row.id)
        prompt = str(first.get("content") or "") if first is not None else ""
        state = "open" if row.ended is None else row.ended
        rows.append(
            (row.id, _format_age(time.time() - row.last_used), str(row.turns), state, " ".join(prompt.split())[:60])
        )
    return ("session", "last used", "turns", "ended", "began with"), rows


def _format_age(seconds: float) -> str:
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


_MAX_DECISIONS: Final = 100


class DecisionLog:
    def __init__(self) -> None:
        self._fires: Counter[tuple[str, str, str]] = Counter()
        self._decisions: deque[Decision] = deque(maxlen=_MAX_DECISIONS)

    def __call__(self, update: Update) -> None:
        if isinstance(update, DecisionMade):
            self._decisions.append(update.decision)
            self._fires.update(account.hook.key for account in applied_accounts(update.decision))

    def fire_count(self, hook: Hook) -> int:
        return self._fires[hook.key]

    def decision(self, back: int = 1) -> Decision | None:
        """The last decision that had an effect, or the last one if none had; `back` counts from the end."""
        effective = [each for each in self._decisions if each.verdict or each.halt or changed_facts(each)]
        found = effective or list(self._decisions)
        return found[-back] if 1 <= back <= len(found) else None
