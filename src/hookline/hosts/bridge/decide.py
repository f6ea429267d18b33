"""A call of an agent → its answer."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn

from hookline.config.problem import Severity
from hookline.engine.account import Decision
from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, FailureKind, Note, Verdict
from hookline.hosts.agent import CodingAgent, Reply
from hookline.hosts.bridge import client
from hookline.hosts.bridge.call import Call
from hookline.hosts.bridge.deadline import answer_until, hooks_until
from hookline.hosts.bridge.engine import Engine, Where
from hookline.hosts.bridge.hurried import Hurried
from hookline.hosts.bridge.lacking import Lacking
from hookline.hosts.callers import VARIABLES, really_called_by
from hookline.hosts.table import agent as agent_named
from hookline.project import project_directories
from hookline.runners.environment import inherited

CLOSED: Final = frozenset({"tool.before", "approval.request", "prompt.submit", "subagent.start"})
"""The events that are denied where nobody could judge them. Not `stop`: to deny it is to go on."""

_STAND_IN: Final = {"prompt": "…"}  # for a payload that cannot be read

log = logging.getLogger("hookline")


class Unreadable(Exception):
    """A payload that says nothing we could judge."""


async def decide(call: Call, engine: Engine) -> Reply:
    """The agent's answer, always, and in time: what could not be judged is denied where `CLOSED` says so."""
    token = inherited.set(call.environment)
    try:
        agent = agent_named(call.agent)
        return await _in_time(agent, call, engine)
    except HooklineError as error:
        return Reply(stderr=f"hookline: {error}", exit_code=1)
    except Exception as error:  # not even the agent's own words can be found
        log.exception("%s %s: this is a bug in hookline", call.agent, call.event)
        return Reply(stderr=_bug(error), exit_code=client.exit_code_without_answer(call.event))
    finally:
        inherited.reset(token)


async def _in_time(agent: CodingAgent, call: Call, engine: Engine) -> Reply:
    try:
        async with asyncio.timeout(answer_until(call.agent, call.event, call.spent).total_seconds()):
            return await _Deciding(agent, call, engine).reply()
    except TimeoutError:
        log.error("%s %s: not decided in time", call.agent, call.event)
        return unjudged(agent, call.event, "the hooks did not answer in time")
    except Exception as error:  # a bug of ours must not let a tool run, nor show itself to the agent
        log.exception("%s %s: this is a bug in hookline", call.agent, call.event)
        return unjudged(agent, call.event, _bug(error))


def _bug(error: Exception) -> str:
    return f"hookline has a bug ({type(error).__name__}); its log says more"


def unjudged(agent: CodingAgent, event: str, why: str) -> Reply:
    """The safest answer where there is no decision."""
    events = agent.read(event, _STAND_IN)
    return agent.reply(event, _STAND_IN, [_without_hooks(each, why) for each in events])


def _without_hooks(event: Event, why: str) -> Decision:
    if event.name in CLOSED:
        return Decision(event, Verdict.DENY, f"Blocked by hookline: {why}")
    return Decision(event, notes=(Note(f"hookline: {why}", Audience.USER),))


def quiet(agent: CodingAgent, event: str) -> Reply:
    return agent.reply(event, _STAND_IN, [Decision(each) for each in agent.read(event, _STAND_IN)])


@dataclass(frozen=True, slots=True)
class _Deciding:
    agent: CodingAgent
    call: Call
    engine: Engine

    async def reply(self) -> Reply:
        call = self.call
        until = asyncio.get_running_loop().time()
        until += hooks_until(call.agent, call.event, call.spent).total_seconds()
        workspace = self._workspace()
        try:
            payload = _payload(call.payload)
        except Unreadable as unreadable:
            return await self._unreadable(str(unreadable), workspace)
        caller = _caller(call, payload)
        if caller is None:
            return quiet(self.agent, call.event)
        speaking = self if caller == call.agent else replace(self, agent=agent_named(caller))
        events = speaking.agent.read(call.event, payload, str(workspace or ""))

        async def each() -> list[Decision]:
            return [await speaking._decision(event, workspace, until) for event in events]

        shared = await self.engine.once(call, each)
        decisions = [replace(made, notes=()) for made in shared.decisions] if shared.again else shared.decisions
        return speaking.agent.reply(call.event, payload, decisions)

    async def _decision(self, event: Event, workspace: Path | None, until: float) -> Decision:
        cwd = _existing(event.facts.get("cwd")) or workspace or _existing(self.call.cwd) or Path("/")
        event = self._completed(event, cwd, workspace)
        book = await self._book(cwd, workspace)
        sessions = self.engine.sessions(self.call.place)
        lacks = Lacking(self.agent, self.call.event, sessions)
        held = lacks.stopped(event)
        if held is not None:
            return held
        heard = _without_waiting(await book.decide(event, Hurried(self.engine.here, sessions, until)))
        decision = lacks.made_up(event, heard)
        untold = sessions.unsaid(event, _to_tell(decision, book)) if decision.failures or book.problems else []
        if event.name == "session.end":
            sessions.end(event)
        if not untold:
            return decision
        return replace(decision, notes=(*decision.notes, *(Note(text, Audience.USER) for text in untold)))

    async def _book(self, cwd: Path, workspace: Path | None) -> Book:
        """Of the project where the agent works, unless it has left the one that it was started in."""
        place = self.call.place
        inside = workspace is None or _real(workspace) in project_directories(cwd, place.home)
        directory = cwd if inside or workspace is None else workspace
        return await self.engine.book(Where(directory, place, self.agent.runs_itself))

    def _workspace(self) -> Path | None:
        found = (_existing(self.call.variable(name)) for name in self.agent.project_variables)
        return next((each for each in found if each is not None), None)

    def _completed(self, event: Event, cwd: Path, workspace: Path | None) -> Event:
        now = datetime.fromtimestamp(self.engine.here.clock.wall(), UTC)
        facts = {"time": now.isoformat(timespec="seconds").replace("+00:00", "Z"), "user": {"name": self.call.user}}
        place = {"cwd": str(cwd), "workspace": str(workspace or event.facts.get("workspace") or cwd)}
        return Event(event.name, {**facts, **event.facts, **place})

    async def _unreadable(self, why: str, workspace: Path | None) -> Reply:
        """Denied only if there is a hook that should have judged it, or nobody knows in which project it came."""
        log.warning("%s %s: %s", self.call.agent, self.call.event, why)
        where = _existing(self.call.cwd) or workspace
        if where is None:
            return unjudged(self.agent, self.call.event, why)
        book = await self._book(where, workspace)
        events = self.agent.read(self.call.event, _STAND_IN)
        if any(hook.event == event.name and hook.enabled for hook in book.hooks for event in events):
            return unjudged(self.agent, self.call.event, why)
        return quiet(self.agent, self.call.event)


def _payload(data: bytes) -> Mapping[str, Any]:
    """Bytes that are no UTF-8 are judged as what they look like; whatever else is no JSON object is not readable."""
    if len(data) > client.LARGEST:
        raise Unreadable("the agent's payload is too large to be judged")
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unreadable("the agent's payload is not JSON that can be judged") from None
    if not isinstance(found, dict):
        raise Unreadable("the agent's payload is not a JSON object")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _caller(call: Call, payload: Mapping[str, Any]) -> str | None:
    """Whose words to speak, where another agent obeys our entry in the settings of this one.

    None if that agent has entries of its own: there it is answered.
    """
    caller = really_called_by(call.agent, {name: call.variable(name) for name in VARIABLES}, payload)
    if caller == call.agent:
        return caller
    from hookline.hosts.install.machine import Machine
    from hookline.hosts.install.plan import has_entry

    environ = {os.fsdecode(name): os.fsdecode(value) for name, value in call.environment.items()}
    other = agent_named(caller)
    if has_entry(other, Machine(call.place.home, Path(call.cwd), environ)):
        return None
    return caller if other.read(call.event, payload) else call.agent


def _without_waiting(decision: Decision) -> Decision:
    """That a hook waits for trust is told once in a session, and not by the hook at each event."""
    waiting = {failure.text for failure in decision.failures if failure.kind is FailureKind.NOT_TRUSTED}
    if not waiting:
        return decision
    return replace(decision, notes=tuple(note for note in decision.notes if note.text not in waiting))


def _to_tell(decision: Decision, book: Book) -> Iterable[str]:
    """What the user should know, each once in a session."""
    for failure in decision.failures:
        if failure.text not in decision.reason:
            yield f"hookline: {failure.text} ({failure.kind}, hook {failure.hook})"
    errors = [problem for problem in book.problems if problem.severity is Severity.ERROR]
    if errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        yield f"hookline: {errors[0]}{more}; run `hookline check`"


def _existing(path: object) -> Path | None:
    """An absolute path of a directory; what a payload says may be anything."""
    if not isinstance(path, str) or "\0" in path or not os.path.isabs(path):
        return None
    try:
        return Path(path) if os.path.isdir(path) else None
    except (OSError, ValueError):
        return None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
