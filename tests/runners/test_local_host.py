"""This machine as a host: programs, notices, and work in the background."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.host import Command, CurrentHook, Notice, ScriptCall, current_hook
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners.local_host import LocalHost
from hookline.runners.process import ProcessLimit

SOON = timedelta(seconds=0.1)
LONG = timedelta(seconds=30)


class Unlimited:
    def claim(self, hook: Hook, event: Event, now: float) -> Callable[[], None] | None:
        return lambda: None

    def allows(self, hook: Hook, event: Event, now: float) -> bool:
        return True

    def fires(self, hook: Hook, session: str) -> tuple[int, float | None]:
        return 0, None


@pytest.fixture
def here() -> LocalHost:
    return LocalHost(Unlimited())


def appends(to: list[str], text: str, after: float = 0) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        await asyncio.sleep(after)
        to.append(text)

    return work


def test_a_program_runs_within_its_slots() -> None:
    here = LocalHost(Unlimited(), slots=ProcessLimit(1))
    assert asyncio.run(here.run_program(Command("echo a"))).stdout == "a\n"


def test_what_it_was_given_it_keeps(here: LocalHost) -> None:
    assert here.limits.fires.__self__.__class__ is Unlimited  # type: ignore[attr-defined]
    assert here.clock.now() <= here.clock.now()


def test_there_is_no_tool_and_no_model(here: LocalHost) -> None:
    with pytest.raises(UnavailableError):
        asyncio.run(here.call_tool("bash", {}))
    with pytest.raises(UnavailableError):
        asyncio.run(here.complete("?"))


def test_without_an_engine_a_script_is_unavailable(here: LocalHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hookline.runners.javascript", None)
    with pytest.raises(UnavailableError, match="JavaScript"):
        asyncio.run(here.run_script(ScriptCall("return 1", {})))


@pytest.mark.parametrize(
    ("level", "number"),
    [("info", logging.INFO), ("warning", logging.WARNING), ("ERROR", logging.ERROR), ("strange", logging.INFO)],
)
def test_a_notice_is_one_line_of_the_log(
    here: LocalHost, level: str, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="hookline"):
        asyncio.run(here.publish(Notice("log", "two\nlines \x1b[31m", title="Title", level=level, hook="my-hook")))
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (number, "my-hook: Title: two lines  [31m")
    ]


def test_background_work_keeps_its_order_within_a_session(here: LocalHost) -> None:
    done: list[str] = []

    async def work() -> int:
        here.run_in_background(appends(done, "slow", after=0.05), "a")
        here.run_in_background(appends(done, "quick"), "a")
        here.run_in_background(appends(done, "other"), "b")
        assert done == []
        return await here.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["other", "slow", "quick"]


def test_work_may_ask_for_more_work(here: LocalHost) -> None:
    done: list[str] = []

    async def again() -> None:
        done.append("first")
        here.run_in_background(appends(done, "second"), "a")

    async def work() -> int:
        here.run_in_background(again, "a")
        return await here.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["first", "second"]


def test_failed_work_is_logged_and_the_next_is_done(here: LocalHost, caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def raises() -> None:
        raise ValueError("my password")

    async def fails() -> None:
        raise ActionError(FailureKind.TIMEOUT, "did not end")

    async def work() -> int:
        current_hook.set(CurrentHook("first-hook"))
        here.run_in_background(raises, "a")
        current_hook.set(CurrentHook("second-hook"))
        here.run_in_background(fails, "a")
        here.run_in_background(appends(done, "next"), "a")
        return await here.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["next"]
    messages = [record.getMessage() for record in caplog.records if record.name == "hookline"]
    assert len(messages) == 2
    assert "first-hook" in messages[0]
    assert "ValueError" in messages[0]
    assert "password" not in messages[0]
    assert "second-hook" in messages[1]
    assert "did not end" in messages[1]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
def test_work_that_is_not_done_in_time_is_cancelled_with_its_programs(here: LocalHost, tmp_path: Path) -> None:
    done: list[str] = []

    async def hangs() -> None:
        await here.run_program(Command("echo $$ > pid; sleep 100", cwd=str(tmp_path), timeout=LONG))

    async def work() -> int:
        here.run_in_background(hangs, "a")
        here.run_in_background(appends(done, "never"), "a")
        here.run_in_background(appends(done, "in time"), "b")
        return await here.drain(timedelta(seconds=1))

    assert asyncio.run(work()) == 2
    assert done == ["in time"]
    pid = (tmp_path / "pid").read_text().strip()
    assert not Path(f"/proc/{pid}").exists()


def test_after_a_drain_work_is_done_again(here: LocalHost) -> None:
    done: list[str] = []

    async def work() -> int:
        here.run_in_background(appends(done, "never", after=100), "a")
        assert await here.drain(SOON) == 1
        assert await here.drain(SOON) == 0
        here.run_in_background(appends(done, "again"), "a")
        return await here.drain(LONG)

    assert asyncio.run(work()) == 0
    assert done == ["again"]


def test_each_loop_has_its_own_work(here: LocalHost) -> None:
    done: list[str] = []

    async def work() -> None:
        for number in range(20):
            here.run_in_background(appends(done, str(number)), "a")
        assert await here.drain(LONG) == 0

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == sorted(str(number) for number in range(20) for _ in threads)


def test_without_a_loop_nothing_runs_in_the_background(here: LocalHost) -> None:
    with pytest.raises(UnavailableError, match="event loop"):
        here.run_in_background(appends([], "never"), "a")
