from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hookline.hub.access.roles import Caller, Role
from hookline.hub.bus.event_bus import CommandError
from hookline.hub.bus.room_log import RING
from hub.hub_process import open_socket, serve_hub
from hub.hub_sandbox import Client, Writer, async_test, token_of

pytestmark = pytest.mark.slow


@async_test
async def test_new_decisions_come_to_those_who_watch(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.VIEWER)) as socket:
        assert (await socket.call("join", {"room": "live"}))["ok"]
        writer = Writer()
        await hub.intake.take([writer.start("box"), writer.call("ls"), writer.call("rm x", "deny")])
        name, batch = await socket.event()
        assert name == "decisions"
        assert [(row["what"], row["verdict"], row["machine"]) for row in batch["items"]] == [
            ("ls", "silent", "box"),
            ("rm x", "deny", "box"),
        ]


@async_test
async def test_a_client_that_was_away_gets_what_it_missed(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        token = await token_of(hub, Role.VIEWER)
        async with open_socket(hub, token) as socket:
            joined = await socket.call("join_session", {"session_id": "s1"})
            assert joined["room"] == "session:s1"
        for number in range(3):
            await hub.bus.publish("text", {"n": number}, rooms=("session:s1", "live"), session_id="s1")
        async with open_socket(hub, token) as socket:
            await socket.call("join", {"room": "session:s1", "since": joined["latest_seq"]})
            events = [await socket.event() for _ in range(3)]
            assert [event["payload"]["n"] for _, event in events] == [0, 1, 2]
            assert [event["seq"] - joined["latest_seq"] for _, event in events] == [1, 2, 3]
            first = events[0][1]
            assert (first["type"], first["session_id"], first["room"]) == ("text", "s1", "session:s1")
        for number in range(RING):
            await hub.bus.publish("text", {"n": number}, rooms=("session:s1",))
        async with open_socket(hub, token) as socket:
            await socket.call("join", {"room": "session:s1", "since": joined["latest_seq"]})
            assert (await socket.event())[0] == "snapshot"
            await socket.call("leave", {"room": "session:s1"})
            await hub.bus.publish("text", {}, rooms=("session:s1",))
            assert (await socket.call("join", {"room": "live"}))["ok"]
            assert socket.events == []


@async_test
async def test_rooms_of_others_and_nonsense_are_refused(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.VIEWER)) as socket:
        for data in ({"room": "user:somebody"}, {"room": ""}, {"room": 7}, {"room": "x" * 999}, {}, None, [1], "live"):
            assert (await socket.call("join", data))["ok"] is False
            await socket.call("leave", data)
        mine = (await hub.access.table.user_named("the viewer")) or pytest.fail("no user")
        assert (await socket.call("join", {"room": f"user:{mine.id}"}))["ok"]


@async_test
async def test_a_command_needs_its_role_at_the_time_it_comes(tmp_path: Path) -> None:
    async def answer(caller: Caller, data: dict[str, Any]) -> dict[str, Any]:
        if data.get("late"):
            raise CommandError("this was answered already")
        return {"by": caller.name, "x": 1 / data["by"]}

    async with serve_hub(tmp_path) as (hub, _):
        hub.bus.add_command("answer", answer, Role.APPROVER)
        async with open_socket(hub, await token_of(hub, Role.VIEWER)) as viewer:
            assert (await viewer.call("answer", {"by": 1}))["ok"] is False
        async with open_socket(hub, await token_of(hub, Role.APPROVER)) as approver:
            assert await approver.call("answer", {"by": 1}) == {"ok": True, "by": "the approver", "x": 1.0}
            assert await approver.call("answer", {"late": True}) == {"ok": False, "error": "this was answered already"}
            assert (await approver.call("answer", {"by": 0}))["error"] == "this failed on the hub; its log says why"
            assert (await approver.call("answer", "text"))["ok"] is False
            user = (await hub.access.table.user_named("the approver")) or pytest.fail("no user")
            await hub.access.table.set_role(user.id, Role.VIEWER, Role.OWNER)
            assert (await approver.call("answer", {"by": 1}))["ok"] is False


@async_test
async def test_who_has_no_token_or_reports_only_gets_no_socket(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, link):
        code = link.partition("#enter=")[2]
        for token in ("", "wrong", code, await token_of(hub, Role.REPORTER)):
            with pytest.raises(ConnectionError, match="sign in first"):
                async with open_socket(hub, token):
                    pass


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
@async_test
async def test_another_site_gets_no_socket(headers: dict[str, str], tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        with pytest.raises(InvalidStatus, match="403"):
            async with open_socket(hub, await token_of(hub, Role.OWNER), **headers):
                pass


@async_test
async def test_signing_out_ends_the_socket_and_so_does_a_token_that_ends(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        for by_check in (False, True):
            token = await token_of(hub, Role.VIEWER)
            async with open_socket(hub, token) as socket:
                if by_check:
                    await hub.access.sign_out(await hub.access.identify(token))
                    await hub.bus.check_clients()
                else:
                    assert (await Client(hub, token).delete("/me")).status_code == 200
                with suppress(ConnectionClosed, TimeoutError):
                    assert (await socket.call("join", {"room": "live"}))["ok"] is False
            assert hub.bus.connections == 0


QUESTION = {"host": "codex", "tool": "Bash", "input": {"command": "mysql -phunter2zz"}}


@pytest.mark.parametrize("by_api", [True, False])
@async_test
async def test_who_was_an_approver_sees_no_secret_any_more(by_api: bool, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("hookline.hub.bus.event_bus._FRESH_SECONDS", 30.0 if by_api else 0.0)
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.APPROVER)) as socket:
        joined = await socket.call("join", {"room": "approvals"})
        reporter = Client(hub, await token_of(hub, Role.REPORTER))
        await reporter.post("/approvals", QUESTION)
        assert (await socket.event())[1]["payload"]["input"] == {"command": "mysql -phunter2zz"}
        user = (await hub.access.table.user_named("the approver")) or pytest.fail("no user")
        if by_api:
            owner = Client(hub, await token_of(hub, Role.OWNER))
            await owner.http.patch(f"/api/v1/users/{user.id}", json={"role": "viewer"})
        else:  # at another hub, or by an identity provider
            await hub.access.table.set_role(user.id, Role.VIEWER, Role.OWNER)
        await reporter.post("/approvals", QUESTION)
        assert (await socket.event())[1]["payload"]["input"] == {"command": "mysql -p***"}
        await socket.call("join", {"room": "approvals", "since": joined["latest_seq"]})  # which sends both again
        assert [(await socket.event())[1]["payload"]["input"] for _ in range(2)] == [{"command": "mysql -p***"}] * 2
