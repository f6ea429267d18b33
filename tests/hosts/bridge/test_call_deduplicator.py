"""Two entries of one agent tell of the same event: it is decided once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hookline.engine.decision import Decision
from hookline.errors import MustWait
from hookline.hooks.event import Event
from hookline.hosts.bridge.call_deduplicator import ENTRY_VARIABLE, CallDeduplicator
from hookline.hosts.bridge.protocol import AgentCall

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
        deduplicator, judge = CallDeduplicator(), Judge(wait=True)
        calls = [asyncio.create_task(deduplicator.run(call, judge)) for call in (USERS, PROJECTS)]
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
        (USERS, replace(PROJECTS, cwd="/tmp")),
        (USERS, replace(PROJECTS, environment={**PROJECTS.environment, b"CLAUDE_PROJECT_DIR": b"/tmp"})),
        (USERS, replace(PROJECTS, environment={**PROJECTS.environment, b"HOME": b"/home/other"})),
    ],
)
def test_what_is_another_event_is_decided_for_itself(calls: tuple[AgentCall, AgentCall]) -> None:
    async def each() -> None:
        deduplicator, judge = CallDeduplicator(), Judge()
        assert [(await deduplicator.run(call, judge)).is_repeat for call in calls] == [False, False]
        assert judge.asked == 2

    asyncio.run(each())


def test_a_third_call_is_a_new_event() -> None:
    async def three() -> None:
        deduplicator, judge = CallDeduplicator(), Judge()
        assert [(await deduplicator.run(call, judge)).is_repeat for call in (USERS, PROJECTS, USERS, PROJECTS)] == [
            False,
            True,
            False,
            True,
        ]
        assert judge.asked == 2

    asyncio.run(three())


def test_a_call_whose_duplicate_goes_away_is_decided_for_itself() -> None:
    async def gone() -> None:
        deduplicator, judge = CallDeduplicator(), Judge(wait=True)
        first, second = (asyncio.create_task(deduplicator.run(call, judge)) for call in (USERS, PROJECTS))
        for _ in range(3):
            await asyncio.sleep(0)
        assert judge.asked == 1
        first.cancel()
        judge.go.set()
        assert not (await second).is_repeat
        assert judge.asked == 2

    asyncio.run(gone())


def test_what_was_decided_now_is_shared_as_well() -> None:
    decisions = [Decision(Event("tool.before", {}))]

    async def both() -> None:
        deduplicator, judge = CallDeduplicator(), Judge()
        assert not deduplicator.run_now(USERS, lambda: decisions).is_repeat
        again = deduplicator.run_now(PROJECTS, list)
        assert (again.decisions, again.is_repeat) == (decisions, True)
        assert not deduplicator.run_now(USERS, lambda: decisions).is_repeat
        assert (await deduplicator.run(PROJECTS, judge)).is_repeat
        assert judge.asked == 0

    asyncio.run(both())


def test_a_call_whose_duplicate_is_being_decided_has_to_wait() -> None:
    async def pending() -> None:
        deduplicator, judge = CallDeduplicator(), Judge(wait=True)
        first = asyncio.create_task(deduplicator.run(USERS, judge))
        await asyncio.sleep(0)
        with pytest.raises(MustWait):
            deduplicator.run_now(PROJECTS, list)
        judge.go.set()
        assert not (await first).is_repeat
        assert deduplicator.run_now(PROJECTS, list).is_repeat

    asyncio.run(pending())


def test_a_call_that_had_to_wait_is_not_remembered() -> None:
    def wait() -> list[Decision]:
        raise MustWait("a program runs")

    async def waiting() -> None:
        deduplicator, judge = CallDeduplicator(), Judge()
        with pytest.raises(MustWait):
            deduplicator.run_now(USERS, wait)
        assert not (await deduplicator.run(PROJECTS, judge)).is_repeat

    asyncio.run(waiting())
