"""This machine as a host: programs, notices, and work in the background."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.actions.script import RunScript
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.host import Command, Notice, NullHost, ScriptCall
from hookline.hooks.templates import DataTemplate
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


def test_only_its_own_scripts_start_without_a_task(here: LocalHost) -> None:
    class Elsewhere(LocalHost):
        async def run_script(self, script: ScriptCall) -> Any:
            async with asyncio.timeout(1):
                return await super().run_script(script)

    action = RunScript("return null", DataTemplate({}), LONG)
    assert not action.needs_task(here)
    assert action.needs_task(Elsewhere(Unlimited()))
    assert action.needs_task(NullHost())


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
