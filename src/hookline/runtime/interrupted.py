"""What a process before us left behind: calls without a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hookline.runtime.history import calls_of
from hookline.runtime.models.model import Wants
from hookline.runtime.storage.rows import CallRow
from hookline.runtime.threads import StoredThread

if TYPE_CHECKING:
    from hookline.runtime.session import Session

UNKNOWN: Final = "Error: interrupted while it ran; whether it took effect is not known"
NEVER: Final = "Error: not run, for the agent was interrupted"


async def open_calls(thread: StoredThread) -> list[Wants]:
    """Calls of the last answer that were never begun; those that were begun get the result that is known of them."""
    begun = {row.call: row for row in await thread.store.calls(thread.id)}
    never: list[Wants] = []
    for wants in await _without_result(thread):
        if wants.id in begun:
            await _store_result(thread, wants, _known(begun[wants.id]))
        else:
            never.append(wants)
    return never


async def settle(session: Session, thread: StoredThread) -> None:
    """Before a new prompt: every call gets a result, and nothing is run that was not wanted now."""
    for wants in await open_calls(thread):
        await _store_result(thread, wants, NEVER)


async def _without_result(thread: StoredThread) -> list[Wants]:
    messages = await thread.history()
    at = next((at for at in range(len(messages) - 1, -1, -1) if messages[at]["role"] == "assistant"), None)
    if at is None:
        return []
    answered = {message.get("tool_call_id") for message in messages[at:]}
    wanted = []
    for call in calls_of(messages[at]):
        function = call.get("function") or {}
        if call.get("id") not in answered:
            wanted.append(Wants(str(call.get("id")), function.get("name", ""), function.get("arguments", "")))
    return wanted


def _known(row: CallRow) -> str:
    if row.ended is None:
        return UNKNOWN
    return (row.result or "") if row.ok else f"Error: {row.error or row.result or ''}"


async def _store_result(thread: StoredThread, wants: Wants, text: str) -> None:
    await thread.inject_message({"role": "tool", "tool_call_id": wants.id, "name": wants.name, "content": text})
