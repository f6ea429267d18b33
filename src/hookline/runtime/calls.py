"""One tool call, from what the model wanted to what is stored: decided, asked about, run, looked at, kept."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, replace
from typing import Any

from hookline.engine.account import Decision
from hookline.errors import Halted
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Verdict
from hookline.hooks.tools import kind_of
from hookline.runtime.approvals import Refused, agreed
from hookline.runtime.gate import QUEUED, Call, execute
from hookline.runtime.happenings import Called, Calling
from hookline.runtime.history import written_calls
from hookline.runtime.interrupted import known
from hookline.runtime.models.model import Wants
from hookline.runtime.notes import take_notes
from hookline.runtime.storage.rows import ApprovalRow, CallRow, QueuedRow
from hookline.runtime.threads import NotStored, StoredThread
from hookline.runtime.tools.tool import Tool
from hookline.standard_agents.state import result_text


@dataclass(frozen=True, slots=True)
class Done:
    name: str
    ok: bool
    text: str  # as the model reads it
    halted: str | None = None  # a hook stopped the agent, and why


class ToolCalls:
    """The tool calls of one thread."""

    def __init__(self, thread: StoredThread) -> None:
        self.thread = thread
        self.session = thread.session

    async def wanted(self, wants: Wants) -> Done:
        """A call that the model asks for."""
        tool = self.thread.toolbox.find(wants.name)
        if tool is None:
            return await self.not_run(wants, self.thread.toolbox.why_not(wants.name))
        if not self.thread.toolbox.offers(tool, self.thread.tools):
            return await self.not_run(wants, f"this agent may not use {tool.name}")
        try:
            input = json.loads(wants.arguments or "{}")
            json.dumps(input)
        except RecursionError:
            return await self.not_run(wants, "the arguments are nested too deep")
        except ValueError as error:
            return await self.not_run(wants, f"the arguments are not JSON: {error}")
        if not isinstance(input, dict):
            return await self.not_run(wants, "the arguments are not an object")
        return await self._decided(Call(wants.id, tool.name, input), tool)

    async def queued(self, row: QueuedRow) -> Done:
        """A call that a hook's code put off until now; it stands in the history as if the agent had made it."""
        id, tool = f"call_{uuid.uuid4().hex[:12]}", self.thread.toolbox.find(row.name)
        wants = Wants(id, row.name if tool is None else tool.name, json.dumps(row.input))
        message = {"role": "assistant", "content": None, "tool_calls": written_calls([wants])}
        try:
            await self.thread.inject_message(message | self.thread.spoken_by, row)
        except (NotStored, Halted):
            await self.session.store.unqueue(self.thread.id, [row])
            raise
        if tool is None:
            return await self.not_run(wants, self.thread.toolbox.why_not(row.name))
        return await self._decided(Call(id, tool.name, row.input, QUEUED), tool)

    async def not_run(self, wants: Wants, why: str) -> Done:
        """A call that nobody was asked about, because it cannot be run at all."""
        tool = self.thread.toolbox.find(wants.name)
        call = Call(wants.id, wants.name if tool is None else tool.name, _object(wants))
        return await self._kept(call, _failed(_facts(call, tool), why), False)

    async def _decided(self, call: Call, tool: Tool) -> Done:
        facts = _facts(call, tool)
        decision = await self.session.decide(self.thread, "tool.before", {"tool": facts})
        self._tell(call, decision)
        halted = self.thread.take_halt(decision)  # a hook's own call may have been answered with a halt
        if halted is not None or decision.denied:
            reason = decision.reason or halted or f"{call.name} was denied"
            return await self._kept(call, _failed(facts, reason), False, (decision,), halted)
        left = decision.event.read(("tool", "input"))
        if not isinstance(left, dict):
            wrong = f"a hook left {call.name} without an input that it could be called with"
            return await self._kept(call, _failed(facts, wrong), False, (decision,))
        approval: ApprovalRow | None = None
        final = replace(call, input=left)
        if decision.verdict is Verdict.ASK:
            try:
                approval = await agreed(self.thread, final, decision)
            except Refused as refused:
                no = _failed(_facts(final, tool), str(refused))
                return await self._kept(final, no, False, (decision,), refused.halted)
        return await self._run(final, tool, decision, approval)

    async def _run(self, call: Call, tool: Tool, decision: Decision, approval: ApprovalRow | None) -> Done:
        result = await execute(call, decision, tool, self.session.place_of(self.thread), approval)
        self.session.tool_calls += 1
        return await self._looked_at(call, tool, result, (decision,))

    async def cut_off(self, wants: Wants, row: CallRow) -> Done:
        """A call that was begun before and never answered: hooks look at what is known of it, as at any other."""
        tool = self.thread.toolbox.find(wants.name)
        return await self._looked_at(Call(wants.id, row.name, _object(wants), row.caller), tool, known(row), ())

    async def _looked_at(
        self, call: Call, tool: Tool | None, result: ToolResult, decisions: tuple[Decision, ...]
    ) -> Done:
        facts = {**_facts(call, tool), **_told(result)}
        if result.attachments:
            facts["attachments"] = list(result.attachments)
        event = "tool.succeeded" if result.ok else "tool.failed"
        looked = await self.session.decide(self.thread, event, {"tool": facts})
        after = await self.session.decide(self.thread, "tool.after", {"tool": looked.event.facts["tool"]})
        halted = self.thread.take_halt(after)
        left = after.event.facts["tool"]
        return await self._kept(call, {**left, **_told(_result(left))}, True, (*decisions, after), halted)

    async def _kept(
        self,
        call: Call,
        facts: dict[str, Any],
        ran: bool,
        decisions: tuple[Decision, ...] = (),
        halted: str | None = None,
    ) -> Done:
        """The result as hooks leave it, stored as a message, with what the decisions had to say."""
        stored = await self.session.decide(self.thread, "tool.store", {"tool": facts})
        left = stored.event.facts["tool"]
        final = _result(left)
        message = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": _text(final)}
        more = left.get("more")
        files = await self.thread.stored_files(left.get("attachments"))
        kept = {**(more if isinstance(more, dict) else {}), **({"attachments": files} if files else {}), **message}
        written = await self.thread.inject_message(kept)
        for decision in decisions:
            await take_notes(self.thread, decision, written.get("id"))
            self.thread.note_requests(decision)
        self.session.tell(Called(self.thread.id, self.thread.agent.id, call, final, ran))
        return Done(call.name, final.ok, _text(final), halted)

    def _tell(self, call: Call, decision: Decision) -> None:
        self.session.tell(Calling(self.thread.id, self.thread.agent.id, call, decision))


def _object(wants: Wants) -> dict[str, Any]:
    try:
        input = json.loads(wants.arguments)
        json.dumps(input)
    except (ValueError, RecursionError):
        return {}
    return input if isinstance(input, dict) else {}


def _facts(call: Call, tool: Tool | None) -> dict[str, Any]:
    kind = kind_of(call.name) if tool is None else tool.kind
    return {"name": call.name, "kind": str(kind), "id": call.id, "caller": call.caller, "input": call.input}


def _failed(facts: dict[str, Any], why: str) -> dict[str, Any]:
    return {**facts, **_told(ToolResult(None, False, why))}


def _told(result: ToolResult) -> dict[str, Any]:
    """What it came to; there is no result where it has none, and no error where it succeeded."""
    told: dict[str, Any] = {"ok": result.ok}
    if result.content is not None:
        told["result"] = result.content
    if result.error or not result.ok:
        told["error"] = result.error
    return told


def _result(facts: dict[str, Any]) -> ToolResult:
    error = facts.get("error")
    return ToolResult(facts.get("result"), facts.get("ok") is True, error if isinstance(error, str) else "")


def _text(result: ToolResult) -> str:
    said = result_text(result.content)
    if result.ok:
        return said
    return f"Error: {result.error}\n{said}".strip() if said != result.error else f"Error: {said}"
