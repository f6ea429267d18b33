"""Every version of a set is kept, and two editors do not overwrite each other."""

from __future__ import annotations

from pathlib import Path

from hookline.hub.store.rule_table import RuleSetRow, RuleTable, RuleVersionRow
from hub.hub_sandbox import async_test, open_hub

SET = RuleSetRow("everyone", "Everyone", "", "", "flo", 0)


def version(number: int, text: str = "{}") -> RuleVersionRow:
    return RuleVersionRow("everyone", number, text, "maria", float(number), "")


@async_test
async def test_versions_are_kept_in_order(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = RuleTable(hub.database)
        assert await table.heads() == []
        for number in (1, 2, 3):
            assert await table.add_version(SET, version(number, f"{number}"))
        assert [each.number for each in await table.versions("everyone")] == [3, 2, 1]
        assert await table.version("everyone", 2) == version(2, "2")
        assert await table.version("everyone", 9) is None
        assert await table.heads() == [version(3, "3")]
        found = await table.find_set("everyone")
        assert found is not None
        assert found.head == 3


@async_test
async def test_a_version_after_another_than_the_last_is_refused(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = RuleTable(hub.database)
        assert not await table.add_version(SET, version(2))
        assert await table.add_version(SET, version(1))
        assert not await table.add_version(SET, version(1))
        assert not await table.add_version(SET, version(3))
        assert len(await table.versions("everyone")) == 1
