from __future__ import annotations

from pathlib import Path

from hookline.hub.store.agent_table import AgentRow, AgentTable
from hub.hub_sandbox import async_test, open_hub

ROW = AgentRow("one", "One", "Be brief.", "", ["bash", "mcp*"], ["https://api.example.org"], "/work", "maria", 1.0)


@async_test
async def test_rows_are_read_as_stored_and_changed(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = AgentTable(hub.database)
        await table.add(ROW)
        assert await table.all() == [ROW]
        assert await table.change("one", tools=[])
        assert not await table.change("two", tools=[])
        assert (await table.all())[0].tools == []
        assert await table.remove("one")
        assert await table.all() == []
