"""A session on the hub, from its start to its deletion, as the API and the bus show it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.hub.pages.saved_dom import PageStateTable
from hookline.runtime.storage.tables import key_values, metadata
from hub.hub_sandbox import Client, Writer, async_test, eventually, open_hub, token_of

SCRIPT = """
steps:
  - {say: Looking., call: {bash: {command: echo hello > made}}}
  - {say: All done.}
  - {call: {bash: {command: rm made}}}
  - {say: Still there.}
"""


class Watcher:
    """What was published."""

    def __init__(self, hub: Hub) -> None:
        self.events: list[tuple[str, dict[str, Any], tuple[str, ...]]] = []
        publish = hub.bus.publish

        async def also(type: str, payload: dict[str, Any], rooms: tuple[str, ...], **more: Any) -> None:
            self.events.append((type, payload, tuple(rooms)))
            await publish(type, payload, rooms, **more)

        hub.session_updates._publish = also  # type: ignore[method-assign]

    def types(self) -> list[str]:
        return [type for type, _, _ in self.events]

    def of(self, type: str) -> list[dict[str, Any]]:
        return [payload for each, payload, _ in self.events if each == type]


@asynccontextmanager
async def agent_of(tmp_path: Path, script: str = SCRIPT) -> AsyncIterator[tuple[Hub, Client, Watcher, str]]:
    (tmp_path / "home").mkdir(exist_ok=True)
    async with open_hub(tmp_path, home=tmp_path / "home", agents_path=tmp_path / "agents") as hub:
        client = Client(hub, await token_of(hub, Role.EDITOR))
        made = (await client.post("/agents", {"name": "My helper", "model": "script:model.yaml"})).json()
        (Path(made["workspace"]) / "model.yaml").write_text(script)
        yield hub, client, Watcher(hub), made["id"]


async def say(hub: Hub, client: Client, session: str, text: str) -> None:
    assert (await client.post(f"/sessions/{session}/messages", {"text": text})).status_code == 202
    await eventually(lambda: not hub.sessions.is_running(session))


@async_test
async def test_a_session_of_an_agent_works_and_is_shown_on_the_bus(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (hub, client, watcher, agent):
        started = await client.post("/sessions", {"agent": agent})
        assert (started.status_code, started.json()["state"]) == (201, "idle")
        id = started.json()["id"]
        await say(hub, client, id, "go")
        await eventually(lambda: "end" in watcher.types())
        assert watcher.of("result")[0]["ok"] is True
        assert "".join(each["text"] for each in watcher.of("text")) == "Looking.All done."
        assert {rooms for type, _, rooms in watcher.events if type == "text"} == {(f"session:{id}",)}
        messages = (await client.get(f"/sessions/{id}/messages")).json()["items"]
        assert [each["role"] for each in messages] == ["user", "assistant", "tool", "assistant"]
        assert (tmp_path / "agents" / agent / "made").read_text() == "hello\n"
        listed = (await client.get("/sessions")).json()["items"]
        assert [(each["id"], each["turns"]) for each in listed] == [(id, 2)]


@async_test
async def test_rules_of_the_console_hold_at_once(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (hub, client, watcher, agent):
        id = (await client.post("/sessions", {"agent": agent})).json()["id"]
        await say(hub, client, id, "go")
        rule = {"matcher": "bash", "inputMatchers": {"command": "rm"}, "action": "deny", "reason": "No deleting"}
        saved = await client.post(f"/rules/agent:{agent}/rules", {"event": "PreToolUse", "rule": rule, "base": 0})
        assert saved.status_code == 201
        await say(hub, client, id, "now delete it")
        await eventually(lambda: len(watcher.of("result")) == 2)
        denied = watcher.of("result")[1]
        assert (denied["ran"], "No deleting" in denied["error"]) == (False, True)
        assert (tmp_path / "agents" / agent / "made").exists()


STORES = """
steps:
  - {call: {storage: {action: set, key: k, value: 1}}}
  - {call: {files: {action: write, path: a.txt, content: stored}}}
  - {call: {bash: {command: git push}}}
  - {say: Done.}
"""
LEAVES_A_MARK = "await callTool('bash', {command: 'touch ended'})"


async def ends_with_a_mark(client: Client) -> None:
    """Its last event makes a file."""
    rule = {"action": "script", "script": LEAVES_A_MARK, "continueOnError": False}
    saved = await client.post("/rules/everyone/rules", {"event": "AgentEnd", "rule": rule, "base": 0})
    assert saved.status_code == 201


async def rows_with(hub: Hub, *ids: str) -> set[str]:
    """The tables that have a row in which one of these ids stands."""
    database = hub.store.database

    def read(connection: Connection) -> set[str]:
        found = set()
        for table in metadata.sorted_tables:
            rows = "\n".join(str(tuple(row)) for row in connection.execute(select(table)))
            if any(id in rows for id in ids):
                found.add(table.name)
        return found

    return await database.read(read)


@async_test
async def test_a_deleted_session_fires_its_last_event_and_leaves_nothing(tmp_path: Path) -> None:
    async with agent_of(tmp_path, STORES) as (hub, client, watcher, agent):
        await ends_with_a_mark(client)
        (tmp_path / "agents" / agent / "hookline.yaml").write_text(
            "hooks: [{on: tool.before, when: {tool: bash, input: {command: push}}, then: {ask: Really?}}]"
        )
        id = (await client.post("/sessions", {"agent": agent})).json()["id"]
        assert (await client.post(f"/sessions/{id}/messages", {"text": "go"})).status_code == 202
        await eventually(lambda: hub.approvals.waiting())
        await PageStateTable(hub.store.database).save(id, "<p>drawn</p>")
        ids = (id, *(thread.id for thread in await hub.store.threads(id)))
        named = {"sessions", "threads", "messages", "tool_calls", "approvals", "files", "page_states"}
        assert named <= await rows_with(hub, *ids)
        assert (await client.delete(f"/sessions/{id}")).status_code == 200
        await eventually(lambda: {"id": id, "reason": "deleted"} in watcher.of("session_ended"))
        assert (tmp_path / "agents" / agent / "ended").exists()
        assert watcher.of("user") == [{"text": "go"}]
        assert await rows_with(hub, *ids) == {key_values.name}  # that it was deleted
        assert (await client.get(f"/sessions/{id}/messages")).status_code == 404


@async_test
async def test_a_deleted_session_is_not_listed_by_its_decisions(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (hub, client, _, agent):
        deleted, other = [(await client.post("/sessions", {"agent": agent})).json()["id"] for _ in range(2)]
        await hub.intake.take([Writer().call("ls", session=deleted)])
        assert (await client.delete(f"/sessions/{deleted}")).status_code == 200
        assert [each["id"] for each in (await client.get("/sessions")).json()["items"]] == [other]
        assert (await client.get(f"/sessions/{deleted}")).status_code == 404
        found = (await client.get(f"/decisions?session={deleted}")).json()["items"]
        assert [each["what"] for each in found] == ["ls"]


@async_test
async def test_each_end_of_a_session_is_told_once(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (hub, client, watcher, agent):
        await ends_with_a_mark(client)
        idle, ended, deleted = [(await client.post("/sessions", {"agent": agent})).json()["id"] for _ in range(3)]
        for runtime in hub.runtimes.running:
            session = runtime.sessions[idle]
            session.last_used = 0
            await runtime.expire()
        assert (tmp_path / "agents" / agent / "ended").exists()
        assert (await client.post(f"/sessions/{ended}/end")).status_code == 200
        assert (await client.delete(f"/sessions/{deleted}")).status_code == 200
        told = [{"id": idle, "reason": "idle"}, {"id": ended, "reason": "ended at the hub"}]
        told.append({"id": deleted, "reason": "deleted"})
        await eventually(lambda: len(watcher.of("session_ended")) == len(told))
        assert watcher.of("session_ended") == told
        assert {rooms for type, _, rooms in watcher.events if type == "session_ended"} == {
            ("live", f"session:{id}") for id in (idle, ended, deleted)
        }
        assert (await client.get(f"/sessions/{idle}")).json()["state"] == "ended"


@async_test
async def test_an_ended_session_is_reopened_and_a_busy_one_is_cancelled(tmp_path: Path) -> None:
    slow = "steps: [{call: {bash: {command: sleep 30}}}, {say: done}, {say: again}]"
    async with agent_of(tmp_path, slow) as (hub, client, watcher, agent):
        id = (await client.post("/sessions", {"agent": agent})).json()["id"]
        assert (await client.post(f"/sessions/{id}/messages", {"text": "go"})).status_code == 202
        await eventually(lambda: "call" in watcher.types())
        assert (await client.post(f"/sessions/{id}/messages", {"text": "more"})).status_code == 409
        assert (await client.post(f"/sessions/{id}/cancel")).json() == {"ok": True}
        await eventually(lambda: not hub.sessions.is_running(id))
        assert (await client.post(f"/sessions/{id}/end")).status_code == 200
        assert (await client.get(f"/sessions/{id}")).json()["state"] == "ended"
        assert (await client.post(f"/sessions/{id}/messages", {"text": "more"})).status_code == 409
        assert (await client.post(f"/sessions/{id}/reopen")).json()["state"] == "idle"


@async_test
async def test_of_messages_at_the_same_time_one_is_taken(tmp_path: Path) -> None:
    slow = "steps: [{call: {bash: {command: sleep 30}}}]"
    async with agent_of(tmp_path, slow) as (hub, client, watcher, agent):
        id = (await client.post("/sessions", {"agent": agent})).json()["id"]
        messages = (client.post(f"/sessions/{id}/messages", {"text": f"go {number}"}) for number in range(5))
        answers = await asyncio.gather(*messages)
        assert sorted(each.status_code for each in answers) == [202, 409, 409, 409, 409]
        await eventually(lambda: "call" in watcher.types())
        assert hub.sessions.is_running(id)
        assert len(watcher.of("user")) == 1
        assert (await client.post(f"/sessions/{id}/cancel")).json() == {"ok": True}


@async_test
async def test_a_changed_agent_counts_for_sessions_that_begin_afterwards(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (hub, client, watcher, agent):
        before = (await client.post("/sessions", {"agent": agent})).json()["id"]
        changed = await client.http.patch(f"/api/v1/agents/{agent}", json={"tools": ["read_file"]})
        assert changed.status_code == 200
        after = (await client.post("/sessions", {"agent": agent})).json()["id"]
        await say(hub, client, after, "go")
        await eventually(lambda: watcher.of("result"))
        assert (watcher.of("result")[0]["ran"], "may not use bash" in watcher.of("result")[0]["error"]) == (False, True)
        await say(hub, client, before, "go")
        await eventually(lambda: len(watcher.of("result")) == 2)
        assert watcher.of("result")[1]["ok"] is True


@async_test
async def test_what_does_not_exist_is_not_found(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (_, client, _, _):
        for method, path in (("GET", ""), ("GET", "/messages"), ("POST", "/cancel"), ("POST", "/end"), ("DELETE", "")):
            found = await client.http.request(method, f"/api/v1/sessions/nothing{path}")
            assert found.status_code == 404, (method, path)
        assert (await client.post("/sessions", {"agent": "nobody"})).status_code == 404
        assert (await client.post("/sessions", {"workspace": "/etc"})).status_code == 404


@async_test
async def test_hooks_may_forbid_the_start(tmp_path: Path) -> None:
    async with agent_of(tmp_path) as (_, client, _, agent):
        rule = {"action": "deny", "reason": "Not today"}
        await client.post("/rules/everyone/rules", {"event": "AgentStart", "rule": rule, "base": 0})
        refused = await client.post("/sessions", {"agent": agent})
        assert (refused.status_code, "Not today" in refused.json()["error"]) == (403, True)


@async_test
async def test_a_hub_that_ends_leaves_its_sessions_to_the_next_one(tmp_path: Path) -> None:
    slow = "steps: [{call: {bash: {command: sleep 30}}}, {say: done}]"
    async with agent_of(tmp_path, slow) as (hub, client, watcher, agent):
        id = (await client.post("/sessions", {"agent": agent})).json()["id"]
        await client.post(f"/sessions/{id}/messages", {"text": "go"})
        await eventually(lambda: "call" in watcher.types())
    (tmp_path / "agents" / agent / "model.yaml").write_text("steps: [{say: done}]")
    async with open_hub(tmp_path, home=tmp_path / "home", agents_path=tmp_path / "agents") as hub:
        client = Client(hub, await token_of(hub, Role.EDITOR))
        assert (await client.post(f"/sessions/{id}/resume")).json() == {"ok": True, "resumed": True}
        await eventually(lambda: not hub.sessions.is_running(id))
        messages = (await client.get(f"/sessions/{id}/messages")).json()["items"]
        assert messages[-1]["content"] == "done"
