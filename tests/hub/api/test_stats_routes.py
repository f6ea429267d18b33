from __future__ import annotations

from pathlib import Path

from hub.hub_sandbox import Writer, async_test, open_client


@async_test
async def test_decisions_are_counted(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        writer = Writer()
        await client.hub.intake.take([writer.call("a"), writer.call("b", "deny"), writer.call("c", "deny")])
        counts = (await client.get("/stats?by=verdict&since=2026-01-01")).json()["items"]
        assert counts == [{"value": "deny", "count": 2}, {"value": "silent", "count": 1}]
        timeline = (await client.get("/stats?by=time&since=2026-01-01")).json()
        assert len(timeline["items"]) == 60
        assert (await client.get("/stats?by=hook")).json()["items"] == []
        for by in ("tool", "host", "event", "session", "agent"):
            assert (await client.get(f"/stats?by={by}&since=2026-01-01")).json()["items"][0]["count"] == 3
        assert (await client.get("/stats?by=hash")).status_code == 422
        assert (await client.get("/stats?by=time&since=9999-01-01")).status_code == 200
