from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hookline.hooks.hook_files import HookFiles
from hookline.hub.intake import retention
from hookline.hub.intake.chain_check import check_chains
from hookline.hub.intake.retention import Retention
from hookline.hub.store.decision_table import DecisionFilter
from hub.hub_sandbox import Writer, async_test, open_hub

NOW = datetime(2026, 11, 17, tzinfo=UTC).timestamp()


def old(days: int) -> str:
    return datetime.fromtimestamp(NOW - days * 86400, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


@async_test
async def test_old_records_go_in_pieces_and_the_chain_stays_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PIECE", 3)
    monkeypatch.setattr(retention, "_PAUSE_SECONDS", 0)
    async with open_hub(tmp_path) as hub:
        writer, other, files = Writer(), Writer("b" * 16), HookFiles()
        lines = [writer.call("old", at=old(40), hooks=files.hash) for _ in range(7)]
        await hub.intake.take(lines, books={files.hash: files.data})
        await hub.intake.take(
            [other.call("old", at=old(31)), other.call("new", at=old(1)), writer.call("new", at=old(1))]
        )
        await hub.intake.take([other.call("late", at=old(35))])
        removed = await Retention(hub.database, timedelta(days=30), 10**6, lambda: NOW).remove_old()
        assert removed == 8
        rows, _ = await hub.decisions.page(DecisionFilter(), None, 50)
        assert [row["what"] for row in rows] == ["late", "new", "new"]  # a clock that is wrong loses nothing early
        report = await check_chains(hub.database)
        assert (report.problems, report.records) == ((), 3)
        await hub.intake.take([writer.call("next")])
        assert (await check_chains(hub.database)).problems == ()
        assert await hub.intake.take(lines[:1])  # a machine that sends what is gone
        assert await hub.decisions.size() == 4


@async_test
async def test_the_oldest_go_if_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_PAUSE_SECONDS", 0)
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        await hub.intake.take([writer.call(str(number), at=old(1)) for number in range(20)])
        assert await Retention(hub.database, timedelta(days=30), 5, lambda: NOW).remove_old() == 15
        assert await hub.decisions.size() == 5


@async_test
async def test_texts_of_hooks_go_with_the_last_record_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_PAUSE_SECONDS", 0)
    files = HookFiles()
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        await hub.intake.take([writer.call("x", at=old(1), hooks=files.hash)], books={files.hash: files.data})
        later = NOW + 365 * 86400
        kept = Retention(hub.database, timedelta(days=700), 10, lambda: later)
        assert await kept.remove_old() == 0
        assert await hub.books.find_hashes([files.hash]) == {files.hash}
        assert await Retention(hub.database, timedelta(days=30), 10, lambda: later).remove_old() == 1
        assert await hub.books.find_hashes([files.hash]) == set()
