"""Async work of a verb. However the process is told to end, the programs that it started end with it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from hookline.errors import HooklineError

T = TypeVar("T")


class Terminated(HooklineError):
    exit_code = 128 + signal.SIGTERM


def run(work: Coroutine[Any, Any, T]) -> T:
    if os.environ.get("HOOKLINE_WARM") == "0":
        from hookline.runners.warm import wanted

        wanted.set(False)
    return asyncio.run(_guarded(work))


async def _guarded(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    told: list[bool] = []

    def stop() -> None:
        told.append(True)
        task.cancel()

    with suppress(NotImplementedError, RuntimeError, ValueError):  # not on Windows, nor outside of the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    try:
        return await task
    except asyncio.CancelledError:
        if told:
            raise Terminated("terminated") from None
        raise
