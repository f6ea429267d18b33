from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.hub.pages.page_scripts import ScriptRun
from hookline.runtime.agent_session import AgentSession
from hub.hub_process import Socket, open_socket, serve_hub
from hub.hub_sandbox import Client, async_test, eventually, token_of
from hub.pages.page_stand_in import ALL_FRAMES, TEST_ENVIRONMENT, add_agent, open_agent

pytestmark = pytest.mark.slow
RULES = {
    "hooks": {
        "PreToolUse": [
            {
                "id": "no-touch",
                "matcher": "^bash$",
                "inputMatchers": {"command": "touch"},
                "action": "deny",
                "reason": "No.",
            }
        ]
    }
}


@asynccontextmanager
async def served_agent(directory: Path, **settings: Any) -> AsyncIterator[tuple[Hub, AgentSession, str]]:
    async with (
        serve_hub(directory, home=directory, env=TEST_ENVIRONMENT) as (hub, _),
        open_agent(hub, **settings) as session,
    ):
        yield hub, session, await token_of(hub, Role.EDITOR)


async def attach(socket: Socket, session: AgentSession, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await socket.call("here", {"session": session.id, **more})
    return answer


@async_test
async def test_a_page_attaches_and_gets_what_was_saved(tmp_path: Path) -> None:
    async with served_agent(tmp_path, network=("https://api.example.org",)) as (hub, session, token):
        async with open_socket(hub, token, "/page") as page:
            answer = await attach(page, session)
            assert answer == {
                "ok": True,
                "dom": "",
                "network": ["https://api.example.org"],
                "agent": {"id": "painter", "name": "Painter"},
                "frames": {name: f"http://{name}.localhost:{hub.config.port}" for name in ("hooks", "agent", "net")},
            }
            assert await page.call("state", {"dom": "<p>x</p>"}) == {"ok": True}
            assert await page.call("state", {"dom": 7}) == {"ok": False}
            await page.call("frames", ALL_FRAMES)
            attached = hub.pages.open.find(session.id)
            assert attached is not None
            assert attached.has("net")
        await eventually(lambda: hub.pages.open.find(session.id) is None)
        async with open_socket(hub, token, "/page") as page:
            assert (await attach(page, session))["dom"] == "<p>x</p>"


@async_test
async def test_who_is_no_editor_has_no_page(tmp_path: Path) -> None:
    async with served_agent(tmp_path) as (hub, session, token):
        for role in (Role.VIEWER, Role.APPROVER, Role.REPORTER):
            with pytest.raises(ConnectionError, match="editor"):
                async with open_socket(hub, await token_of(hub, role), "/page"):
                    pass
        async with open_socket(hub, token, "/page") as page:
            await attach(page, session)
            user = (await hub.access.table.user_named("the editor")) or pytest.fail("no user")
            await hub.access.table.set_role(user.id, Role.VIEWER, Role.OWNER)
            assert (await page.call("call", {"name": "bash", "input": {"command": "ls"}}))["is_error"]
            assert (await attach(page, session))["ok"] is False
            await hub.pages.namespace.check_clients()
            await eventually(lambda: hub.pages.open.find(session.id) is None)


@async_test
async def test_no_two_pages_have_frames_with_the_same_host_name(tmp_path: Path) -> None:
    """The browser would run them in one process."""
    async with served_agent(tmp_path) as (hub, session, token):
        async with open_socket(hub, token, "/page") as first, open_socket(hub, token, "/page") as second:
            names = [(await attach(first, session))["frames"]["agent"]]
            names.append((await attach(second, session, take_over=True))["frames"]["agent"])
            names += [(await attach(second, session))["frames"]["agent"] for _ in range(20)]
        assert names[0] == f"http://agent.localhost:{hub.config.port}"
        assert names[0] not in names[1:]
        assert all(one != next for one, next in pairwise(names))


@async_test
async def test_a_page_ends_with_the_role_or_the_session_of_its_user(tmp_path: Path) -> None:
    async with served_agent(tmp_path) as (hub, session, token):
        owner = Client(hub, await token_of(hub, Role.OWNER))
        user = (await hub.access.table.user_named("the editor")) or pytest.fail("no user")
        async with open_socket(hub, token, "/page") as page:
            await attach(page, session)
            await owner.http.patch(f"/api/v1/users/{user.id}", json={"role": "approver"})
            await eventually(lambda: hub.pages.open.find(session.id) is None)
        await owner.http.patch(f"/api/v1/users/{user.id}", json={"role": "editor"})
        async with open_socket(hub, token, "/page") as page:
            await attach(page, session)
            await Client(hub, token).delete("/me")
            await eventually(lambda: hub.pages.open.find(session.id) is None)


@async_test
async def test_one_page_drives_and_another_takes_over(tmp_path: Path) -> None:
    async with served_agent(tmp_path) as (hub, session, token):
        async with open_socket(hub, token, "/page") as first, open_socket(hub, token, "/page") as second:
            await attach(first, session)
            refused = await attach(second, session)
            assert (refused["ok"], refused["taken"]) == (False, True)
            assert (await attach(second, session, take_over=True))["ok"]
            assert await first.event() == ("detach", {"why": "taken over"})
            assert (await first.call("state", {"dom": "forged"})) == {"ok": False}
            assert (await first.call("call", {"name": "bash", "input": {}}))["is_error"]
        await eventually(lambda: hub.pages.open.find(session.id) is None)


@async_test
async def test_a_page_speaks_for_its_own_session_alone(tmp_path: Path) -> None:
    async with served_agent(tmp_path) as (hub, session, token):
        runtime = await hub.runtimes.get(await add_agent(hub, "other"))
        other = await runtime.start()
        async with open_socket(hub, token, "/page") as mine, open_socket(hub, token, "/page") as theirs:
            await attach(mine, session)
            await attach(theirs, other)
            attached = hub.pages.open.find(other.id)
            assert attached is not None
            run = ScriptRun(other.runtime.host_for(other, other.main))
            attached.runs[run.id] = run
            forged = await mine.call("call", {"run": run.id, "name": "bash", "input": {"command": "ls"}})
            assert forged == {"content": "this script has ended", "is_error": True}
            own = await theirs.call("call", {"run": run.id, "name": "bash", "input": {"command": "echo hello"}})
            assert "hello" in str(own["content"])
            await mine.call("state", {"dom": "mine", "session": other.id})
            assert await hub.pages.states.load(other.id) == ""
        for wrong in ({"session": "nobody"}, {"session": 7}, {}, None, "x"):
            async with open_socket(hub, token, "/page") as page:
                assert (await page.call("here", wrong))["ok"] is False


@async_test
async def test_calls_of_the_agents_own_code_are_decided(tmp_path: Path) -> None:
    async with served_agent(tmp_path) as (hub, session, token):
        await hub.rules.save("everyone", json.dumps(RULES), 0, "me", "")
        seen: list[Any] = []
        session.watch(seen.append)
        async with open_socket(hub, token, "/page") as page:
            await attach(page, session)
            denied = await page.call("call", {"name": "bash", "input": {"command": "touch made"}})
            assert denied == {"content": "No.", "is_error": True}
            done = await page.call("call", {"name": "bash", "input": {"command": "echo fine"}})
            assert "fine" in str(done["content"])
            assert {each.call.caller for each in seen if hasattr(each, "call")} == {"page"}
            for wrong in ({"name": 1, "input": {}}, {"name": "bash"}, {"name": "nothing", "input": {}}, None):
                assert (await page.call("call", wrong))["is_error"]
        assert not (Path(session.runtime.workspace) / "made").exists()


@async_test
async def test_many_calls_at_once_are_refused(tmp_path: Path) -> None:
    async with served_agent(tmp_path) as (hub, session, token), open_socket(hub, token, "/page") as page:
        await attach(page, session)
        connection = page._connection
        for number in range(12):
            data = json.dumps(["call", {"name": "bash", "input": {"command": "sleep 1"}}])
            await connection.send(f"42/page,{100 + number}{data}")
        refused = 0
        async with asyncio.timeout(30):
            for _ in range(12):
                refused += "at once" in str(await connection.recv())
        assert refused == 4
