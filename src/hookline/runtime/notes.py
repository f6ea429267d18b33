"""Stores a decision's notes for the agent, at the place where the model reads them."""

from __future__ import annotations

from hookline.engine.decision import Decision
from hookline.hooks.outcome import Audience, Note, NotePlace
from hookline.runtime.storage.tables import Injection
from hookline.runtime.thread import StoredThread


async def inject_notes(thread: StoredThread, decision: Decision, result: str | None = None) -> None:
    """`result` is the id of the tool result's message, if the decision was about one."""
    for note in decision.notes:
        if note.audience is Audience.AGENT:
            anchor = await _anchor_id(thread, note, result)
            await thread.inject(Injection(note.text, str(note.place), anchor, note.role, note.position))


async def _anchor_id(thread: StoredThread, note: Note, result: str | None) -> str | None:
    if note.place is NotePlace.SYSTEM:
        return None
    messages = await thread.history()
    if note.place is NotePlace.LAST_USER:
        return next((m["id"] for m in reversed(messages) if m["role"] == "user"), None)
    if result is not None and note.place is not NotePlace.MESSAGE:
        return result
    return messages[-1]["id"] if messages else None
