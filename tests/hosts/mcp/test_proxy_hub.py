"""A question about a call is asked at the client and at the hub at once: the first answer counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from hookline.hub.context.running_hub import Hub
from hub.hub_process import serve_hub
from hub.hub_sandbox import eventually
from mcp_proxy_client import Project, RawClient, raw_client

pytestmark = pytest.mark.slow

ASK = {"id": "ask", "on": "tool.before", "when": {"tool": "mcp.raw.echo"}, "then": {"ask": "Really?"}}
ACCEPT = {"result": {"action": "accept", "content": {"allow": True}}}
DECLINE = {"result": {"action": "decline"}}
CANCEL = {"result": {"action": "cancel"}}
Play = Callable[[RawClient, Hub, dict[str, Any], str], Coroutine[Any, Any, None]]


def run(directory: Path, play: Play) -> list[dict[str, Any]]:
    """Plays it once both are asked. Returns the calls that reached the server."""
    project = Project(directory).hooks(ASK)
    place = project.home / ".local" / "state" / "hookline"
    place.mkdir(parents=True, exist_ok=True)

    async def within() -> None:
        async with serve_hub(place) as (hub, _), raw_client(project, project.raw_argv(), elicitation={}) as client:
            client.call(1, "echo", x=1)
            asked = await client.next()
            assert asked["method"] == "elicitation/create"
            await eventually(hub.approvals.waiting)
            await play(client, hub, asked, (await hub.approvals.waiting())[0]["id"])

    asyncio.run(within())
    return [message for message in project.received_messages() if message.get("method") == "tools/call"]


async def reply(client: RawClient, asked: dict[str, Any], answer: dict[str, Any]) -> None:
    client.write({"jsonrpc": "2.0", "id": asked["id"], **answer})


@pytest.mark.parametrize("yes", [True, False])
def test_the_hub_answers_first(yes: bool, tmp_path: Path) -> None:
    async def play(client: RawClient, hub: Hub, asked: dict[str, Any], question: str) -> None:
        assert await hub.approvals.answer(question, yes, "maria")
        told = await client.next()
        assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", asked["id"])
        answer = await client.answer(1)
        assert answer["result"].get("isError", False) is not yes
        await reply(client, asked, DECLINE if yes else ACCEPT)  # too late
        client.write({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        await client.answer(2)

    assert len(run(tmp_path, play)) == yes


@pytest.mark.parametrize(("answer", "yes"), [(ACCEPT, True), (DECLINE, False)])
def test_the_client_answers_first(answer: dict[str, Any], yes: bool, tmp_path: Path) -> None:
    async def play(client: RawClient, hub: Hub, asked: dict[str, Any], question: str) -> None:
        await reply(client, asked, answer)
        assert (await client.answer(1))["result"].get("isError", False) is not yes

        async def is_withdrawn() -> bool:
            found = await hub.approvals.find(question)
            return found is not None and found["state"] == "withdrawn"

        await eventually(is_withdrawn)
        assert not await hub.approvals.answer(question, not yes, "maria")

    assert len(run(tmp_path, play)) == yes


def test_a_question_that_the_client_dismissed_still_waits_at_the_hub(tmp_path: Path) -> None:
    async def play(client: RawClient, hub: Hub, asked: dict[str, Any], question: str) -> None:
        await reply(client, asked, CANCEL)
        await asyncio.sleep(0.3)
        assert await hub.approvals.answer(question, True, "maria", edited={"x": 2})
        assert (await client.answer(1))["result"].get("isError", False) is False

    (call,) = run(tmp_path, play)
    assert call["params"]["arguments"] == {"x": 2}
