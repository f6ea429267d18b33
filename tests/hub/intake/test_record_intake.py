from __future__ import annotations

from pathlib import Path

import pytest

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hub.store.decision_table import DecisionFilter
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory
from hub.hub_sandbox import async_test, open_hub


def event(command: str) -> Event:
    tool = {"name": "Bash", "kind": "shell", "input": {"command": command}}
    return Event("tool.before", {"tool": tool, "host": {"name": "codex"}, "session": {"id": "s"}})


@async_test
async def test_what_hosts_record_is_in_the_database(tmp_path: Path) -> None:
    recorder, book = Recorder(record_directory(tmp_path)), Book()
    async with open_hub(tmp_path) as hub:
        await recorder.decide(book, event("ls"))
        await hub.record_intake.look_once()
        await recorder.decide(book, event("pwd"))
        await hub.record_intake.look_once()
        rows, _ = await hub.decisions.page(DecisionFilter(), None, 10)
        assert [row["what"] for row in rows] == ["pwd", "ls"]
        assert await hub.books.find_hashes([book.files.hash]) == {book.files.hash}
    recorder.close()


@async_test
async def test_an_archive_is_read_by_one_process_only(tmp_path: Path) -> None:
    recorder = Recorder(record_directory(tmp_path))
    await recorder.decide(Book(), event("ls"))
    recorder.close()
    archive_records_of_ended_writers(record_directory(tmp_path), None, settle=0)
    for _ in range(2):
        async with open_hub(tmp_path) as hub:
            await hub.record_intake.look_once()
            assert await hub.decisions.size() == 2
            stored = await hub.store.get_value("hub", f"archives:{tmp_path / 'record'}")
            assert len(stored) == 1


@async_test
async def test_what_could_not_be_taken_is_taken_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(record_directory(tmp_path))
    async with open_hub(tmp_path) as hub:
        await recorder.decide(Book(), event("ls"))
        with monkeypatch.context() as broken:
            broken.setattr(hub.intake, "take", _refuse)
            with pytest.raises(HooklineError):
                await hub.record_intake.look_once()
        await recorder.decide(Book(), event("pwd"))
        await hub.record_intake.look_once()
        rows, _ = await hub.decisions.page(DecisionFilter(), None, 10)
        assert [row["what"] for row in rows] == ["pwd", "ls"]
    recorder.close()


async def _refuse(lines: list[bytes]) -> None:
    raise HooklineError("the database cannot be written")


@async_test
async def test_a_later_process_goes_on_where_the_database_ends(tmp_path: Path) -> None:
    recorder = Recorder(record_directory(tmp_path))
    for number in range(3):
        async with open_hub(tmp_path) as hub:
            await recorder.decide(Book(), event(f"ls {number}"))
            fed = await hub.record_intake._look()
            assert fed == (2 if number == 0 else 1)  # with the first one, the line that begins the chain
    recorder.close()
