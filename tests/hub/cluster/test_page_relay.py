"""A page that is open at one hub drives a session that another one has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.hub.access.roles import Role
from hookline.hub.cluster.page_relay import PageRelay
from hookline.runtime.models.scripted import ScriptStep
from hub.cluster.two_hubs import NEEDS_REDIS, TwoHubs, next_event, two_hubs
from hub.hub_process import Socket, open_socket
from hub.hub_sandbox import async_test, eventually, token_of
from hub.pages.page_stand_in import ALL_FRAMES

pytestmark = NEEDS_REDIS


async def attach(hubs: TwoHubs, page: Socket, session: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await page.call("here", {"session": session, **more})
    return answer


@async_test
async def test_tools_and_calls_reach_the_page_through_its_own_hub(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        query = {"action": "query", "selector": "h1"}
        _, session = await hubs.add_session(ScriptStep(calls=(("dom", query),)), "done")
        async with open_socket(hubs.second, await token_of(hubs.second, Role.EDITOR), "/page") as page:
            answer = await attach(hubs, page, session)
            assert answer["ok"], answer
            assert answer["frames"]["agent"] == f"http://agent.localhost:{hubs.second.config.port}"
            assert hubs.first.pages.open.find(session) is not None
            assert hubs.second.pages.open.find(session) is None
            assert await page.call("frames", ALL_FRAMES) == {"ok": True}
            assert await page.call("state", {"dom": "<p>saved</p>"}) == {"ok": True}
            assert await hubs.first.pages.states.load(session) == "<p>saved</p>"
            listed = await page.call("call", {"name": "storage", "input": {"action": "list"}})
            assert "is_error" not in listed or not listed["is_error"], listed
            await hubs.call(hubs.second, "POST", f"/sessions/{session}/messages", body={"text": "go"})
            asked = await next_event(page, "tool")
            assert (asked["tool"], asked["input"]) == ("dom", query)
            await page.answer({"content": "<h1>far away</h1>"})
            await eventually(lambda: not hubs.first.sessions.is_running(session))
            told = (await hubs.call(hubs.second, "GET", f"/sessions/{session}/messages")).json()["items"]
            assert "far away" in str(told)
        await eventually(lambda: hubs.first.pages.open.find(session) is None)


@async_test
async def test_one_page_drives_a_session_whichever_hub_it_is_open_at(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        _, session = await hubs.add_session("hello")
        token = await token_of(hubs.second, Role.EDITOR)
        async with open_socket(hubs.first, token, "/page") as near, open_socket(hubs.second, token, "/page") as far:
            assert (await attach(hubs, near, session))["ok"]
            refused = await attach(hubs, far, session)
            assert (refused["ok"], refused["taken"]) == (False, True)
            assert (await attach(hubs, far, session, take_over=True))["ok"]
            assert await next_event(near, "detach") == {"why": "taken over"}
            assert (await attach(hubs, near, session, take_over=True))["ok"]
            assert await next_event(far, "detach") == {"why": "taken over"}


@async_test
async def test_a_page_is_told_to_try_again_when_the_other_hub_leaves(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        _, session = await hubs.add_session("hello")
        async with open_socket(hubs.second, await token_of(hubs.second, Role.EDITOR), "/page") as page:
            assert (await attach(hubs, page, session))["ok"]
            for sid in list(hubs.first.pages.namespace._clients):
                await hubs.first.socket.disconnect(sid, namespace="/page")
            await next_event(page, "again")
            assert (await attach(hubs, page, session))["ok"]


@async_test
async def test_a_viewer_cannot_attach_through_another_hub(tmp_path: Path) -> None:
    async with two_hubs(tmp_path) as hubs:
        await hubs.add_session("hello")
        token = await token_of(hubs.second, Role.VIEWER)

        async def never(*given: object) -> None:
            raise AssertionError(given)

        with pytest.raises(HooklineError, match="does not take this page"):
            await PageRelay.open(hubs.first.config.url, token, never, never)
        with pytest.raises(HooklineError, match="does not answer"):
            await PageRelay.open("http://127.0.0.1:1", token, never, never)
