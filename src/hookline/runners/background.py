"""Background work of hooks: runs in order within a session and is drained at its end."""

from __future__ import annotations

import contextvars
import weakref
from _thread import allocate_lock as Lock  # `threading` takes a millisecond to import
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from hookline.errors import UnavailableError
from hookline.hooks.host import current_hook
from hookline.hooks.outcome import ActionError
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import asyncio, lazy_logger

Work = Callable[[], Awaitable[None]]

_CANCEL_TIMEOUT: Final = 10.0  # seconds for cancelled work to clean up

log = lazy_logger("hookline")


@dataclass(slots=True)
class _SessionQueue:
    """The work of one session, in order."""

    waiting: deque[tuple[Work, contextvars.Context]] = field(default_factory=deque)
    task: asyncio.Task[None] | None = None
    is_running: bool = False

    @property
    def size(self) -> int:
        return len(self.waiting) + self.is_running


class BackgroundTasks:
    """Keeps work per event loop, so that one instance serves several loops and threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _SessionQueue]] = (
            weakref.WeakKeyDictionary()
        )

    def schedule(self, work: Work, session: str) -> None:
        """Returns at once. The work keeps the current context variables, so that it knows its hook."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise UnavailableError("background hooks need a running event loop") from None
        lines = self._queues(loop)
        line = lines.setdefault(session, _SessionQueue())
        line.waiting.append((work, contextvars.copy_context()))
        if line.task is None:
            line.task = loop.create_task(_run_queue(line, lines, session))

    async def wait(self, timeout: timedelta, session: str) -> None:
        """Waits for the session's work on this loop. What is late goes on."""
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout.total_seconds()
        while (line := self._queues(loop).get(session)) and line.task and (left := until - loop.time()) > 0:
            await asyncio.wait({line.task}, timeout=left)

    async def drain(self, timeout: timedelta) -> int:
        """Waits for this loop's work and cancels what is late. Returns how many tasks were cancelled."""
        loop = asyncio.get_running_loop()
        lines = self._queues(loop)
        until = loop.time() + timeout.total_seconds()
        while (tasks := _running_tasks(lines)) and (left := until - loop.time()) > 0:
            await asyncio.wait(tasks, timeout=left)
        cancelled = sum(line.size for line in lines.values())
        for line in lines.values():
            line.waiting.clear()
        tasks = _running_tasks(lines)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCEL_TIMEOUT)
        return cancelled

    def _queues(self, loop: asyncio.AbstractEventLoop) -> dict[str, _SessionQueue]:
        with self._lock:
            return self._by_loop.setdefault(loop, {})


def _running_tasks(lines: dict[str, _SessionQueue]) -> set[asyncio.Task[None]]:
    return {line.task for line in lines.values() if line.task is not None}


async def _run_queue(line: _SessionQueue, lines: dict[str, _SessionQueue], session: str) -> None:
    try:
        while line.waiting:
            work, context = line.waiting.popleft()
            line.is_running = True
            await _run_in_context(work, context)
            line.is_running = False
    finally:
        if lines.get(session) is line:
            del lines[session]


async def _run_in_context(work: Work, context: contextvars.Context) -> None:
    task = asyncio.get_running_loop().create_task(_await_work(work), context=context)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_TIMEOUT)
        raise
    finally:
        _log_failure(task, context)


async def _await_work(work: Work) -> None:
    await work()


def _log_failure(task: asyncio.Task[None], context: contextvars.Context) -> None:
    """Quotes only hookline's own failures: the text of another exception may contain a secret."""
    error = task.exception() if task.done() and not task.cancelled() else None
    if error is None:
        return
    who = context.get(current_hook)
    from hookline.hooks.masking import mask  # rarely needed, and slow to import

    text = f": {mask(error.failure.text)}" if isinstance(error, ActionError) else ""
    log.error("[%s] failed in the background: %s%s", who.hook if who else "a hook", type(error).__name__, text)
