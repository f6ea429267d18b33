"""Events, questions and rules of one hub reach the other."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from hookline.hub.access.roles import Role
from hub.cluster.two_hubs import NEEDS_REDIS, next_event, two_hubs
from hub.hub_process import open_socket
from hub.hub_sandbox import async_test, eventually, token_of

pytestmark = NEEDS_REDIS


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
