"""Tells hooks that the agent waits for the user. The types are Claude Code's."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hookline.runtime.thread import StoredThread

IDLE_AFTER: Final = timedelta(seconds=60)
"""How long a chat waits for the next prompt before hooks are told."""


async def notify_of_approval(thread: StoredThread, tool: str) -> None:
    await _notify(thread, "permission_prompt", f"hookline needs your permission to use {tool}")


async def notify_when_idle(thread: StoredThread) -> None:
    """Waits, so cancel it when the next prompt has come."""
    await thread.session.runtime.sleep(IDLE_AFTER.total_seconds())
    await _notify(thread, "idle_prompt", "hookline is waiting for your input")


async def _notify(thread: StoredThread, type: str, message: str) -> None:
    await thread.session.decide(thread, "notification", {"notification": {"type": type, "message": message}})
