from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hookline.hub.access.roles import Role
from hub.hub_sandbox import Writer, async_test, open_client

TEXT = """hooks:
  - {id: one, on: tool.before, tags: [red], then: deny}
  - {id: two, on: session.start, then: {log: hi}}
  - {id: bad, on: nowhere, then: deny}
"""


@async_test
async def test_hooks_are_listed_with_their_fires_and_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "hookline.yaml").write_text(TEXT)
    async with open_client(tmp_path) as client:
        writer = Writer()
        facts = {"tool": {"name": "Bash", "input": {"command": "x"}}, "cwd": str(tmp_path)}
        await client.hub.intake.take(
            [writer.start(os.uname().nodename), writer.call("x", "deny", hook="one", facts=facts)]
        )
        found = (await client.get("/hooks")).json()
        assert [
            (each["id"], each["fires"], each["line"]) for each in found["items"] if each["id"] in ("one", "two")
        ] == [("one", 1, 2), ("two", 0, 3)]
        assert any("nowhere" in each["what"] for each in found["problems"])
        assert [each["id"] for each in (await client.get("/hooks?tag=red&event=tool.before")).json()["items"]] == [
            "one"
        ]
        assert (await client.get("/hooks?workspace=/elsewhere")).json()["items"] == []
        assert [row["hook"] for row in (await client.get("/decisions?tag=red")).json()["items"]] == ["one"]
        assert (await client.get("/decisions?tag=blue")).json()["items"] == []


def rules_text(tool: str, **more: str) -> str:
    return json.dumps({"hooks": {"PreToolUse": [{"matcher": tool, "action": "deny", **more}]}})


@async_test
async def test_rules_of_agents_are_listed_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with open_client(tmp_path, Role.EDITOR, agents_path=tmp_path / "agents") as client:
        one, two = [
            (await client.post("/agents", {"name": name, "model": "m"})).json()["id"] for name in ("one", "two")
        ]
        for set, tool in ((f"agent:{one}", "bash"), (f"agent:{two}", "write_file"), ("everyone", "read_file")):
            saved = await client.http.put(
                f"/api/v1/rules/{set}", json={"text": rules_text(tool), "base": 0, "note": ""}
            )
            assert saved.status_code == 200
        writer = Writer()
        calls = [writer.call("x", "deny", hook="agent:one:PreToolUse[0]"), writer.call("y", "deny", hook="é" * 400)]
        await client.hub.intake.take([writer.start("box"), *calls])

        async def listed(query: str) -> list[tuple[str, int]]:
            return [(each["id"], each["fires"]) for each in (await client.get(f"/hooks{query}")).json()["items"]]

        everyone, of_one, of_two = (
            ("everyone:PreToolUse[0]", 0),
            ("agent:one:PreToolUse[0]", 1),
            ("agent:two:PreToolUse[0]", 0),
        )
        assert sorted(await listed("")) == sorted([everyone, of_one, of_two])
        assert sorted(await listed(f"?agent={one}")) == sorted([everyone, of_one])
        assert await listed(f"?file=rules/agent:{two}") == [of_two]
        assert await listed("?agent=nobody") == []

        text = rules_text("bash", id="é" * 400)
        await client.http.put("/api/v1/rules/everyone", json={"text": text, "base": 1, "note": ""})
        assert ("é" * 400, 1) in await listed("")  # long names are shortened in the index
