"""What a process before us left behind: calls without a result."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Final

from hookline.hooks.host import ToolResult
from hookline.runtime.history import calls_of
from hookline.runtime.models.model import RequestedCall
from hookline.runtime.storage.tables import CallRow
from hookline.runtime.thread import StoredThread

UNKNOWN_EFFECT: Final = "interrupted while it ran; whether it took effect is not known"
NOT_RUN: Final = "not run, for the agent was interrupted"


async def open_calls(thread: StoredThread) -> list[tuple[RequestedCall, CallRow | None]]:
    """Calls of the last answer that have no result; with the record of what was begun, which nobody runs again."""
    wanted = await _calls_without_result(thread)
    if not wanted:
        return []
    begun = {row.call: row for row in await thread.store.calls(thread.id)}
    return [(wants, begun.get(wants.id)) for wants in wanted]


async def is_unfinished(thread: StoredThread) -> bool:
    """True if it was cut off in the middle of an exchange."""
    messages = await thread.history()
    if not messages or messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
        return bool(messages)
    if thread.agent.side_b is None:
        return False
    row = await thread.store.thread(thread.id)
    return row is not None and row.side != messages[-1].get("side")  # it was the other one's turn


def recorded_result(row: CallRow) -> ToolResult:
    """The result of a call that was begun, as far as its record has it."""
    if row.ended is None:
        return ToolResult(None, False, UNKNOWN_EFFECT)
    return ToolResult(row.result, row.ok is True, row.error or "")


async def last_answer(thread: StoredThread) -> tuple[str, list[RequestedCall]]:
    """What the agent said last, and all the calls that it wanted with it."""
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
    return [wants for wants in wanted if wants.id not in answered]
