"""Agents that an agent starts: one that is waited for, or several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.runtime.app import Agent
from hookline.runtime.exchange import MOST_DENIED_STOPS, Exchange
from hookline.runtime.happenings import Ended, Ending, Spawned
from hookline.runtime.notes import take_notes
from hookline.runtime.threads import StoredThread
from hookline.runtime.tools.tool import Place

if TYPE_CHECKING:
    from hookline.runtime.session import Session

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
        return await started(self._thread, input)


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
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(started(self._thread, task if isinstance(task, dict) else {})) for task in tasks
            ]
        results = [task.result() for task in running]
        told = [
            result.content if result.ok else {"error": result.error, **(result.content or {})} for result in results
        ]
        ok = any(result.ok for result in results)
        return ToolResult(told, ok, "" if ok else "; ".join(result.error for result in results))


async def started(parent: StoredThread, input: dict[str, Any]) -> ToolResult:
    """One sub-agent from its first event to its last; its answer is the result."""
    session, task, wanted = parent.session, input.get("prompt"), input.get("agent")
    agent = next((agent for agent in startable(parent) if wanted in (agent.id, agent.name)), None)
    if agent is None:
        return ToolResult(None, False, f"there is no agent {wanted!r}; there are {_listed(parent)}")
    if not isinstance(task, str) or not task.strip():
        return ToolResult(None, False, "prompt: the agent's task is missing")
    if parent.depth + 1 > DEEPEST:
        return ToolResult(None, False, f"agents may not start agents more than {DEEPEST} deep")
    child = await session.open_thread(agent, parent)
    about: dict[str, Any] = {
        "id": child.id,
        "thread": {"id": child.id},
        "agent": {"id": agent.id, "name": agent.name or agent.id},
    }
    about |= {"name": agent.name or agent.id, "task": task, "depth": child.depth}
    about["execution"] = child.progress.facts
    await session.decide(child, "thread.created", {})
    await session.decide(parent, "subagent.created", {"subagent": about})
    given = {"agent_id": child.id, "specialist": agent.id, "task": task}
    start = await session.decide(parent, "subagent.start", {"subagent": about, "tool": {"input": given}})
    parent.put_off(start)
    if start.denied or start.halt:
        return ToolResult(None, False, start.reason or f"{agent.id} was denied")
    await take_notes(child, start)
    session.tell(Spawned(parent.id, parent.agent.id, child.id, agent.id, task))
    return await _run(session, parent, child, (about, given))


async def _run(
    session: Session, parent: StoredThread, child: StoredThread, said: tuple[dict[str, Any], dict[str, Any]]
) -> ToolResult:
    about, given = said
    exchange = Exchange(child)
    ended = await _child(exchange.given(given["task"]), child)
    for denied in range(MOST_DENIED_STOPS + 1):
        result = _result(given, ended, exchange.answer)
        facts = {
            "subagent": {**about, "execution": child.progress.facts},
            "tool": {"input": given, "result": result, "ok": not result["errors"]},
            "stop": {"active": denied > 0, "message": result["summary"]},
        }
        decision = await session.decide(parent, "subagent.end", facts)
        await take_notes(parent, decision)
        parent.put_off(decision)
        if not decision.denied or decision.halt or denied == MOST_DENIED_STOPS:
            break
        ended = await _child(exchange.told(decision), child)
    errors = "; ".join(result["errors"])
    return ToolResult(result, not errors, errors)


async def _child(exchange: Awaitable[Ended], child: StoredThread) -> Ended:
    """However the child ends, its parent goes on."""
    try:
        return await exchange
    except HooklineError as error:
        return Ended(child.id, child.agent.id, Ending.FAILED, str(error))


def _result(given: dict[str, Any], ended: Ended, last: str) -> dict[str, Any]:
    """`last` are the last words of one that did not come to its end."""
    fine = ended.ending in (Ending.ANSWERED, Ending.SESSION_STOP)
    status = "completed" if fine else str(ended.ending)
    return {**given, "status": status, "errors": [] if fine else [ended.text], "summary": ended.text if fine else last}


def startable(thread: StoredThread) -> list[Agent]:
    """The agents that this one may start."""
    allowed, others = thread.agent.subagents, thread.session.runtime.app.agents
    if allowed is None:
        return [agent for agent in others if agent.id != thread.agent.id]
    return [agent for agent in others if agent.id in allowed]


def _listed(thread: StoredThread) -> str:
    agents = startable(thread)
    return "; ".join(f"{agent.id}{f' ({agent.description})' if agent.description else ''}" for agent in agents)
