"""Work that nobody waits for: in order within a session, and never forgotten."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from hookline.errors import Unavailable
from hookline.hooks.host import asking
from hookline.hooks.outcome import Failed
from hookline.hooks.secrets import mask

Work = Callable[[], Awaitable[None]]

_PATIENCE: Final = 10.0  # for cancelled work to clean up after itself

log = logging.getLogger("hookline")


@dataclass(slots=True)
class _Line:
    """The work of one session, one piece after the other."""

    waiting: deque[tuple[Work, contextvars.Context]] = field(default_factory=deque)
    task: asyncio.Task[None] | None = None
    at_work: bool = False

    @property
    def pieces(self) -> int:
        return len(self.waiting) + self.at_work


class Background:
    """Keeps the work of each event loop apart, so one of these serves several loops and threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Line]] = (
            weakref.WeakKeyDictionary()
        )

    def later(self, work: Work, session: str) -> None:
        """Returns at once. The work keeps the context variables of this moment, so it knows which hook it belongs to."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise Unavailable("nothing can be run in the background without an event loop") from None
        lines = self._lines(loop)
        line = lines.setdefault(session, _Line())
        line.waiting.append((work, contextvars.copy_context()))
        if line.task is None:
            line.task = loop.create_task(_work_off(line, lines, session))

    async def drain(self, timeout: timedelta) -> int:
        """Waits for the work of this loop; what is not done in time is cancelled. How many pieces were."""
        loop = asyncio.get_running_loop()
        lines = self._lines(loop)
        until = loop.time() + timeout.total_seconds()
        while (tasks := _tasks(lines)) and (left := until - loop.time()) > 0:
            await asyncio.wait(tasks, timeout=left)
        cancelled = sum(line.pieces for line in lines.values())
        for line in lines.values():
            line.waiting.clear()
        tasks = _tasks(lines)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE)
        return cancelled

    def _lines(self, loop: asyncio.AbstractEventLoop) -> dict[str, _Line]:
        with self._lock:
            return self._by_loop.setdefault(loop, {})


def _tasks(lines: dict[str, _Line]) -> set[asyncio.Task[None]]:
    return {line.task for line in lines.values() if line.task is not None}


async def _work_off(line: _Line, lines: dict[str, _Line], session: str) -> None:
    try:
        while line.waiting:
            work, context = line.waiting.popleft()
            line.at_work = True
            await _do(work, context)
            line.at_work = False
    finally:
        if lines.get(session) is line:
            del lines[session]


async def _do(work: Work, context: contextvars.Context) -> None:
    task = asyncio.get_running_loop().create_task(_awaited(work), context=context)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_PATIENCE)
        raise
    finally:
        _log_failure(task, context)


async def _awaited(work: Work) -> None:
    await work()


def _log_failure(task: asyncio.Task[None], context: contextvars.Context) -> None:
    """Only our own failures are quoted: the text of another exception may hold a secret."""
    error = task.exception() if task.done() and not task.cancelled() else None
    if error is None:
        return
    who = context.get(asking)
    text = f": {mask(error.failure.text)}" if isinstance(error, Failed) else ""
    log.error("[%s] failed in the background: %s%s", who.hook if who else "a hook", type(error).__name__, text)
