from __future__ import annotations

from pathlib import Path

from hookline.hub.pages.saved_dom import MAX_DOM, PageStateTable
from hub.hub_sandbox import async_test
from hub.pages.page_stand_in import open_agent, open_page_hub


@async_test
async def test_the_last_dom_is_loaded_and_one_that_is_too_large_is_not_saved(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub) as session:
        table = PageStateTable(hub.database)
        assert await table.load(session.id) == ""
        assert await table.save(session.id, "<p>one</p>")
        assert await table.save(session.id, "<p>two\0</p>")
        assert not await table.save(session.id, "ü" * (MAX_DOM // 2 + 1))
        assert await table.load(session.id) == "<p>two\0</p>"
        await session.runtime.delete(session.id)
        assert await table.load(session.id) == ""
