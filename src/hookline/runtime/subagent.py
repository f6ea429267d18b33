"""A sub-agent as its parent sees it: its task and its result."""

from __future__ import annotations

from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.host import ToolResult
from hookline.lazy_dataclasses import dataclass
from hookline.runtime.notes import inject_notes
from hookline.runtime.thread import StoredThread, SubagentTask
from hookline.runtime.updates import Ending, ExchangeEnded

_ABANDONED: Final = "interrupted and not resumed"


@dataclass(frozen=True, slots=True)
class Subagent:
    parent: StoredThread
    thread: StoredThread
    subagent_task: SubagentTask

    @property
    def is_interrupted(self) -> bool:
        return self.subagent_task.result is None and not self.subagent_task.running

    @property
    def facts(self) -> dict[str, Any]:
        id, agent = self.thread.id, self.thread.agent
        who = {"id": id, "thread": {"id": id}, "agent": {"id": agent.id, "name": agent.name or agent.id}}
        more = {"name": agent.name or agent.id, "task": self.subagent_task.task, "depth": self.thread.depth}
        return {**who, **more, "execution": self.thread.progress.facts}

    @property
    def tool_input(self) -> dict[str, Any]:
        return {"agent_id": self.thread.id, "specialist": self.thread.agent.id, "task": self.subagent_task.task}

    async def store_task(self) -> None:
        """Stores the task. From now on subagent.end is fired in any case."""
        await self.thread.store.update_thread(
            self.thread.id, call=self.subagent_task.call, task=self.subagent_task.task
        )
        self.thread.subagent_task = self.subagent_task

    async def fire_end(self, ended: ExchangeEnded, last: str = "", again: bool = False) -> Decision:
        """`last` is the last text if it did not finish; `again` is True if its end was denied before."""
        self.subagent_task.result = result = _build_result(self.tool_input, ended, last)
        facts = {
            "subagent": self.facts,
            "tool": {"input": self.tool_input, "result": result, "ok": not result["errors"]},
            "stop": {"active": again, "message": result["summary"]},
        }
        try:
            decision = await self.parent.session.decide(self.parent, "subagent.end", facts)
        except BaseException:
            self.subagent_task.result = None
            raise
        await inject_notes(self.parent, decision)
        self.parent.defer_effects(decision)
        return decision

    async def store_result(self) -> ToolResult:
        """Stores and returns the result for the parent, after its end."""
        result = self.subagent_task.result or {}
        await self.thread.store.update_thread(self.thread.id, turn=None, result=result)
        errors = "; ".join(result["errors"])
        return ToolResult(result, not errors, errors)

    async def abandon(self) -> None:
        """Ends an interrupted sub-agent without running anything."""
        await abandon_subagents(self.thread)
        if self.thread.progress.in_turn:
            await self.thread.session.decide(self.thread, "turn.end", {})
            self.thread.progress.in_turn = False
        await self.fire_end(ExchangeEnded(self.thread.id, self.thread.agent.id, Ending.CANCELLED, _ABANDONED))
        await self.store_result()


def subagents_of(parent: StoredThread) -> list[Subagent]:
    """The sub-agents that hooks allowed it to start."""
    threads = parent.session.threads
    return [
        Subagent(parent, each, each.subagent_task)
        for each in threads
        if each.parent == parent.id and each.subagent_task is not None
    ]


async def abandon_subagents(parent: StoredThread) -> None:
    for child in subagents_of(parent):
        if child.is_interrupted:
            await child.abandon()


def _build_result(given: dict[str, Any], ended: ExchangeEnded, last: str) -> dict[str, Any]:
    fine = ended.ending in (Ending.ANSWERED, Ending.SESSION_STOP)
    status = "completed" if fine else str(ended.ending)
    return {**given, "status": status, "errors": [] if fine else [ended.text], "summary": ended.text if fine else last}
