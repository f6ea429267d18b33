from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from bridge_sandbox import BridgeSandbox, deny_reason, wait_for
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hosts.bridge import client
from hookline.hosts.bridge.call_deduplicator import ENTRY_VARIABLE, CallDeduplicator
from hookline.hosts.bridge.protocol import AgentCall

pytestmark = pytest.mark.slow


USERS = AgentCall("claude-code", "PreToolUse", b'{"tool_use_id": "1"}', "/", {b"HOME": b"/home/me"})
PROJECTS = replace(
    USERS, payload=USERS.payload + b"\n", environment={**USERS.environment, ENTRY_VARIABLE.encode(): b"project"}
)


class Judge:
    """Counts how often it was asked."""

    def __init__(self, wait: bool = False) -> None:
        self.asked = 0
        self.go = asyncio.Event()
        if not wait:
            self.go.set()

    async def __call__(self) -> list[Decision]:
        self.asked += 1
        await self.go.wait()
        return [Decision(Event("tool.before", {}))]


def test_what_both_entries_tell_is_decided_once() -> None:
    async def both() -> None:
        twins, judge = CallDeduplicator(), Judge(wait=True)
        calls = [asyncio.create_task(twins.run(call, judge)) for call in (USERS, PROJECTS)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        judge.go.set()
        first, second = await asyncio.gather(*calls)
        assert judge.asked == 1
        assert first.decisions is second.decisions
        assert (first.is_repeat, second.is_repeat) == (False, True)

    asyncio.run(both())


@pytest.mark.parametrize(
    "calls",
    [
        (USERS, USERS),
        (PROJECTS, PROJECTS),
        (USERS, replace(PROJECTS, payload=b'{"tool_use_id": "2"}')),
        (USERS, replace(PROJECTS, event="Stop")),
        (USERS, replace(PROJECTS, agent="codex")),
        (USERS, replace(PROJECTS, environment={**PROJECTS.environment, b"HOME": b"/home/other"})),
    ],
)
def test_what_is_another_event_is_decided_for_itself(calls: tuple[AgentCall, AgentCall]) -> None:
    async def each() -> None:
        twins, judge = CallDeduplicator(), Judge()
        assert [(await twins.run(call, judge)).is_repeat for call in calls] == [False, False]
        assert judge.asked == 2

    asyncio.run(each())


def test_a_third_call_is_a_new_event() -> None:
    async def three() -> None:
        twins, judge = CallDeduplicator(), Judge()
        assert [(await twins.run(call, judge)).is_repeat for call in (USERS, PROJECTS, USERS, PROJECTS)] == [
            False,
            True,
            False,
            True,
        ]
        assert judge.asked == 2

    asyncio.run(three())


def test_one_whose_twin_goes_away_is_decided_for_itself() -> None:
    async def gone() -> None:
        twins, judge = CallDeduplicator(), Judge(wait=True)
        first, second = (asyncio.create_task(twins.run(call, judge)) for call in (USERS, PROJECTS))
        for _ in range(3):
            await asyncio.sleep(0)
        assert judge.asked == 1
        first.cancel()
        judge.go.set()
        assert not (await second).is_repeat
        assert judge.asked == 2

    asyncio.run(gone())


def test_a_limit_counts_one_event_of_two_entries_once(desk: BridgeSandbox, c_client: list[str]) -> None:
    desk.write_hooks(
        "hooks:\n"
        "  - {id: twice, on: tool.before, then: {deny: At most twice.}, max_fires: 2}\n"
        "  - {id: told, on: tool.after, then: {tell: Once.}}\n",
        users=True,
    )
    process = desk.start_client(client.hookline_command("serve"))
    wait_for(desk.engine_pid)

    def both(event: str, **told: str) -> list[str]:
        said = []
        for entry in ("", "project"):
            desk.variables[ENTRY_VARIABLE] = entry
            said.append(desk.run_client(c_client, desk.payload(**told), event=event)[0])
        return said

    for number in "12":
        assert [deny_reason(each) for each in both("PreToolUse", tool_use_id=number)] == ["At most twice."] * 2
    assert both("PreToolUse", tool_use_id="3") == ["", ""]
    first, second = both("PostToolUse", tool_use_id="4")
    assert json.loads(first)["hookSpecificOutput"]["additionalContext"] == "Once."
    assert second == ""
    process.terminate()
    process.communicate()
