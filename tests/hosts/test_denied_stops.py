"""Hooks may keep an agent from stopping, but not for ever, in whatever host."""

import asyncio
from pathlib import Path

import pytest

import hookline
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hooks.outcome import Verdict
from hookline.hosts.denied_stops import add_stop_active, denies_stop, lacks_stop_active, limit_denied_stops

STOP = Event("stop", {"stop": {"reason": "end_turn"}})
DENIED = Decision(STOP, Verdict.DENY, "Run the tests.", "tests")


def test_a_host_that_does_not_say_it_is_told() -> None:
    assert lacks_stop_active(STOP)
    told = add_stop_active(STOP, 1)
    assert not lacks_stop_active(told)
    assert told.facts["stop"] == {"reason": "end_turn", "active": True}
    assert not lacks_stop_active(Event("turn.end", {}))


def test_the_limit_lets_the_agent_stop_and_says_why() -> None:
    assert limit_denied_stops(DENIED, MAX_DENIED_STOPS - 1) is DENIED
    limited = limit_denied_stops(DENIED, MAX_DENIED_STOPS)
    assert not denies_stop(limited)
    assert "Run the tests." in limited.notes[-1].text


@pytest.mark.parametrize("facts", [{}, {"stop": {"active": False}}])
def test_a_python_agent_may_stop_at_last(tmp_path: Path, facts: dict[str, object]) -> None:
    file = tmp_path / "hookline.yaml"
    file.write_text("hooks:\n  - {id: tests, on: stop, then: {deny: Run the tests.}}\n")

    async def stop_often() -> list[Verdict]:
        async with hookline.session(config=file, directory=tmp_path) as session:
            return [(await session.decide("stop", **facts)).verdict for _ in range(MAX_DENIED_STOPS + 2)]

    first, last = [Verdict.DENY] * MAX_DENIED_STOPS, [Verdict.SILENT, Verdict.DENY]
    assert asyncio.run(stop_often()) == first + last
