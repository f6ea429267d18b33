from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, update

from hookline.hooks.hook_files import HookFiles
from hookline.hub.intake.chain_check import check_chains
from hookline.hub.store.record_line import DECISION_COLUMNS
from hookline.runtime.storage.hub_tables import books, decisions
from hub.hub_sandbox import Writer, async_test, open_hub

RECORD = func.replace(decisions.c.record, "rm x", "ls x")
TAMPERING = {
    "a record is changed": update(decisions).where(decisions.c.number == 3).values(record=RECORD),
    "and its hash too": update(decisions).where(decisions.c.number == 3).values(record=RECORD, hash="0" * 64),
    "a record is removed": delete(decisions).where(decisions.c.number == 3),
    "the last one is removed": delete(decisions).where(decisions.c.number == 4),
    "the first one is removed": delete(decisions).where(decisions.c.number == 1),
    "all are removed": delete(decisions),
    "texts of hooks are changed": update(books).values(parts="{}"),
}
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("host", "session", "thread", "agent", "event", "call", "tool", "verdict", "hook", "words"), "x"),
    "kind": "start",
    "outcome": "ok",
    "took": 7.5,
    "book": "1" * 64,
    "at": 1.0,
}
TAMPERING |= {
    f"{name} is not as in the record": update(decisions).where(decisions.c.number == 3).values({name: value})
    for name, value in COLUMNS.items()
}


def test_every_column_that_is_made_from_a_record_is_tampered_with() -> None:
    assert {*COLUMNS, "origin", "number", "record", "hash"} == set(DECISION_COLUMNS)


@pytest.mark.parametrize("what", ["nothing", *TAMPERING])
@async_test
async def test_what_was_changed_is_found(what: str, tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer, files = Writer(), HookFiles()
        lines = [writer.start(), writer.call("ls"), writer.call("rm x", "deny"), writer.call("pwd")]
        await hub.intake.take(lines, books={files.hash: files.data})
        if what != "nothing":
            await hub.database.write(lambda connection: connection.execute(TAMPERING[what]))
        report = await check_chains(hub.database)
        assert len(report.problems) == (what != "nothing"), report.problems
        if what == "nothing":
            assert (report.records, report.origins, report.missing) == (4, 1, 0)


@async_test
async def test_a_record_that_never_came_is_missing_and_not_tampering(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        lines = [writer.call(str(number)) for number in range(4)]
        await hub.intake.take([lines[0], lines[3]])
        report = await check_chains(hub.database)
        assert (report.problems, report.missing, report.records) == ((), 3, 1)


@async_test
async def test_a_clock_that_was_ahead_is_not_tampering(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        line = writer.call("ls", at="2226-11-16T20:01:35.458752Z")
        assert (await hub.intake.take([line])).taken == 1
        assert (await check_chains(hub.database)).problems == ()
