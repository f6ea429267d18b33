from __future__ import annotations

import os
from pathlib import Path

import pytest

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
