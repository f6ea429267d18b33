"""Agents over HTTP."""

from __future__ import annotations

from pathlib import Path

from hookline.hub.access.roles import Role
from hookline.hub.store.agent_table import AgentRow, AgentTable
from hub.hub_sandbox import async_test, open_client


@async_test
async def test_an_agent_is_made_changed_and_removed(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR, agents_path=tmp_path / "agents", home=tmp_path) as client:
        body = {"name": "Helper", "prompt": "Be brief.", "network": ["https://api.example.org"]}
        made = await client.post("/agents", body)
        assert (made.status_code, made.json()["by"]) == (201, "the editor")
        changed = await client.http.patch("/api/v1/agents/helper", json={"prompt": "Be kind."})
        assert (changed.json()["prompt"], changed.json()["name"]) == ("Be kind.", "Helper")
        assert [each["id"] for each in (await client.get("/agents")).json()["items"]] == ["helper"]
        rule = {"event": "PreToolUse", "rule": {"id": "no", "matcher": "^bash$", "action": "deny"}, "base": 0}
        assert (await client.post("/rules/agent:helper/rules", rule)).status_code == 201
        for path in ("/agents/helper/hooks", "/apps/helper/hooks"):
            ((hook),) = (await client.get(path)).json()["items"]
            assert (hook["id"], hook["fires"], hook["last_fire"]) == ("no", 0, None)
        assert (await client.delete("/agents/helper")).status_code == 200
        assert (await client.get("/agents/helper")).status_code == 404


@async_test
async def test_an_agent_that_another_hub_made_is_there_at_once(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR, agents_path=tmp_path / "agents", home=tmp_path) as client:
        workspace = tmp_path / "agents/painter"
        workspace.mkdir(parents=True)
        row = AgentRow("painter", "Painter", "Draw.", "", [], [], str(workspace), "ann", 1.0)
        await AgentTable(client.hub.database).add(row)
        assert (await client.get("/agents/painter")).json()["name"] == "Painter"
        await AgentTable(client.hub.database).change("painter", prompt="Paint.")
        runtime = await client.hub.runtimes.get(workspace)
        assert runtime.app.agents[0].side_a.prompt.text == "Paint."
        assert [each["prompt"] for each in (await client.get("/agents")).json()["items"]] == ["Paint."]


@async_test
async def test_agents_of_one_name_that_two_hubs_make_have_ids_of_their_own(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR, agents_path=tmp_path / "agents", home=tmp_path) as client:
        row = AgentRow("painter", "Painter", "", "", [], [], str(tmp_path / "agents/painter"), "ann", 1.0)
        await AgentTable(client.hub.database).add(row)
        made = await client.post("/agents", {"name": "Painter"})
        assert made.json()["id"].startswith("painter-")


@async_test
async def test_only_origins_are_a_network(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR, agents_path=tmp_path / "agents") as client:
        wrongs = (
            "*",
            "example.org",
            "https://a.example/path",
            "javascript:alert(1)",
            "https://*",
            "https://u:p@a.example",
        )
        for wrong in (*wrongs, "https://a.example; img-src *", "https://a.example\n", "https://a.example:port"):
            assert (await client.post("/agents", {"name": "x", "network": [wrong]})).status_code == 422
