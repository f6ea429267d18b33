"""Tools that start sub-agents: one, or several at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hooks.host import Abort, ToolResult
from hookline.hooks.tools import ToolKind
from hookline.runtime.apps.app import Agent
from hookline.runtime.exchange import Exchange
from hookline.runtime.notes import inject_notes
from hookline.runtime.recovery import is_unfinished
from hookline.runtime.subagent import Subagent, subagents_of
from hookline.runtime.thread import StoredThread, SubagentTask
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.runtime.updates import Ending, ExchangeEnded, SubagentStarted

MAX_DEPTH: Final = 5
MAX_PARALLEL: Final = 8

_TASK_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "agent": {"type": "string", "description": "which agent"},
        "prompt": {"type": "string", "description": "its task, with everything that it needs to know"},
    },
    "required": ["agent", "prompt"],
}


class StartAgentTool:
    """Hands a task to another agent, waits, and returns what it found out."""

    name = "agent"
    kind = ToolKind.AGENT
    schema: Final = _TASK_SCHEMA

    def __init__(self, thread: StoredThread) -> None:
        self._thread = thread

    @property
    def description(self) -> str:
        return f"Hand a task to another agent and wait for its answer. Agents: {_format_agents(self._thread)}"

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        return await start_subagent(self._thread, input, context.call, _subagents_of_call(self._thread, context.call))


class StartAgentsTool:
    """Hands tasks to several agents at once, waits for all, and returns what each found out."""

    name = "agents"
    kind = ToolKind.AGENT
    schema: Final[dict[str, Any]] = {
        "type": "object",
        "properties": {"tasks": {"type": "array", "items": _TASK_SCHEMA, "maxItems": MAX_PARALLEL}},
        "required": ["tasks"],
    }

    def __init__(self, thread: StoredThread) -> None:
        self._thread = thread

    @property
    def description(self) -> str:
        return f"Hand tasks to several agents at once and wait for all. Agents: {_format_agents(self._thread)}"

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        tasks = input.get("tasks")
        if not isinstance(tasks, list) or not 0 < len(tasks) <= MAX_PARALLEL:
            return ToolResult(None, False, f"tasks: between 1 and {MAX_PARALLEL} of them")
        before = _subagents_of_call(self._thread, context.call)
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(
                    start_subagent(self._thread, task if isinstance(task, dict) else {}, context.call, before)
                )
                for task in tasks
            ]
        results = [task.result() for task in running]
        contents = [
            result.content if result.ok else {"error": result.error, **(result.content or {})} for result in results
        ]
        ok = any(result.ok for result in results)
        return ToolResult(contents, ok, "" if ok else "; ".join(result.error for result in results))


async def start_subagent(parent: StoredThread, input: dict[str, Any], call: str, before: list[Subagent]) -> ToolResult:
    """Runs one sub-agent from its first event to its last; its answer is the result.

    `before` are the sub-agents that this call started before it was interrupted: the one with this task continues.
    """
    task, wanted = input.get("prompt"), input.get("agent")
    agent = next((agent for agent in startable_agents(parent) if wanted in (agent.id, agent.name)), None)
    if agent is None:
        return ToolResult(None, False, f"there is no agent {wanted!r}; there are {_format_agents(parent)}")
    if not isinstance(task, str) or not task.strip():
        return ToolResult(None, False, "prompt: the agent's task is missing")
    if parent.depth + 1 > MAX_DEPTH:
        return ToolResult(None, False, f"agents may start agents at most {MAX_DEPTH} levels deep")
    for child in before:
        if (child.thread.agent.id, child.subagent_task.task) == (agent.id, task):
            before.remove(child)
            return await (_continue_interrupted(child) if child.is_interrupted else child.store_result())
    return await _start_new(parent, agent, SubagentTask(call, task))


async def _start_new(parent: StoredThread, agent: Agent, errand: SubagentTask) -> ToolResult:
    session = parent.session
    child = Subagent(parent, await session.open_thread(agent, parent), errand)
    about = child.facts
    await session.decide(child.thread, "thread.created", {})
    await session.decide(parent, "subagent.created", {"subagent": about})
    start = await session.decide(parent, "subagent.start", {"subagent": about, "tool": {"input": child.tool_input}})
    parent.defer_effects(start)
    if start.denied or start.halt:
        return ToolResult(None, False, start.full_reason or f"{agent.id} was denied")
    await child.store_task()
    await inject_notes(child.thread, start)
    return await _run_subagent(child, lambda exchange: exchange.start_task(errand.task))


async def _continue_interrupted(child: Subagent) -> ToolResult:
    child.thread.abort = Abort()
    if not await child.thread.history():
        return await _run_subagent(child, lambda exchange: exchange.start_task(child.subagent_task.task))
    return await _run_subagent(
        child, Exchange.resume if await is_unfinished(child.thread) else Exchange.finish_answered
    )


async def _run_subagent(child: Subagent, begin: Callable[[Exchange], Awaitable[ExchangeEnded]]) -> ToolResult:
    parent, thread = child.parent, child.thread
    parent.session.emit(
        SubagentStarted(parent.id, parent.agent.id, thread.id, thread.agent.id, child.subagent_task.task)
    )
    child.subagent_task.running = True
    try:
        return await _run_until_end_allowed(child, begin)
    finally:
        child.subagent_task.running = False


async def _run_until_end_allowed(child: Subagent, begin: Callable[[Exchange], Awaitable[ExchangeEnded]]) -> ToolResult:
    """Hooks may deny its end, so that it continues, at most MAX_DENIED_STOPS times."""
    exchange = Exchange(child.thread)
    ended = await _await_exchange(begin(exchange), child.thread)
    for denied in range(MAX_DENIED_STOPS + 1):
        decision = await child.fire_end(ended, exchange.answer, denied > 0)
        if not decision.denied or decision.halt or denied == MAX_DENIED_STOPS:
            break
        child.subagent_task.result = None
        ended = await _await_exchange(exchange.continue_after(decision), child.thread)
    return await child.store_result()


async def _await_exchange(exchange: Awaitable[ExchangeEnded], child: StoredThread) -> ExchangeEnded:
    """The parent continues however the child ends."""
    try:
        return await exchange
    except HooklineError as error:
        return ExchangeEnded(child.id, child.agent.id, Ending.FAILED, str(error))


def _subagents_of_call(parent: StoredThread, call: str) -> list[Subagent]:
    return [child for child in subagents_of(parent) if child.subagent_task.call == call]


def startable_agents(thread: StoredThread) -> list[Agent]:
    """The agents that this one may start."""
    allowed, others = thread.agent.subagents, thread.session.runtime.app.agents
    if allowed is None:
        return [agent for agent in others if agent.id != thread.agent.id]
    return [agent for agent in others if agent.id in allowed]


def _format_agents(thread: StoredThread) -> str:
    agents = startable_agents(thread)
    return "; ".join(f"{agent.id}{f' ({agent.description})' if agent.description else ''}" for agent in agents)
