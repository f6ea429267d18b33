from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

import hookline
from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory
from hub.hub_sandbox import async_test, eventually, open_hub


@async_test
async def test_an_open_hub_takes_what_hosts_record(tmp_path: Path) -> None:
    recorder = Recorder(record_directory(tmp_path))
    async with open_hub(tmp_path, reads_record=True) as hub:
        await recorder.decide(Book(), Event("session.start", {"session": {"id": "s"}}))

        async def is_taken() -> bool:
            return await hub.decisions.size() == 2

        await eventually(is_taken)
        [host] = await hub.origins.all()
        assert host.version == hookline.__version__
    recorder.close()


@async_test
async def test_work_in_the_background_ends_with_the_hub_and_its_failures_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append(True)

    async def fail() -> None:
        raise ValueError("oh")

    with caplog.at_level(logging.ERROR, "hookline.hub"):
        async with open_hub(tmp_path) as hub:
            hub.run_in_background(work())
            hub.run_in_background(fail())
            await eventually(lambda: "ValueError: oh" in caplog.text)
    assert ended == [True]
    assert "a part of the hub has stopped: ValueError: oh (test_running_hub.py:" in caplog.text
