"""Finds what an interrupted process left behind: calls without a result."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Final

from hookline.hooks.host import ToolResult
from hookline.runtime.history import calls_of
from hookline.runtime.models.model import RequestedCall
from hookline.runtime.storage.tables import CallRow
from hookline.runtime.thread import StoredThread

UNKNOWN_EFFECT: Final = "interrupted while it ran; it may or may not have taken effect"
RESULT_LOST: Final = "interrupted after it ran; its result was not stored"
NOT_RUN: Final = "not run: the agent was interrupted"


async def open_calls(thread: StoredThread) -> list[tuple[RequestedCall, CallRow | None]]:
    """Calls of the last answer without a result. A call with a record was started and is not run again."""
    wanted = await _calls_without_result(thread)
    if not wanted:
        return []
    begun = {row.call: row for row in await thread.store.calls(thread.id)}
    return [(requested, begun.get(requested.id)) for requested in wanted]


async def is_unfinished(thread: StoredThread) -> bool:
    """True if the thread was interrupted in the middle of an exchange."""
    messages = await thread.history()
    if not messages or messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
        return bool(messages)
    if thread.agent.side_b is None:
        return False
    row = await thread.store.thread(thread.id)
    return row is not None and row.side != messages[-1].get("side")  # it was the other side's turn


def recorded_result(row: CallRow) -> ToolResult:
    """The recorded result of a call that was started."""
    if row.ended is None:
        return ToolResult(None, False, UNKNOWN_EFFECT)
    if row.result is None:
        return ToolResult(None, False, RESULT_LOST)
    return ToolResult(row.result, row.ok is True, row.error or "")


async def last_answer(thread: StoredThread) -> tuple[str, list[RequestedCall]]:
    """The last answer's text and tool calls."""
    messages = reversed(await thread.history())
    last: dict[str, Any] = next((message for message in messages if message["role"] == "assistant"), {})
    calls = [
        RequestedCall(call["id"], call["function"]["name"], call["function"].get("arguments", ""))
        for call in calls_of(last)
    ]
    return last.get("content") or "", calls


async def _calls_without_result(thread: StoredThread) -> list[RequestedCall]:
    _, wanted = await last_answer(thread)
    since = takewhile(lambda message: message["role"] != "assistant", reversed(await thread.history()))
    answered = {str(message.get("tool_call_id")) for message in since}
    return [requested for requested in wanted if requested.id not in answered]
