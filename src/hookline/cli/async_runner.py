"""Runs the async part of a verb. On SIGTERM and Ctrl-C it ends the programs that it started."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from hookline.errors import HooklineError
from hookline.lazy_imports import asyncio

T = TypeVar("T")


class TerminatedError(HooklineError):
    exit_code = 128 + signal.SIGTERM


def run_async(work: Coroutine[Any, Any, T], loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None) -> T:
    if os.environ.get("HOOKLINE_WARM") == "0":
        from hookline.runners.warm.pool import warm_enabled

        warm_enabled.set(False)
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        return runner.run(_cancel_on_sigterm(work))


async def _cancel_on_sigterm(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    was_terminated = False

    def stop() -> None:
        nonlocal was_terminated
        was_terminated = True
        task.cancel()

    with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    try:
        return await task
    except asyncio.CancelledError:
        if was_terminated:
            raise TerminatedError("terminated") from None
        raise
