from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

from hookline.hub.store.hub_table import HubTable
from hookline.runtime.storage.tables import SessionRow
from hub.hub_sandbox import async_test, open_hub

TEN_SECONDS = timedelta(seconds=10)


@async_test
async def test_a_session_has_the_hub_that_took_it_while_that_hub_is_seen(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = HubTable(hub.database)
        now = time.time()
        await hub.store.add_session(SessionRow("s", "a", "a", "/", "me", now, now))
        await table.mark_seen("one", "http://127.0.0.1:1", timedelta(hours=1))
        assert await table.of_session("s", TEN_SECONDS) is None
        await table.take_session("s", "one")
        found = await table.of_session("s", TEN_SECONDS)
        assert found is not None
        assert (found.id, found.url) == ("one", "http://127.0.0.1:1")
        assert await table.of_session("s", timedelta(seconds=-1)) is None
        assert [each.id for each in await table.running(TEN_SECONDS)] == ["one"]
        await table.remove("one")
        assert await table.of_session("s", TEN_SECONDS) is None


@async_test
async def test_hubs_that_were_not_seen_for_long_are_forgotten(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = HubTable(hub.database)
        await table.mark_seen("old", "http://127.0.0.1:1", timedelta(hours=1))
        await table.mark_seen("new", "http://127.0.0.1:2", timedelta(seconds=-1))
        assert [each.id for each in await table.running(TEN_SECONDS)] == []
