"""Agents that an agent starts: one that is waited for, or several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.thread import Abort
from hookline.hooks.tools import Kind
from hookline.runtime.app import Agent
from hookline.runtime.children import Child, children_of
from hookline.runtime.exchange import MOST_DENIED_STOPS, Exchange
from hookline.runtime.happenings import Ended, Ending, Spawned
from hookline.runtime.interrupted import unfinished
from hookline.runtime.notes import take_notes
from hookline.runtime.threads import Errand, StoredThread
from hookline.runtime.tools.tool import Place

DEEPEST: Final = 5
MOST_AT_ONCE: Final = 8

_TASK: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "agent": {"type": "string", "description": "which agent"},
        "prompt": {"type": "string", "description": "its task, with all that it must know"},
    },
    "required": ["agent", "prompt"],
}


class StartAgent:
    """Hands a task to another agent, waits, and returns what it found out."""

    name = "agent"
    kind = Kind.AGENT
    schema: Final = _TASK

    def __init__(self, thread: StoredThread) -> None:
        self._thread = thread

    @property
    def description(self) -> str:
        return f"Hand a task to another agent and wait for its answer. Agents: {_listed(self._thread)}"

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        return await started(self._thread, input, place.call, _started_by(self._thread, place.call))


class StartAgents:
    """Hands tasks to several agents at once, waits for all, and returns what each found out."""

    name = "agents"
    kind = Kind.AGENT
    schema: Final[dict[str, Any]] = {
        "type": "object",
        "properties": {"tasks": {"type": "array", "items": _TASK, "maxItems": MOST_AT_ONCE}},
        "required": ["tasks"],
    }

    def __init__(self, thread: StoredThread) -> None:
        self._thread = thread

    @property
    def description(self) -> str:
        return f"Hand tasks to several agents at once and wait for all. Agents: {_listed(self._thread)}"

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        tasks = input.get("tasks")
        if not isinstance(tasks, list) or not 0 < len(tasks) <= MOST_AT_ONCE:
            return ToolResult(None, False, f"tasks: between 1 and {MOST_AT_ONCE} of them")
        before = _started_by(self._thread, place.call)
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(started(self._thread, task if isinstance(task, dict) else {}, place.call, before))
                for task in tasks
            ]
        results = [task.result() for task in running]
        told = [
            result.content if result.ok else {"error": result.error, **(result.content or {})} for result in results
        ]
        ok = any(result.ok for result in results)
        return ToolResult(told, ok, "" if ok else "; ".join(result.error for result in results))


async def started(parent: StoredThread, input: dict[str, Any], call: str, before: list[Child]) -> ToolResult:
    """One sub-agent from its first event to its last; its answer is the result.

    `before` are those that this call had started when it was cut off: the one with this task goes on.
    """
    task, wanted = input.get("prompt"), input.get("agent")
    agent = next((agent for agent in startable(parent) if wanted in (agent.id, agent.name)), None)
    if agent is None:
        return ToolResult(None, False, f"there is no agent {wanted!r}; there are {_listed(parent)}")
    if not isinstance(task, str) or not task.strip():
        return ToolResult(None, False, "prompt: the agent's task is missing")
    if parent.depth + 1 > DEEPEST:
        return ToolResult(None, False, f"agents may not start agents more than {DEEPEST} deep")
    for child in before:
        if (child.thread.agent.id, child.errand.task) == (agent.id, task):
            before.remove(child)
            return await (_gone_on(child) if child.cut_off else child.back())
    return await _begun(parent, agent, Errand(call, task))


async def _begun(parent: StoredThread, agent: Agent, errand: Errand) -> ToolResult:
    session = parent.session
    child = Child(parent, await session.open_thread(agent, parent), errand)
    about = child.about
    await session.decide(child.thread, "thread.created", {})
    await session.decide(parent, "subagent.created", {"subagent": about})
    start = await session.decide(parent, "subagent.start", {"subagent": about, "tool": {"input": child.given}})
    parent.put_off(start)
    if start.denied or start.halt:
        return ToolResult(None, False, start.reason or f"{agent.id} was denied")
    await child.sent()
    await take_notes(child.thread, start)
    return await _run(child, lambda exchange: exchange.given(errand.task))


async def _gone_on(child: Child) -> ToolResult:
    child.thread.abort = Abort()
    if not await child.thread.history():
        return await _run(child, lambda exchange: exchange.given(child.errand.task))
    return await _run(child, Exchange.taken_up if await unfinished(child.thread) else Exchange.answered_before)


async def _run(child: Child, begin: Callable[[Exchange], Awaitable[Ended]]) -> ToolResult:
    parent, thread = child.parent, child.thread
    parent.session.tell(Spawned(parent.id, parent.agent.id, thread.id, thread.agent.id, child.errand.task))
    child.errand.running = True
    try:
        return await _ended(child, begin)
    finally:
        child.errand.running = False


async def _ended(child: Child, begin: Callable[[Exchange], Awaitable[Ended]]) -> ToolResult:
    """Its end may be denied, so that it goes on, only so often."""
    exchange = Exchange(child.thread)
    ended = await _child(begin(exchange), child.thread)
    for denied in range(MOST_DENIED_STOPS + 1):
        decision = await child.tell_end(ended, exchange.answer, denied > 0)
        if not decision.denied or decision.halt or denied == MOST_DENIED_STOPS:
            break
        child.errand.result = None
        ended = await _child(exchange.told(decision), child.thread)
    return await child.back()


async def _child(exchange: Awaitable[Ended], child: StoredThread) -> Ended:
    """However the child ends, its parent goes on."""
    try:
        return await exchange
    except HooklineError as error:
        return Ended(child.id, child.agent.id, Ending.FAILED, str(error))


def _started_by(parent: StoredThread, call: str) -> list[Child]:
    return [child for child in children_of(parent) if child.errand.call == call]


def startable(thread: StoredThread) -> list[Agent]:
    """The agents that this one may start."""
    allowed, others = thread.agent.subagents, thread.session.runtime.app.agents
    if allowed is None:
        return [agent for agent in others if agent.id != thread.agent.id]
    return [agent for agent in others if agent.id in allowed]


def _listed(thread: StoredThread) -> str:
    agents = startable(thread)
    return "; ".join(f"{agent.id}{f' ({agent.description})' if agent.description else ''}" for agent in agents)
