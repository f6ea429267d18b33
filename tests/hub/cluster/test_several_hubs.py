"""Two hubs on one PostgreSQL, with Redis between them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.hub.intake.chain_check import check_chains
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hub.cluster.temporary_redis import NO_REDIS, TemporaryRedis, is_installed, running_redis
from hub.hub_process import Socket, open_socket, serve_hub
from hub.hub_sandbox import Writer, async_test, eventually, token_of
from hub.pages.page_stand_in import TEST_ENVIRONMENT
from runtime.storage import temporary_postgres
from runtime.storage.conftest import NO_POSTGRES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not is_installed(), reason=NO_REDIS)]


@dataclass(frozen=True, slots=True)
class TwoHubs:
    first: Hub
    second: Hub
    redis: TemporaryRedis
    store: str

    async def call(self, hub: Hub, method: str, path: str, role: Role = Role.OWNER, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {await token_of(self.first, role)}"}
        async with httpx2.AsyncClient(base_url=f"{hub.config.url}/api/v1", headers=headers, timeout=20) as http:
            return await http.request(method, path, json=body)

    async def add_session(self, *steps: ScriptStep | str) -> tuple[str, str]:
        """An agent made at the second hub, and a session of it at the first one."""
        made = (await self.call(self.second, "POST", "/agents", body={"name": "Painter"})).json()
        await eventually(lambda: self.first.agents.find(made["id"]))
        runtime = await self.first.runtimes.get(Path(made["workspace"]))
        runtime._settings = replace(runtime._settings, model=ScriptedModel(steps))
        started = await self.call(self.first, "POST", "/sessions", body={"agent": made["id"]})
        assert started.status_code == 201, started.text
        return made["id"], started.json()["id"]


@asynccontextmanager
async def two_hubs(directory: Path) -> AsyncIterator[TwoHubs]:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    with temporary_postgres.running(programs, directory) as socket, running_redis(directory) as redis:
        shared = {
            "store": f"postgresql://tests@/postgres?host={socket}",
            "redis": redis.url,
            "agents_path": directory / "agents",
            "home": directory,
            "env": TEST_ENVIRONMENT,
        }
        places = [directory / name for name in ("one", "two")]
        for place in places:
            place.mkdir()
        async with serve_hub(places[0], **shared) as (first, _), serve_hub(places[1], **shared) as (second, _):
            for hub in (first, second):
                assert hub.bus.fan_out is not None
                await eventually(lambda fan_out=hub.bus.fan_out: fan_out.is_connected)
            yield TwoHubs(first, second, redis, shared["store"])


async def next_event(socket: Socket, kind: str) -> dict[str, Any]:
    while True:
        name, data = await socket.event()
        if name == kind or (name == "event" and data.get("type") == kind):
            return dict(data)


@async_test
async def test_a_session_is_used_at_either_hub_and_runs_at_the_one_that_has_it(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        agent, session = await hubs.add_session("hello", "again")
        async with open_socket(hubs.second, await token_of(hubs.second, Role.VIEWER)) as console:
            await console.call("join_session", {"session_id": session})
            sent = await hubs.call(hubs.second, "POST", f"/sessions/{session}/messages", body={"text": "hi"})
            assert sent.status_code == 202, sent.text
            ended = await next_event(console, "end")
            assert ended["payload"]["text"] == "hello"
        await eventually(lambda: not hubs.first.sessions.is_running(session))
        assert not hubs.second.sessions._watched
        told = (await hubs.call(hubs.second, "GET", f"/sessions/{session}")).json()
        assert (told["id"], told["turns"]) == (session, 1)
        async with open_socket(hubs.second, await token_of(hubs.second, Role.EDITOR)) as editor:
            await editor.call("join_session", {"session_id": session})
            assert await editor.call("send_message", {"session_id": session, "message": "more"}) == {"ok": True}
            assert (await next_event(editor, "end"))["payload"]["text"] == "again"
        viewer = await hubs.call(hubs.second, "POST", f"/sessions/{session}/messages", Role.VIEWER, {"text": "no"})
        assert viewer.status_code == 403
        assert (await hubs.call(hubs.second, "DELETE", f"/sessions/{session}")).status_code == 200
        assert await hubs.first.store.session(session) is None
        assert agent


@async_test
async def test_rules_count_at_the_other_hub_within_a_second(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        text = json.dumps({"hooks": {"PreToolUse": [{"id": "no", "matcher": "^bash$", "action": "deny"}]}})
        async with open_socket(hubs.second, await token_of(hubs.second, Role.VIEWER)) as console:
            await console.call("join", {"room": "live"})
            saved = await hubs.call(hubs.first, "PUT", "/rules/everyone", body={"text": text, "base": 0})
            assert saved.status_code == 200, saved.text
            changed = await next_event(console, "rules_changed")
            assert changed["payload"]["version"] == 1
        await eventually(lambda: hubs.second.rules.head("everyone") == 1, 2)
        stale = await hubs.call(hubs.second, "PUT", "/rules/everyone", body={"text": text, "base": 0})
        assert stale.status_code == 409


@async_test
async def test_a_question_is_answered_at_the_other_hub_once(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        token = await token_of(hubs.first, Role.VIEWER)
        async with open_socket(hubs.first, token) as here, open_socket(hubs.second, token) as there:
            for console in (here, there):
                await console.call("join", {"room": "approvals"})
            body = {"host": "codex", "tool": "shell", "input": {"command": "git push"}, "seconds": 60}
            asked = (await hubs.call(hubs.first, "POST", "/approvals", Role.REPORTER, body)).json()
            waiting = asyncio.ensure_future(
                hubs.call(hubs.first, "GET", f"/approvals/{asked['id']}?wait=20", Role.REPORTER)
            )
            numbers = [(await next_event(each, "approval_request"))["seq"] for each in (here, there)]
            assert numbers[0] == numbers[1]
            answer = f"/approvals/{asked['id']}/answer"
            assert (await hubs.call(hubs.second, "POST", answer, body={"yes": True})).status_code == 200
            assert (await hubs.call(hubs.first, "POST", answer, body={"yes": False})).status_code == 409
            for console in (here, there):
                assert (await next_event(console, "approval_answered"))["payload"]["state"] == "approved"
            key_sees = await waiting
            assert key_sees.status_code in (200, 404)
            await asyncio.sleep(0.7)  # each hub has looked at the database since
            assert (await here.call("join", {"room": "approvals"}))["ok"]
            assert [name for name, _ in (*here.events, *there.events)] == []


@async_test
async def test_a_client_goes_on_at_the_other_hub_where_it_was(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        token = await token_of(hubs.first, Role.VIEWER)
        async with open_socket(hubs.second, token) as warm:
            await warm.call("join", {"room": "session:s"})
            for number in range(3):
                await (hubs.first, hubs.second)[number % 2].bus.publish("line", {"n": number}, rooms=("session:s",))
            seen = [await next_event(warm, "line") for _ in range(3)]
        async with open_socket(hubs.first, token) as later:
            await later.call("join", {"room": "session:s", "since": seen[0]["seq"]})
            missed = [await next_event(later, "line") for _ in range(2)]
        assert [(each["payload"], each["seq"]) for each in missed] == [
            (each["payload"], each["seq"]) for each in seen[1:]
        ]


@async_test
async def test_decisions_reported_to_one_hub_are_live_at_the_other(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        writer, token = Writer(), await token_of(hubs.first, Role.VIEWER)
        async with open_socket(hubs.second, token) as console:
            await console.call("join", {"room": "live"})
            for start in range(4):  # the reports of one process come to both hubs in turn
                lines = [writer.call(f"command {start}") for _ in range(5)]
                await (hubs.first, hubs.second)[start % 2].intake.take(lines, "key")
            told = 0
            while told < 20:
                told += len((await next_event(console, "decisions"))["items"])
        assert await hubs.first.decisions.size() == 20
        report = await check_chains(hubs.first.database)
        assert (report.problems, report.missing) == ((), 0)


@async_test
async def test_redis_is_killed_and_comes_back(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        token = await token_of(hubs.first, Role.VIEWER)
        async with open_socket(hubs.first, token) as here, open_socket(hubs.second, token) as there:
            for console in (here, there):
                await console.call("join", {"room": "session:s"})
            hubs.redis.kill()
            await hubs.first.bus.publish("line", {"n": 1}, rooms=("session:s",))
            assert (await next_event(here, "line"))["payload"] == {"n": 1}
            text = json.dumps({"hooks": {}})
            saved = await hubs.call(hubs.first, "PUT", "/rules/everyone", body={"text": text, "base": 0})
            assert saved.status_code == 200
            await eventually(lambda: hubs.second.rules.head("everyone") == 1, 5)
            await asyncio.to_thread(hubs.redis.start)
            assert (await next_event(there, "snapshot"))["room"] == "session:s"
            await eventually(lambda: hubs.first.bus.fan_out.is_connected)  # type: ignore[union-attr]
            await hubs.first.bus.publish("line", {"n": 2}, rooms=("session:s",))
            assert (await next_event(there, "line"))["payload"] == {"n": 2}
            assert (await next_event(here, "line"))["payload"] == {"n": 2}


@async_test
async def test_a_hub_that_is_killed_leaves_its_sessions_to_the_other(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "three"), "HOME": str(tmp_path)}
        options = [
            "--store",
            hubs.store,
            "--redis",
            hubs.redis.url,
            "--port",
            "0",
            "--config",
            str(tmp_path / "h.json"),
        ]
        (tmp_path / "h.json").write_text(json.dumps({"agents_path": str(tmp_path / "agents")}))
        command = [sys.executable, "-m", "hookline", "hub", *options]
        made = (await hubs.call(hubs.first, "POST", "/agents", body={"name": "Painter"})).json()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as third:  # noqa: ASYNC220
            assert third.stdout is not None
            url = (await asyncio.to_thread(third.stdout.readline)).split()[-1]
            headers = {"authorization": f"Bearer {await token_of(hubs.first, Role.OWNER)}"}
            async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
                session = (await http.post(f"{url}/api/v1/sessions", json={"agent": made["id"]})).json()["id"]
            assert hubs.second.peers is not None
            owner = await hubs.second.peers.owner_of(session)
            assert owner is not None
            assert owner.url == url
            third.send_signal(signal.SIGKILL)
        ended = await hubs.call(hubs.second, "POST", f"/sessions/{session}/end")
        assert ended.status_code == 200, ended.text
        row = await hubs.first.store.session(session)
        assert row is not None
        assert row.ended == "ended at the hub"
