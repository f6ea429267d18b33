"""Runs blocking work on threads, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeVar

from hookline.runners.loop_pause import LoopPause
from hookline.runners.thread_pool import AbandonableThreads, TaskEnd
from hookline.runtime.tools.workspace import ToolError

T = TypeVar("T")
_MAX_THREADS: Final = 8
_GRACE_SECONDS: Final = 1.0  # seconds after the deadline for work that checks the time to stop by itself

_PATIENCE: Final = {"files": 0.02}
"""Seconds that a task waits for busy threads, by pool. What is done to files nearly always takes less than a millisecond."""

_pools: dict[tuple[int, str], AbandonableThreads] = {}


class Deadline:
    """A deadline for blocking work; it ends early when the caller is cancelled."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.at = time.monotonic() + seconds
        self._is_cancelled = False

    @property
    def is_over(self) -> bool:
        return self._is_cancelled or time.monotonic() >= self.at

    def check(self) -> None:
        """Raises ToolError after the deadline."""
        if self.is_over:
            raise ToolError(f"it took more than {self.seconds:g} s")

    def cancel(self) -> None:
        self._is_cancelled = True


def _thread_pool(name: str) -> AbandonableThreads:
    key = (os.getpid(), name)
    if (known := _pools.get(key)) is not None:
        return known
    return _pools.setdefault(key, AbandonableThreads(f"hookline-{name}", _MAX_THREADS, patience=_PATIENCE.get(name)))


async def run_blocking(work: Callable[[Deadline], T], seconds: float = 30.0, pool: str = "files") -> T:
    """Returns the work's result. Raises ToolError at the deadline; if cancelled, tells the work to stop."""
    deadline = Deadline(seconds)
    threads = _thread_pool(pool)
    ended = TaskEnd(deadline.at + _GRACE_SECONDS, lambda: ToolError(f"it did not end within {seconds:g} s"))
    future = threads.submit(partial(contextvars.copy_context().run, work, deadline), ended.notify)
    if pool in _PATIENCE:
        loop = asyncio.get_running_loop()
        loop.call_soon(_pause_loop, threads)
        loop.call_later(_PATIENCE[pool], _watch_task, threads, future, _PATIENCE[pool])
    try:
        await ended
        result: T = future.result()
        return result
    finally:
        deadline.cancel()
        threads.abandon(future)


_pause: Final = LoopPause()


def _pause_loop(threads: AbandonableThreads) -> None:
    """After all coroutines of this iteration of the loop have asked for what they need."""
    _pause.wait(threads.wait_until_done)


def _watch_task(threads: AbandonableThreads, future: Future[Any], patience: float) -> None:
    """Until the task has begun, or was abandoned."""
    if not future.running() and not future.done():
        threads.add_thread_if_stuck()
        asyncio.get_running_loop().call_later(patience, _watch_task, threads, future, patience)
