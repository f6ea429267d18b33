from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, insert, literal, select, update

from hookline.hooks.hook_files import HookFiles
from hookline.hub.intake.chain_check import check_chains
from hookline.hub.store.record_line import DECISION_COLUMNS, decision_values, parse_line
from hookline.runtime.storage.hub_tables import books, decisions, origins
from hub.hub_sandbox import Writer, async_test, open_hub
from runtime.storage import temporary_postgres
from runtime.storage.conftest import NO_POSTGRES

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


@pytest.mark.slow
@async_test
async def test_what_was_changed_in_postgresql_is_found(tmp_path: Path) -> None:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    with temporary_postgres.running(programs, tmp_path) as socket:
        async with open_hub(tmp_path, store=f"postgresql://tests@/postgres?host={socket}") as hub:
            for number, (what, tampering) in enumerate(TAMPERING.items()):
                writer, files = Writer(f"{number:016x}"), HookFiles()
                lines = [writer.start(), writer.call("ls"), writer.call("rm x", "deny"), writer.call("pwd")]
                await hub.intake.take(lines, books={files.hash: files.data})
                assert (await check_chains(hub.database)).problems == (), what
                await hub.database.write(lambda connection, work=tampering: connection.execute(work))  # type: ignore[misc]
                assert len((await check_chains(hub.database)).problems) == 1, what
                for table in (decisions, origins, books):
                    await hub.database.write(lambda connection, table=table: connection.execute(delete(table)))  # type: ignore[misc]


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


def _copy_of_one(**changes: Any) -> Any:
    names = list(DECISION_COLUMNS)
    values = [literal(changes[name]) if name in changes else decisions.c[name] for name in names]
    return insert(decisions).from_select(names, select(*values).where(decisions.c.number == 2))


INSERTED = {
    "a copy after the last one": _copy_of_one(number=5, verdict="allow"),
    "a copy far after the last one": _copy_of_one(number=50),
    "a copy before the first one": _copy_of_one(number=0),
    "a copy with a number below zero": _copy_of_one(number=-7),
    "a copy of a process that is not there": _copy_of_one(origin="b" * 16),
}


@pytest.mark.parametrize("what", INSERTED)
@async_test
async def test_a_record_that_was_inserted_is_found(what: str, tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        await hub.intake.take([writer.start(), writer.call("ls"), writer.call("rm x", "deny"), writer.call("pwd")])
        await hub.database.write(lambda connection: connection.execute(INSERTED[what]))
        report = await check_chains(hub.database)
        assert len(report.problems) == 1, report.problems
        assert "inserted" in report.problems[0]


@async_test
async def test_a_new_record_that_follows_from_the_last_one_is_found(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        await hub.intake.take([writer.start(), writer.call("ls")])
        line = parse_line(writer.call("I did approve this", "allow"))
        assert line is not None
        values = dict(zip(DECISION_COLUMNS, decision_values(line, now=line.at), strict=True))
        await hub.database.write(lambda connection: connection.execute(insert(decisions).values(values)))
        assert (await check_chains(hub.database)).problems == (f"{'a' * 16}-3: this record was inserted",)


@async_test
async def test_records_whose_process_was_removed_are_found(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([Writer().start()])
        await hub.database.write(lambda connection: connection.execute(delete(origins)))
        assert len((await check_chains(hub.database)).problems) == 1


APART = {
    "nothing": None,
    "it is changed": update(decisions).where(decisions.c.number == 4).values(record=RECORD),
    "its column is changed": update(decisions).where(decisions.c.number == 4).values(verdict="allow"),
    "the last one is removed": delete(decisions).where(decisions.c.number == 5),
}


@pytest.mark.parametrize("what", APART)
@async_test
async def test_records_that_wait_for_others_are_checked_too(what: str, tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        lines = [writer.start(), writer.call("ls"), writer.call("id"), writer.call("rm x", "deny"), writer.call("pwd")]
        await hub.intake.take([lines[0], *lines[3:]])

        def tamper(connection: Connection) -> None:
            if (statement := APART[what]) is not None:
                connection.execute(statement)

        await hub.database.write(tamper)
        assert len((await check_chains(hub.database)).problems) == (what != "nothing")


@async_test
async def test_records_that_came_before_earlier_ones_are_not_tampering(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        lines = [writer.call(str(number)) for number in range(6)]
        for taken in (lines[5:], lines[2:3], lines[1:2], lines[4:5], lines[:1], lines[3:4]):
            await hub.intake.take(taken)
            assert (await check_chains(hub.database)).problems == ()
