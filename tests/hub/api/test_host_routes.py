from __future__ import annotations

from pathlib import Path

from hub.hub_sandbox import Writer, async_test, open_client


@async_test
async def test_hosts_and_their_chains(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        writer, gappy, forged = Writer(), Writer("b" * 16), Writer("c" * 16)
        await client.hub.intake.take([writer.start("box"), writer.call("ls")])
        lines = [gappy.start("laptop"), gappy.call("a"), gappy.call("b")]
        await client.hub.intake.take([lines[0], lines[2]], key="k")
        changed = [forged.call("x"), forged.call("y").replace(b'"y"', b'"z"'), forged.call("w")]
        await client.hub.intake.take(changed)
        hosts = {each["id"][0]: each for each in (await client.get("/hosts")).json()["items"]}
        assert (hosts["a"]["machine"], hosts["a"]["kind"], hosts["a"]["records"]) == ("box", "claude-code", 2)
        assert (hosts["b"]["gaps"], hosts["b"]["remote"]) == (2, True)
        audit = (await client.get("/audit")).json()
        assert {each["id"][0]: each["state"] for each in audit["items"]} == {
            "a": "intact",
            "b": "incomplete",
            "c": "broken",
        }
        assert audit["intact"] is False
