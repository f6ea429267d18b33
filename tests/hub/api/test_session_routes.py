"""Sessions that other hosts reported are listed beside the hub's own."""

from __future__ import annotations

from pathlib import Path

from hub.hub_sandbox import Writer, async_test, open_client


@async_test
async def test_sessions_of_other_hosts_are_known_by_their_decisions(tmp_path: Path) -> None:
    writer = Writer()
    async with open_client(tmp_path) as client:
        await client.hub.intake.take(
            [writer.start(), writer.call("ls"), writer.call("pwd"), writer.call("id", session="s2")]
        )
        items = (await client.get("/sessions")).json()["items"]
        assert {(each["id"], each["host"], each["decisions"], each["state"]) for each in items} == {
            ("s1", "claude-code", 2, "reported"),
            ("s2", "claude-code", 1, "reported"),
        }
        assert (await client.get("/sessions/s1")).json()["decisions"] == 2
        assert (await client.get("/sessions/s1")).json()["workspace"] == "/work"
        assert (await client.get("/sessions/s3")).status_code == 404
        assert (await client.get("/workspaces")).json()["items"] == []
