"""The only module that executes tools. It demands a decision about exactly that call."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Verdict
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.storage.tables import ApprovalRow, CallEnd, CallRow
from hookline.runtime.tools.tool_definition import Tool, ToolContext, raised_result
from hookline.standard_agents.state import result_text

QUEUE_CALLER: Final = "queue"


class CallNotAllowedError(HooklineError):
    """A call that hooks did not allow, or were never asked about."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    input: dict[str, Any]
    caller: str = ""  # "": the model; else the hook or part of the agent that makes the call

    @property
    def is_internal(self) -> bool:
        """True for a call by a hook or other code: no message of the conversation has its result."""
        return self.caller not in ("", QUEUE_CALLER)


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    result: ToolResult
    unstored_end: CallEnd | None = None  # to be stored with the message that has the result


def fingerprint(name: str, input: Any) -> str:
    """Equal only for equal calls."""
    text = json.dumps([name, input], sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


async def execute(
    call: ToolCall,
    decision: Decision,
    tool: Tool,
    context: ToolContext,
    approval: ApprovalRow | None = None,
    *,
    stores_result: bool = False,
) -> ExecutedCall:
    """Runs the tool, and records the call and its decision before and after.

    With `stores_result` the record has the result as the tool returned it, which a crash then does not lose. Raises
    CallNotAllowedError unless the decision, or a person's approval, allows exactly this call.
    """
    hash = fingerprint(call.name, call.input)
    _check_allowed(call, tool, hash, decision, approval)
    why = {"verdict": decision.verdict.word, "reason": decision.reason, "by": decision.by}
    agreed = None if approval is None else approval.id
    row = CallRow(
        context.thread_id, call.id, call.name, hash, why, approval=agreed, caller=call.caller, begun=time.time()
    )
    attempt = await context.store.begin_call(row)
    begun = replace(row, attempt=attempt)
    try:
        result = await _perform_tool(tool, call, context)
    except BaseException:
        cancelled = ToolResult(None, False, f"{call.name} was cancelled")
        await context.store.end_call(_call_end(begun, cancelled, stores_result))
        raise
    end = _call_end(begun, result, stores_result)
    if stores_result and not result.attachments:  # nothing comes between the end of the call and its message
        return ExecutedCall(result, end)
    await context.store.end_call(end)
    return ExecutedCall(result)


async def execute_unstored(call: ToolCall, decision: Decision, tool: Tool, context: ToolContext) -> ToolResult:
    """Like `execute`, for a call that belongs to no stored session."""
    _check_allowed(call, tool, fingerprint(call.name, call.input), decision)
    return await _perform_tool(tool, call, context)


def _call_end(row: CallRow, result: ToolResult, stores_result: bool) -> CallEnd:
    text, error = (result_text(result.content), result.error) if stores_result else (None, "")
    return CallEnd(row.thread, row.call, row.attempt, result.ok, text, error)


def _check_allowed(
    call: ToolCall, tool: Tool, hash: str, decision: Decision, approval: ApprovalRow | None = None
) -> None:
    if tool.name != call.name:
        raise CallNotAllowedError(f"the decision is about {call.name}, not {tool.name}")
    decided = decision.event.facts.get("tool") or {}
    if decision.event.name != "tool.before" or not _is_same_call(decided, call, hash):
        raise CallNotAllowedError(f"the decision is not about this call of {call.name}")
    if decision.denied or decision.halt:
        raise CallNotAllowedError(f"{call.name} was denied: {decision.reason}")
    if decision.verdict is Verdict.ASK and (
        approval is None or approval.answered is not True or approval.input_hash != hash or approval.call != call.id
    ):
        raise CallNotAllowedError(f"{call.name} was not approved: {decision.reason}")


def _is_same_call(tool: dict[str, Any], call: ToolCall, hash: str) -> bool:
    if tool.get("input") is call.input and tool.get("name") == call.name:
        return True
    return fingerprint(tool.get("name", ""), tool.get("input")) == hash


async def _perform_tool(tool: Tool, call: ToolCall, context: ToolContext) -> ToolResult:
    try:
        return await tool.perform(call.input, replace(context, call=call.id))
    except Exception as error:  # third-party code may raise anything
        return raised_result(error)
