"""Runs blocking work on threads, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from hookline.runners.thread_pool import AbandonableThreads
from hookline.runtime.tools.workspace import ToolError

T = TypeVar("T")
_MAX_THREADS: Final = 8
_GRACE_SECONDS: Final = 1.0  # seconds after the deadline for work that checks the time to stop by itself

_pools: dict[tuple[int, str], AbandonableThreads] = {}


class Deadline:
    """A deadline for blocking work; it ends early when the caller is cancelled."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._is_cancelled = False

    @property
    def is_over(self) -> bool:
        return self._is_cancelled or time.monotonic() >= self._end

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
    return _pools.setdefault(key, AbandonableThreads(f"hookline-{name}", _MAX_THREADS))


async def run_blocking(work: Callable[[Deadline], T], seconds: float = 30.0, pool: str = "files") -> T:
    """Returns the work's result. Raises ToolError at the deadline; if cancelled, tells the work to stop."""
    deadline = Deadline(seconds)
    threads = _thread_pool(pool)
    future = threads.submit(partial(contextvars.copy_context().run, work, deadline))
    try:
        async with asyncio.timeout(seconds + _GRACE_SECONDS):
            result: T = await asyncio.wrap_future(future)
            return result
    except TimeoutError:
        if future.done():
            raise  # the work itself raised it
        raise ToolError(f"it did not end within {seconds:g} s") from None
    finally:
        deadline.cancel()
        threads.abandon(future)
