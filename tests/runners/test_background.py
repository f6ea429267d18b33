"""Background work: its order within a session, and what draining cancels."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.host import CurrentHook, current_hook
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners.background import BackgroundTasks

SOON = timedelta(seconds=0.1)
LONG = timedelta(seconds=30)


@pytest.fixture
def tasks() -> BackgroundTasks:
    return BackgroundTasks()


def appends(to: list[str], text: str, after: float = 0) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        await asyncio.sleep(after)
        to.append(text)

    return work


def test_background_work_keeps_its_order_within_a_session(tasks: BackgroundTasks) -> None:
    done: list[str] = []

    async def work() -> int:
        tasks.schedule(appends(done, "slow", after=0.05), "a")
        tasks.schedule(appends(done, "quick"), "a")
        tasks.schedule(appends(done, "other"), "b")
        assert done == []
        return await tasks.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["other", "slow", "quick"]


def test_work_may_ask_for_more_work(tasks: BackgroundTasks) -> None:
    done: list[str] = []

    async def again() -> None:
        done.append("first")
        tasks.schedule(appends(done, "second"), "a")

    async def work() -> int:
        tasks.schedule(again, "a")
        return await tasks.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["first", "second"]


def test_failed_work_is_logged_and_the_next_is_done(tasks: BackgroundTasks, caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def raises() -> None:
        raise ValueError("my password")

    async def fails() -> None:
        raise ActionError(FailureKind.TIMEOUT, "did not end")

    async def work() -> int:
        current_hook.set(CurrentHook("first-hook"))
        tasks.schedule(raises, "a")
        current_hook.set(CurrentHook("second-hook"))
        tasks.schedule(fails, "a")
        tasks.schedule(appends(done, "next"), "a")
        return await tasks.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["next"]
    messages = [record.getMessage() for record in caplog.records if record.name == "hookline"]
    assert len(messages) == 2
    assert "first-hook" in messages[0]
    assert "ValueError" in messages[0]
    assert "password" not in messages[0]
    assert "second-hook" in messages[1]
    assert "did not end" in messages[1]


def test_after_a_drain_work_is_done_again(tasks: BackgroundTasks) -> None:
    done: list[str] = []

    async def work() -> int:
        tasks.schedule(appends(done, "never", after=100), "a")
        assert await tasks.drain(SOON) == 1
        assert await tasks.drain(SOON) == 0
        tasks.schedule(appends(done, "again"), "a")
        return await tasks.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["again"]


def test_each_loop_has_its_own_work(tasks: BackgroundTasks) -> None:
    done: list[str] = []

    async def work() -> None:
        for number in range(20):
            tasks.schedule(appends(done, str(number)), "a")
        assert await tasks.drain(LONG) == 0

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == sorted(str(number) for number in range(20) for _ in threads)


def test_without_a_loop_nothing_runs_in_the_background(tasks: BackgroundTasks) -> None:
    with pytest.raises(UnavailableError, match="event loop"):
        tasks.schedule(appends([], "never"), "a")


def test_work_keeps_the_context_in_which_it_was_scheduled(tasks: BackgroundTasks) -> None:
    hooks: list[str] = []

    async def note_hook() -> None:
        asked = current_hook.get()
        hooks.append(asked.hook if asked else "")

    async def work() -> None:
        for name in ("first", "second"):
            current_hook.set(CurrentHook(name))
            tasks.schedule(note_hook, "a")
        current_hook.set(CurrentHook("third"))
        await tasks.drain(LONG)

    asyncio.run(work())
    assert hooks == ["first", "second"]


def test_cancelled_work_may_clean_up(tasks: BackgroundTasks) -> None:
    done: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            done.append("cleaned up")

    async def work() -> int:
        tasks.schedule(hang, "a")
        tasks.schedule(appends(done, "never"), "a")
        return await tasks.drain(SOON)

    assert asyncio.run(work()) == 2
    assert done == ["cleaned up"]


def test_waiting_is_for_one_session_and_cancels_nothing(tasks: BackgroundTasks) -> None:
    done: list[str] = []

    async def work() -> int:
        tasks.schedule(appends(done, "mine", after=0.05), "a")
        tasks.schedule(appends(done, "other", after=0.3), "b")
        await tasks.wait(LONG, "a")
        assert done == ["mine"]
        await tasks.wait(SOON, "b")
        await tasks.wait(LONG, "nobody")
        return await tasks.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["mine", "other"]
