"""Which hooks there are and how often each fired, as plain data."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hookline.engine.book import Book
from hookline.hooks.events import name_in
from hookline.hooks.hook import Hook
from hookline.hooks.host import Limits


def introspect(book: Book, limits: Limits, session: str) -> list[dict[str, Any]]:
    """One row for each hook, in the order in which they are asked.

    `fires` is None for a hook whose fires nobody counts. `last_fire` is a moment of the host's clock, in seconds.
    """
    return [_row(hook, limits, session) for hook in book.hooks]


def _row(hook: Hook, limits: Limits, session: str) -> dict[str, Any]:
    limit = hook.limit
    counted = limit.counted or any((limit.max_fires, limit.cooldown, limit.cooldown_turns))
    fires, last = limits.fires(hook, session) if counted else (None, None)
    return {
        "id": hook.id,
        "event": hook.event,
        "event_as_written": name_in(hook.origin.dialect, hook.event) or hook.event,
        "agent": hook.scope.agent,
        "enabled": hook.enabled,
        "tags": list(hook.tags),
        "order": hook.order,
        "fires": fires,
        "last_fire": last,
        "max_fires": limit.max_fires,
        "cooldown": _seconds(limit.cooldown),
        "cooldown_turns": limit.cooldown_turns,
        "file": hook.origin.file,
        "line": hook.origin.line,
        "dialect": hook.origin.dialect,
    }


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()
