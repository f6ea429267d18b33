"""A coroutine whose first step was made without a task goes on in one as if nothing had happened."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from hookline.hooks.started_coroutine import continue_coroutine


async def run_late(work: Coroutine[Any, Any, Any]) -> Any:
    awaited = work.send(None)
    return await asyncio.ensure_future(continue_coroutine(work, awaited))


def test_it_returns_what_the_coroutine_returns() -> None:
    async def work() -> list[str]:
        tasks = []
        for _ in range(3):
            await asyncio.sleep(0.001)
            task = asyncio.current_task()
            tasks.append("" if task is None else type(task).__name__)
        return tasks

    assert asyncio.run(run_late(work())) == ["Task"] * 3


def test_it_raises_what_the_coroutine_raises() -> None:
    async def work() -> None:
        await asyncio.sleep(0.001)
        raise LookupError("none")

    with pytest.raises(LookupError, match="none"):
        asyncio.run(run_late(work()))


def test_the_coroutine_hears_of_a_failed_future_and_of_its_cancellation() -> None:
    heard: list[str] = []

    async def work(broken: asyncio.Future[None], failed: asyncio.Event) -> str:
        try:
            await broken
        except ValueError:
            heard.append("failed")
        failed.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            heard.append("cancelled")
        return "done"

    async def run() -> str:
        broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        failed = asyncio.Event()
        running = work(broken, failed)
        awaited = running.send(None)
        task = asyncio.ensure_future(continue_coroutine(running, awaited))
        await asyncio.sleep(0)
        broken.set_exception(ValueError())
        await failed.wait()
        task.cancel()
        return await task

    assert asyncio.run(run()) == "done"
    assert heard == ["failed", "cancelled"]
