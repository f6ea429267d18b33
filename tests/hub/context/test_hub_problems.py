from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.hub.access.roles import Role
from hub.hub_process import open_socket, serve_hub
from hub.hub_sandbox import Client, Writer, async_test, token_of

pytestmark = pytest.mark.slow


@async_test
async def test_a_problem_is_told_when_it_begins_changes_and_is_over(tmp_path: Path) -> None:
    async with serve_hub(tmp_path, name="office") as (hub, _):
        token = await token_of(hub, Role.VIEWER)
        viewer = Client(hub, token)
        async with open_socket(hub, token) as socket:

            async def problem() -> dict[str, Any]:
                name, event = await socket.event()
                assert (name, event["type"], event["room"]) == ("event", "problem", "live")
                return dict(event["payload"])

            await socket.call("join", {"room": "live"})
            assert (await viewer.get("/problems")).json() == {"items": [], "next": None}
            outage = hub.record_intake.outage
            outage.report(HooklineError("the disk is full"))
            outage.report(HooklineError("the disk is full"))
            began = await problem()
            assert began == {**began, "hub": "office", "part": "record", "over": False}
            assert began["text"] == "records are not taken for now: the disk is full"
            assert (await viewer.get("/problems")).json()["items"] == [began]
            outage.report(HooklineError("it is locked"))
            changed = await problem()
            assert (changed["text"], changed["since"]) == (
                "records are not taken for now: it is locked",
                began["since"],
            )
            outage.report_success()
            outage.report_success()
            assert await problem() == {**changed, "over": True}
            assert (await viewer.get("/problems")).json()["items"] == []
            assert socket.events == []


@async_test
async def test_a_broken_chain_is_told_once(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        token = await token_of(hub, Role.VIEWER)
        async with open_socket(hub, token) as socket:
            await socket.call("join", {"room": "live"})
            writer = Writer()
            lines = [writer.start("box"), writer.call("x"), writer.call("y").replace(b'"y"', b'"z"'), writer.call("w")]
            await hub.intake.take(lines)
            await hub.intake.take([writer.call("v")])
            await hub.bus.publish("rules_changed", {}, rooms=("live",))
            events: list[dict[str, Any]] = []
            while {each["type"] for each in events} != {"problem", "rules_changed"}:
                name, event = await socket.event()
                events += [event] if name == "event" else []
            [told] = [each["payload"] for each in events if each["type"] == "problem"]
            assert (told["part"], told["over"]) == ("chain", False)
            assert told["text"] == (
                f"the record {'a' * 16}-4 of claude-code on box does not follow from the one before it"
            )
        assert (await Client(hub, token).get("/problems")).json()["items"] == []
