from __future__ import annotations

from pathlib import Path

from hookline.hub.store.origin_table import OriginRow, upsert_origins
from hub.hub_sandbox import Writer, async_test, open_hub


@async_test
async def test_rows_are_replaced_and_the_last_to_report_comes_first(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await hub.database.write(upsert_origins([OriginRow("a", last=1), OriginRow("b", last=2)]))
        await hub.database.write(upsert_origins([OriginRow("a", last=3, machine="box", number=4, newest=6)]))
        assert [row.id for row in await hub.origins.all()] == ["a", "b"]
        row = (await hub.origins.find(["a"]))["a"]
        assert (row.machine, row.missing) == ("box", 2)


@async_test
async def test_records_after_a_gap_are_found_again(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        lines = [writer.call(str(number)) for number in range(4)]
        await hub.intake.take([lines[0], lines[3]])
        later = await hub.origins.records_apart(["a" * 16])
        assert list(later["a" * 16]) == [4]
        assert later["a" * 16][4][1] == writer.hash
