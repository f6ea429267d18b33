"""Sessions belong to the hub that has them, and records to all."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import httpx2

from hookline.hub.access.roles import Role
from hookline.hub.intake.chain_check import check_chains
from hookline.runtime.models.scripted import ScriptStep
from hub.cluster.two_hubs import NEEDS_REDIS, next_event, two_hubs
from hub.hub_process import open_socket
from hub.hub_sandbox import Writer, async_test, eventually, token_of

pytestmark = NEEDS_REDIS


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
async def test_the_list_of_either_hub_says_which_sessions_work(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        _, session = await hubs.add_session(ScriptStep(say="done", delay=timedelta(seconds=30)))

        async def states() -> list[str]:
            lists = [(await hubs.call(hub, "GET", "/sessions")).json()["items"] for hub in (hubs.first, hubs.second)]
            return [each["state"] for items in lists for each in items if each["id"] == session]

        assert await states() == ["idle", "idle"]
        await hubs.call(hubs.second, "POST", f"/sessions/{session}/messages", body={"text": "hi"})
        assert await states() == ["working", "working"]
        await hubs.call(hubs.second, "POST", f"/sessions/{session}/cancel")
        await eventually(lambda: not hubs.first.sessions.is_running(session))
        assert await states() == ["idle", "idle"]


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
