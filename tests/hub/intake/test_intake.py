from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hooks.hook_files import HookFiles
from hookline.hub.intake.intake import MAX_BATCH, Intake, TakenLine
from hookline.hub.store.decision_table import DecisionFilter
from hookline.hub.store.origin_table import OriginTable
from hookline.runtime.storage.store import Store
from hub.hub_sandbox import Writer, async_test, new_database, open_hub


@async_test
async def test_lines_are_taken_once_also_by_the_next_process(tmp_path: Path) -> None:
    told: list[int] = []

    def on_taken(lines: Sequence[TakenLine]) -> None:
        told.extend(each.line.number for each in lines)

    writer = Writer()
    lines = [writer.start(), *(writer.call(str(number)) for number in range(MAX_BATCH + 10))]
    url = new_database(tmp_path)
    for _ in range(2):
        store = await Store.open(url)
        intake = Intake(store.database, on_taken)
        for _ in range(2):
            assert (await intake.take(lines)).taken == len(lines)
        await store.close()
    assert told == list(range(1, MAX_BATCH + 12))
    store = await Store.open(url)
    assert (await OriginTable(store.database).all())[0].number == MAX_BATCH + 11
    await store.close()


@async_test
async def test_one_bad_line_costs_no_other(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        done = await hub.intake.take([writer.call("a"), b"nonsense", writer.call("b")])
        assert (done.taken, done.refused) == (2, 1)
        assert await hub.decisions.size() == 2


@async_test
async def test_what_was_not_committed_is_taken_later(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        await hub.intake.take([writer.start()])
        lines = [writer.call("a"), writer.call("b")]
        (tmp_path / "hub.db").rename(tmp_path / "away")
        with pytest.raises(HooklineError, match="was removed"):
            await hub.intake.take(lines)
        (tmp_path / "away").rename(tmp_path / "hub.db")
        assert (await hub.intake.take(lines)).taken == 2
        assert await hub.decisions.size() == 3


@async_test
async def test_a_process_belongs_to_the_key_that_reported_it_first(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer, forger = Writer(), Writer()
        await hub.intake.take([writer.call("a"), writer.call("b")], key="k1")
        forger.number = 2
        done = await hub.intake.take([forger.call("forged")], key="k2")
        assert (done.taken, done.refused) == (0, 1)
        assert await hub.decisions.size() == 2
        assert (await hub.intake.take([writer.call("c")], key="k2")).taken == 1  # the machine has a new key


@async_test
async def test_texts_of_hooks_are_asked_for_and_must_have_their_hash(tmp_path: Path) -> None:
    files = HookFiles()
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        done = await hub.intake.take([writer.call("a", hooks=files.hash)])
        assert done.missing_books == (files.hash,)
        await hub.intake.take((), books={files.hash: b"forged"})
        assert await hub.books.find_hashes([files.hash]) == set()
        await hub.intake.take((), books={files.hash: files.data})
        assert await hub.books.find_hashes([files.hash]) == {files.hash}
        assert (await hub.intake.take([writer.call("b", hooks=files.hash)])).missing_books == ()


@async_test
async def test_a_clock_that_is_ahead_is_noticed_and_changes_no_order(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        ahead, right = Writer(), Writer("b" * 16)
        await hub.intake.take([ahead.call("future", at="2099-01-01T00:00:00.000000Z")])
        await hub.intake.take([right.call("now")])
        rows, _ = await hub.decisions.page(DecisionFilter(until=4e9), None, 5)
        assert [row["what"] for row in rows] == ["now", "future"]
        skews = {row.id[0]: row.skew for row in await hub.origins.all()}
        assert skews["b"] == 0
        assert skews["a"] > 10**9


@async_test
async def test_records_of_clocks_an_hour_off_are_in_the_order_of_arrival(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        now = datetime.now(UTC)
        offsets = {"ahead": 3600, "right": 0, "behind": -3600}
        writers = {name: Writer(letter * 16) for name, letter in zip(offsets, "abc", strict=True)}
        for round in (1, 2):
            for name, seconds in offsets.items():
                at = (now + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
                await hub.intake.take([writers[name].call(f"{name} {round}", at=at)])
        rows, _ = await hub.decisions.page(DecisionFilter(until=4e9), None, 10)
        assert [row["what"] for row in reversed(rows)] == [f"{name} {round}" for round in (1, 2) for name in offsets]
        skews = {row.id[0]: row.skew for row in await hub.origins.all()}
        assert 3500 < skews["a"] < 3700
        assert skews["b"] == skews["c"] == 0
