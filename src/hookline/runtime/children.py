"""Sub-agents as their parent sees them: what each was started for, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hookline.engine.account import Decision
from hookline.hooks.host import ToolResult
from hookline.runtime.happenings import Ended, Ending
from hookline.runtime.notes import take_notes
from hookline.runtime.threads import Errand, StoredThread

_LEFT: Final = "interrupted, and nobody went on with it"


@dataclass(frozen=True, slots=True)
class Child:
    parent: StoredThread
    thread: StoredThread
    errand: Errand

    @property
    def cut_off(self) -> bool:
        return self.errand.result is None and not self.errand.running

    @property
    def about(self) -> dict[str, Any]:
        id, agent = self.thread.id, self.thread.agent
        who = {"id": id, "thread": {"id": id}, "agent": {"id": agent.id, "name": agent.name or agent.id}}
        more = {"name": agent.name or agent.id, "task": self.errand.task, "depth": self.thread.depth}
        return {**who, **more, "execution": self.thread.progress.facts}

    @property
    def given(self) -> dict[str, Any]:
        return {"agent_id": self.thread.id, "specialist": self.thread.agent.id, "task": self.errand.task}

    async def sent(self) -> None:
        """From now on it will have an end, whatever happens."""
        await self.thread.store.touch_thread(self.thread.id, call=self.errand.call, task=self.errand.task)
        self.thread.errand = self.errand

    async def tell_end(self, ended: Ended, last: str = "", again: bool = False) -> Decision:
        """`last` are the last words of one that did not come to its end; `again`: it had to go on before."""
        self.errand.result = result = _result(self.given, ended, last)
        facts = {
            "subagent": self.about,
            "tool": {"input": self.given, "result": result, "ok": not result["errors"]},
            "stop": {"active": again, "message": result["summary"]},
        }
        try:
            decision = await self.parent.session.decide(self.parent, "subagent.end", facts)
        except BaseException:
            self.errand.result = None
            raise
        await take_notes(self.parent, decision)
        self.parent.put_off(decision)
        return decision

    async def back(self) -> ToolResult:
        """What its parent gets of it, once it has had its end."""
        result = self.errand.result or {}
        await self.thread.store.touch_thread(self.thread.id, turn=None, result=result)
        errors = "; ".join(result["errors"])
        return ToolResult(result, not errors, errors)

    async def leave(self) -> None:
        """Nobody goes on with what was cut off: its end comes, and nothing is run."""
        await leave_children(self.thread)
        if self.thread.progress.in_turn:
            await self.thread.session.decide(self.thread, "turn.end", {})
            self.thread.progress.in_turn = False
        await self.tell_end(Ended(self.thread.id, self.thread.agent.id, Ending.CANCELLED, _LEFT))
        await self.back()


def children_of(parent: StoredThread) -> list[Child]:
    """Those that hooks let it start."""
    threads = parent.session.threads
    return [
        Child(parent, each, each.errand) for each in threads if each.parent == parent.id and each.errand is not None
    ]


async def leave_children(parent: StoredThread) -> None:
    for child in children_of(parent):
        if child.cut_off:
            await child.leave()


def _result(given: dict[str, Any], ended: Ended, last: str) -> dict[str, Any]:
    fine = ended.ending in (Ending.ANSWERED, Ending.SESSION_STOP)
    status = "completed" if fine else str(ended.ending)
    return {**given, "status": status, "errors": [] if fine else [ended.text], "summary": ended.text if fine else last}
