"""What hooks can reach while an agent of ours runs: its tools, its model, its threads, the one who watches."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from hookline.engine.account import Decision
from hookline.engine.calls import decided_call
from hookline.errors import Unavailable
from hookline.hooks.host import Notice, ToolResult, asking
from hookline.runners.here import Here
from hookline.runtime.facts import shared_facts
from hookline.runtime.gate import Call, execute
from hookline.runtime.happenings import Noticed
from hookline.runtime.models.model import Request, Said
from hookline.runtime.threads import StoredThread

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
        tool = self._session.toolbox.find(name)
        if tool is None:
            raise Unavailable(self._session.toolbox.why_not(name))
        facts = {**await shared_facts(self._thread, "tool.before"), "tool": {"kind": str(tool.kind)}}
        return await decided_call(self._session.book, self, facts, (tool.name, input), self._execute)

    async def _execute(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        tool = self._session.toolbox.find(name)
        if tool is None:  # an MCP server may have gone while the hooks were asked
            raise Unavailable(f"there is no tool {name!r} here any more")
        asked = asking.get()
        call = Call(f"call_{uuid.uuid4().hex[:12]}", name, input, asked.hook if asked else "agent")
        return await execute(call, decision, tool, self._session.place_of(self._thread))

    async def complete(self, prompt: str) -> str:
        model = await self._session.model_of(self._thread)
        pieces = model.stream(Request(({"role": "user", "content": prompt},)))
        return "".join([piece.text async for piece in pieces if isinstance(piece, Said)])

    async def publish(self, notice: Notice) -> None:
        await super().publish(notice)
        self._session.tell(Noticed(self._thread.id, self._thread.agent.id, notice))

    def thread(self, id: str) -> StoredThread:
        return self._session.thread(id)
