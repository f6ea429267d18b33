"""What hooks can reach while an agent of ours runs: its tools, its model, its threads, the one who watches."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookline.engine.account import Decision
from hookline.engine.calls import decided_call
from hookline.errors import Unavailable
from hookline.hooks.event import Event
from hookline.hooks.host import Host, Notice, ToolResult, asking
from hookline.hooks.outcome import Verdict
from hookline.runners.here import Here
from hookline.runtime.approvals import Refused, agreed
from hookline.runtime.gate import Call, execute
from hookline.runtime.happenings import Called, Calling, Noticed
from hookline.runtime.models.model import Request, Said
from hookline.runtime.notes import take_notes
from hookline.runtime.storage.rows import ApprovalRow
from hookline.runtime.threads import StoredThread
from hookline.runtime.tools.tool import Tool

if TYPE_CHECKING:
    from hookline.runtime.session import Session


class ThreadHost(Here):
    """This machine, and the thread that the hooks are asked about."""

    def __init__(self, session: Session, thread: StoredThread) -> None:
        super().__init__(session.counts, session.clock, session.runtime.slots)
        self._session = session
        self._thread = thread

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """A call like any other: hooks decide about it under the tool's own name, whatever it was called by."""
        tool = self._thread.toolbox.find(name)
        if tool is None:
            raise Unavailable(self._thread.toolbox.why_not(name))
        asked = asking.get()
        call = Call(f"call_{uuid.uuid4().hex[:12]}", tool.name, input, asked.hook if asked else "agent")
        return await OwnCall(self._thread, call).made(self, tool)

    async def complete(self, prompt: str) -> str:
        model = await self._session.model_of(self._thread)
        pieces = model.stream(Request(({"role": "user", "content": prompt},)))
        return "".join([piece.text async for piece in pieces if isinstance(piece, Said)])

    async def publish(self, notice: Notice) -> None:
        await super().publish(notice)
        self._session.tell(Noticed(self._thread.id, self._thread.agent.id, notice))

    def thread(self, id: str) -> StoredThread:
        return self._session.thread(id)


class OwnCall:
    """A call that a hook makes, or somebody's code: whoever watches sees it as any other of its thread."""

    def __init__(self, thread: StoredThread, call: Call) -> None:
        self._thread = thread
        self._session = thread.session
        self._call = call
        self._ran = False
        self._question: tuple[Decision, ApprovalRow] | None = None  # to which a person said yes

    async def made(self, host: ThreadHost, tool: Tool) -> ToolResult:
        facts = {"tool": {"kind": str(tool.kind), "id": self._call.id, "caller": self._call.caller}}
        result = await decided_call(self, host, facts, (tool.name, self._call.input), self._execute)
        self._session.tell(Called(self._thread.id, self._thread.agent.id, self._call, result, self._ran))
        return result

    async def decide(self, event: Event, host: Host) -> Decision:
        """What hooks ask for beside their verdict is for the agent, whose turn goes on."""
        decision = await self._session.decide(self._thread, event.name, event.facts)
        self._session.tell(Calling(self._thread.id, self._thread.agent.id, self._call, decision))
        await take_notes(self._thread, decision)
        self._thread.put_off(decision)
        return await self._answered(decision) if decision.verdict is Verdict.ASK else decision

    async def _answered(self, decision: Decision) -> Decision:
        """With a person's answer to its question as the verdict."""
        left = decision.event.read(("tool", "input"))
        if not isinstance(left, dict):
            return decision
        try:
            approval = await agreed(self._thread, replace(self._call, input=left), decision)
        except Refused as refused:
            if refused.halted is not None:
                self._thread.progress.halted = refused.halted
            return replace(decision, verdict=Verdict.DENY, reason=str(refused))
        self._question = decision, approval
        return replace(decision, verdict=Verdict.ALLOW)

    async def _execute(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        tool = self._thread.toolbox.find(name)
        if tool is None:  # an MCP server may have gone while the hooks were asked
            raise Unavailable(f"there is no tool {name!r} here any more")
        self._call, self._ran = replace(self._call, input=input), True
        decided, approval = self._question or (decision, None)
        return await execute(self._call, decided, tool, self._session.place_of(self._thread), approval)
