from __future__ import annotations

import asyncio
import time

import pytest

from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.workspace import Refused

pytestmark = pytest.mark.anyio


async def test_work_that_looks_at_the_clock_ends_in_time() -> None:
    def work(until: Until) -> str:
        while not until.over:
            time.sleep(0.01)
        return "as far as it came"

    assert await aside(work, 0.1) == "as far as it came"


async def test_work_that_does_not_is_given_up() -> None:
    with pytest.raises(Refused, match="did not end within"):
        await aside(lambda until: time.sleep(3), 0.1)


async def test_cancelled_work_is_told_so(eventually) -> None:
    ended: list[bool] = []

    def work(until: Until) -> None:
        while not until.over:
            time.sleep(0.01)
        ended.append(True)

    task = asyncio.ensure_future(aside(work, 60))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: ended)


async def test_what_it_raises_comes_back() -> None:
    def work(until: Until) -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await aside(work)
