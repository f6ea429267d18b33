from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from hookline.hub.intake.retention import Retention
from hookline.hub.store.deleted_sessions import mark_deleted
from hub.hub_sandbox import Writer, async_test, open_hub


@async_test
async def test_it_is_left_out_until_its_last_decision_has_gone(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer, long = Writer(), "s" * 300
        await hub.intake.take([writer.call("ls", session=each) for each in ("one", "two", long)])
        for each in ("one", long):
            await mark_deleted(hub.store, each)
        assert [each["id"] for each in await hub.decisions.sessions(10)] == ["two"]
        assert await hub.decisions.sessions(1, "one") == []
        retention = Retention(hub.database, timedelta(days=100_000), 2)
        await retention.remove_old()
        assert len(await hub.store.keys("hub:deleted-sessions")) == 1
        await Retention(hub.database, timedelta(days=1), 2).remove_old()
        assert await hub.store.keys("hub:deleted-sessions") == []
