from __future__ import annotations

import asyncio
import time

import pytest

from hookline.runtime.tools.blocking import Deadline, run_blocking
from hookline.runtime.tools.workspace import ToolError

pytestmark = pytest.mark.anyio


async def test_work_that_looks_at_the_clock_ends_in_time() -> None:
    def work(until: Deadline) -> str:
        while not until.is_over:
            time.sleep(0.01)
        return "as far as it came"

    assert await run_blocking(work, 0.1) == "as far as it came"


async def test_work_past_its_deadline_is_abandoned() -> None:
    with pytest.raises(ToolError, match="did not end within"):
        await run_blocking(lambda until: time.sleep(3), 0.1)


async def test_cancelled_work_is_told_so(eventually) -> None:
    ended: list[bool] = []

    def work(until: Deadline) -> None:
        while not until.is_over:
            time.sleep(0.01)
        ended.append(True)

    task = asyncio.ensure_future(run_blocking(work, 60))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: ended)


async def test_what_it_raises_comes_back() -> None:
    def work(until: Deadline) -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await run_blocking(work)
