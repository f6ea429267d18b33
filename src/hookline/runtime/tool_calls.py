"""One tool call, step by step: hooks decide, a person approves, it runs, hooks see the result, it is stored."""

from __future__ import annotations

import json
import uuid
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.errors import Halted
from hookline.hooks.events import RESULT_EVENTS
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Verdict
from hookline.hooks.tools import kind_of_name
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.approvals import ApprovalDenied, request_approval
from hookline.runtime.gate import QUEUE_CALLER, ToolCall, execute
from hookline.runtime.history import format_calls
from hookline.runtime.interception import InterceptionDeniedError
from hookline.runtime.models.model import RequestedCall
from hookline.runtime.notes import inject_notes
from hookline.runtime.recovery import recorded_result
from hookline.runtime.storage.tables import ApprovalRow, CallEnd, CallRow, QueuedToolRow
from hookline.runtime.thread import MessageNotStoredError, StoredThread
from hookline.runtime.tools.tool_definition import Tool
from hookline.runtime.tools.workspace import ToolError
from hookline.runtime.updates import ToolCallFinished, ToolCallStarted
from hookline.standard_agents.messages import HookMessage
from hookline.standard_agents.state import result_text

_MESSAGE_FIELDS: Final = frozenset(HookMessage.__annotations__) | {"attachments", "side", "result_labels"}


@dataclass(frozen=True, slots=True)
class CompletedCall:
    name: str
    ok: bool
    text: str  # as the model reads it
    halted: str | None = None  # a hook stopped the agent, and why


class ToolCalls:
    """The tool calls of one thread."""

    def __init__(self, thread: StoredThread) -> None:
        self.thread = thread
        self.session = thread.session
        self._unstored_end: CallEnd | None = None  # of the call whose result is about to be stored

    async def run(self, requested: RequestedCall) -> CompletedCall:
        """A call that the model asks for."""
        tool = self.thread.toolbox.find(requested.name)
        if tool is None:
            return await self._fail(requested, self.thread.toolbox.describe_missing(requested.name))
        if not self.thread.toolbox.offers(tool, self.thread.tools):
            return await self._fail(requested, f"this agent may not use {tool.name}")
        try:
            input = parse_arguments(requested.arguments)
        except ToolError as error:
            return await self._fail(requested, str(error))
        return await self._decide_and_run(ToolCall(requested.id, tool.name, input), tool)

    async def run_queued(self, row: QueuedToolRow) -> CompletedCall:
        """A call that a hook queued. The history shows it as a call by the agent."""
        id, tool = f"call_{uuid.uuid4().hex[:12]}", self.thread.toolbox.find(row.name)
        requested = RequestedCall(id, row.name if tool is None else tool.name, json.dumps(row.input))
        message = {"role": "assistant", "content": None, "tool_calls": format_calls([requested])}
        try:
            await self.thread.inject_message(message | self.thread.speaker_fields, row)
        except (MessageNotStoredError, Halted):
            await self.session.store.unqueue_tools(self.thread.id, [row])
            raise
        if tool is None:
            return await self._fail(requested, self.thread.toolbox.describe_missing(row.name))
        return await self._decide_and_run(ToolCall(id, tool.name, row.input, QUEUE_CALLER), tool)

    async def reject(self, requested: RequestedCall, why: str) -> CompletedCall:
        """Stores a failure for a call that is not tried. Hooks do not decide about it."""
        call, facts = self._failed_call(requested, why)
        return await self._store(call, facts, False)

    async def _fail(self, requested: RequestedCall, why: str) -> CompletedCall:
        """A call that was tried and cannot be run: hooks see its failure."""
        call, facts = self._failed_call(requested, why)
        looked = await self.session.decide(self.thread, "tool.failed", {"tool": facts})
        left = looked.event.facts["tool"]
        return await self._store(call, {**left, **result_facts(result_from_facts(left))}, False)

    def _failed_call(self, requested: RequestedCall, why: str) -> tuple[ToolCall, dict[str, Any]]:
        tool = self.thread.toolbox.find(requested.name)
        call = ToolCall(requested.id, requested.name if tool is None else tool.name, _known_arguments(requested))
        return call, _failure_facts(_tool_facts(call, tool), why)

    async def _decide_and_run(self, call: ToolCall, tool: Tool) -> CompletedCall:
        facts = _tool_facts(call, tool)
        decision = await self.session.decide(self.thread, "tool.before", {"tool": facts})
        decision = self.thread.drop_unknown_fields(decision, tool, call.input)
        self._emit_started(call, decision)
        halted = self.thread.take_halt(decision)  # a hook's own call may have been answered with a halt
        if halted is not None or decision.denied:
            reason = decision.full_reason or halted or f"{call.name} was denied"
            return await self._store(call, _failure_facts(facts, reason), False, (decision,), halted)
        left = decision.event.read(("tool", "input"))
        if not isinstance(left, dict):
            wrong = f"a hook replaced the input of {call.name} with something that is not an object"
            return await self._store(call, _failure_facts(facts, wrong), False, (decision,))
        approval: ApprovalRow | None = None
        final = replace(call, input=left)
        if decision.verdict is Verdict.ASK:
            try:
                approved = await request_approval(self.thread, final, decision)
                final, decision, approval = approved.call, approved.decision, approved.approval
            except ApprovalDenied as refused:
                no = _failure_facts(_tool_facts(final, tool), str(refused))
                return await self._store(final, no, False, (decision,), refused.halted)
        try:
            final, decision = await self.session.interception.before_tool(self.thread, final, decision)
        except InterceptionDeniedError as denied:
            no = _failure_facts(_tool_facts(final, tool), str(denied))
            return await self._store(final, no, False, (decision,), denied.halted)
        return await self._execute(final, tool, decision, approval)

    async def _execute(
        self, call: ToolCall, tool: Tool, decision: Decision, approval: ApprovalRow | None
    ) -> CompletedCall:
        context, hears = self.session.tool_context_of(self.thread, call.id), self.session.book.hears
        is_judged = any(map(hears, RESULT_EVENTS)) or self.session.interception.is_active
        stores_result = not is_judged  # else nothing is stored before hooks and interceptors have answered
        done = await execute(call, decision, tool, context, approval, stores_result=stores_result)
        self.session.tool_calls += 1
        self._unstored_end = done.unstored_end
        try:
            return await self._fire_after(call, tool, done.result, (decision,))
        finally:
            if self._unstored_end is not None:  # the message could not be stored, or hooks on results are new
                end, self._unstored_end = self._unstored_end, None
                await self.session.store.end_call(end)

    async def recover(self, requested: RequestedCall, row: CallRow) -> CompletedCall:
        """A call that was started but has no result: hooks see what its record has."""
        tool = self.thread.toolbox.find(requested.name)
        return await self._fire_after(
            ToolCall(requested.id, row.name, _known_arguments(requested), row.caller), tool, recorded_result(row), ()
        )

    async def _fire_after(
        self, call: ToolCall, tool: Tool | None, result: ToolResult, decisions: tuple[Decision, ...]
    ) -> CompletedCall:
        facts = {**_tool_facts(call, tool), **result_facts(result)}
        if result.attachments:
            facts["attachments"] = list(result.attachments)
        if result.more:
            facts["more"] = dict(result.more)
        event = "tool.succeeded" if result.ok else "tool.failed"
        looked = await self.session.decide(self.thread, event, {"tool": facts})
        after = await self.session.decide(self.thread, "tool.after", {"tool": looked.event.facts["tool"]})
        halted = self.thread.take_halt(after)
        left = _carry_into_error(facts, after.event.facts["tool"])
        return await self._store(
            call, {**left, **result_facts(result_from_facts(left))}, True, (*decisions, after), halted
        )

    async def _store(
        self,
        call: ToolCall,
        facts: dict[str, Any],
        ran: bool,
        decisions: tuple[Decision, ...] = (),
        halted: str | None = None,
    ) -> CompletedCall:
        """Stores the result as hooks leave it, and the notes and requests of the decisions."""
        stored = await self.session.decide(self.thread, "tool.store", {"tool": facts})
        left = _carry_into_error(facts, stored.event.facts["tool"])
        final = result_from_facts(left)
        if ran:
            try:
                final = await self.session.interception.after_tool(self.thread, call, final)
            except InterceptionDeniedError as denied:
                final, left = ToolResult(None, False, str(denied)), {}
        message = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": format_result(final)}
        given = self._take_extra_fields(call, left.get("more"))
        files = await self.thread.store_attachments(left.get("attachments"))
        labels = self.session.interception.take_labels(self.thread)
        kept = {**given, **labels, **({"attachments": files} if files else {}), **message}
        written = await self.thread.inject_message(kept, ends=self._unstored_end)
        self._unstored_end = None
        for decision in decisions:
            await inject_notes(self.thread, decision, written.get("id"))
            self.thread.defer_requests(decision)
        if written["content"] != message["content"]:  # a hook on the message changed it, as it may change a result
            content = str(written["content"] or "")
            final = ToolResult(content, final.ok, "" if final.ok else content)
        self.session.emit(ToolCallFinished(self.thread.id, self.thread.agent.id, call, final, ran))
        return CompletedCall(call.name, final.ok, str(written["content"] or ""), halted)

    def _take_extra_fields(self, call: ToolCall, more: Any) -> dict[str, Any]:
        """What is stored beside a result. Tools and hooks name it freely, but it may not name the message's own fields."""
        given = more if isinstance(more, dict) else {}
        taken = sorted(given.keys() & _MESSAGE_FIELDS)
        if taken:
            what = f"the result of {call.name} has the keys of a message ({', '.join(taken)}); they were not stored"
            self.session.emit_status(self.thread, what, "warning")
        return {key: value for key, value in given.items() if key not in _MESSAGE_FIELDS}

    def _emit_started(self, call: ToolCall, decision: Decision) -> None:
        self.session.emit(ToolCallStarted(self.thread.id, self.thread.agent.id, call, decision))


def parse_arguments(text: str) -> dict[str, Any]:
    """The arguments of a call, as its model wrote them. Raises ToolError, worded for the model."""
    try:
        input = json.loads(text or "{}")
        json.dumps(input)
    except RecursionError:
        raise ToolError("the arguments are nested too deep") from None
    except ValueError as error:
        raise ToolError(f"the arguments are not JSON: {error}") from None
    if not isinstance(input, dict):
        raise ToolError("the arguments are not an object")
    return input


def _known_arguments(requested: RequestedCall) -> dict[str, Any]:
    try:
        return parse_arguments(requested.arguments)
    except ToolError:
        return {}


def _tool_facts(call: ToolCall, tool: Tool | None) -> dict[str, Any]:
    kind = kind_of_name(call.name) if tool is None else tool.kind
    return {"name": call.name, "kind": str(kind), "id": call.id, "caller": call.caller, "input": call.input}


def _failure_facts(facts: dict[str, Any], why: str) -> dict[str, Any]:
    return {**facts, **result_facts(ToolResult(None, False, why))}


def result_facts(result: ToolResult) -> dict[str, Any]:
    """`result` is left out if there is no content, `error` if the call succeeded."""
    facts: dict[str, Any] = {"ok": result.ok}
    if result.content is not None:
        facts["result"] = result.content
    if result.error or not result.ok:
        facts["error"] = result.error
    return facts


def _carry_into_error(before: dict[str, Any], left: dict[str, Any]) -> dict[str, Any]:
    """The error of a failed command has its output: what hooks changed in the result must not stay there.

    If the tool's own error did not have it, what a hook wrote into the error stays.
    """
    old, new, error = before.get("result"), left.get("result"), left.get("error")
    if not isinstance(old, str) or not old.strip() or new == old or not isinstance(error, str):
        return left
    if old not in str(before.get("error") or ""):
        return left
    return {**left, "error": error.replace(old, result_text(new))}


def result_from_facts(facts: dict[str, Any]) -> ToolResult:
    error = facts.get("error")
    return ToolResult(facts.get("result"), facts.get("ok") is True, error if isinstance(error, str) else "")


def format_result(result: ToolResult) -> str:
    said = result_text(result.content)
    if result.ok:
        return said
    more = "" if said in result.error else said  # bash puts the output into its error
    return f"Error: {result.error}\n{more}".strip()
