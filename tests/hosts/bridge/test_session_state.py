"""Counts that several processes share."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hosts.bridge.session_state import SessionStore, UserMessage
from hookline.project import load_text

pytestmark = pytest.mark.slow


EVENT = Event("tool.before", {"session": {"id": "s"}, "host": {"name": "kiro"}, "workspace": "/p"})


@dataclass(frozen=True)
class Clock:
    now_: float
    wall_: float

    def now(self) -> float:
        return self.now_

    def wall(self) -> float:
        return self.wall_


def limited(limit: str) -> Hook:
    text = f"hooks:\n  - {{id: h, on: tool.before, then: {{deny: no}}, {limit}}}\n"
    return load_text(text, "hookline.yaml").hooks[0]


def test_a_limit_holds_among_those_who_claim_at_once(tmp_path: Path) -> None:
    hook = limited("max_fires: 5")
    several = [SessionStore(tmp_path) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: several[n % 8].claim(hook, EVENT, time.monotonic()), range(40)))
    assert sum(claim is not None for claim in claims) == 5
    assert several[0].fires(hook, "s")[0] == 5


def test_what_is_given_back_can_be_claimed_again(tmp_path: Path) -> None:
    hook = limited("max_fires: 1, cooldown: 1h")
    claim = SessionStore(tmp_path).claim(hook, EVENT, time.monotonic())
    assert claim is not None
    assert not SessionStore(tmp_path).allows(hook, EVENT, time.monotonic())
    claim()
    assert SessionStore(tmp_path).claim(hook, EVENT, time.monotonic()) is not None


def test_a_cooldown_is_measured_across_processes(tmp_path: Path) -> None:
    hook = limited("cooldown: 1h")
    one, rebooted = Clock(now_=5_000.0, wall_=1e9), Clock(now_=10.0, wall_=1e9 + 60)
    assert SessionStore(tmp_path, one).claim(hook, EVENT, one.now()) is not None
    assert SessionStore(tmp_path, rebooted).claim(hook, EVENT, rebooted.now()) is None
    much_later = replace(rebooted, wall_=1e9 + 3_700)
    assert SessionStore(tmp_path, much_later).allows(hook, EVENT, much_later.now())


def test_a_session_s_end_forgets_it(tmp_path: Path) -> None:
    hook = limited("max_fires: 1")
    sessions = SessionStore(tmp_path)
    sessions.claim(hook, EVENT, 1.0)
    sessions.end(EVENT)
    assert sessions.claim(hook, EVENT, 2.0) is not None


@pytest.mark.parametrize("limit", ["max_fires: 1", "cooldown: 1h", "max_fires: 1, cooldown_turns: 3"])
def test_a_guard_has_no_limit_without_a_session(tmp_path: Path, limit: str) -> None:
    hook = limited(limit)
    sessions, event = SessionStore(tmp_path), Event("tool.before", {"host": {"name": "kiro"}, "workspace": "/p"})
    for _ in range(3):
        assert sessions.allows(hook, event, 1.0)
        assert sessions.claim(hook, event, 1.0) is not None


def test_what_keeps_an_agent_from_stopping_is_limited_without_a_session(tmp_path: Path) -> None:
    text = "hooks: [{id: h, on: stop, then: {deny: go on}, max_fires: 1}]"
    hook, event = load_text(text, "hookline.yaml").hooks[0], Event("stop", {"workspace": "/p"})
    claims = [SessionStore(tmp_path).claim(hook, event, 1.0) for _ in range(2)]
    assert claims[0] is not None
    assert claims[1] is None


def test_sessions_without_a_name_are_told_apart_by_their_project(tmp_path: Path) -> None:
    hook = load_text("hooks: [{id: h, on: tool.before, then: {log: hi}, max_fires: 1}]", "hookline.yaml").hooks[0]
    one, two = (Event("tool.before", {"host": {"name": "kiro"}, "workspace": each}) for each in ("/a", "/b"))
    assert SessionStore(tmp_path).claim(hook, one, 1.0) is not None
    assert SessionStore(tmp_path).claim(hook, two, 1.0) is not None
    assert SessionStore(tmp_path).claim(hook, one, 1.0) is None


def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    hook = limited("max_fires: 1")
    SessionStore(tmp_path).claim(hook, EVENT, 1.0)
    for text in ("", "[]", '{"version": 2}', '{"version": 1, "counts": [{"hook": 1}], "said": []}', "[" * 100_000):
        next(tmp_path.glob("*.json")).write_text(text)
        assert SessionStore(tmp_path).claim(hook, EVENT, 1.0) is not None


def test_where_nothing_can_be_written_counts_live_in_memory() -> None:
    hook = limited("max_fires: 1")
    sessions = SessionStore(Path("/proc/hookline"))
    assert sessions.claim(hook, EVENT, 1.0) is not None
    assert sessions.claim(hook, EVENT, 2.0) is None


def test_a_text_is_told_once(tmp_path: Path) -> None:
    assert SessionStore(tmp_path).take_new_messages(EVENT, map(UserMessage, "aba")) == ["a", "b"]
    assert SessionStore(tmp_path).take_new_messages(EVENT, map(UserMessage, "bc")) == ["c"]
    for version in ("1", "2"):
        changed = [UserMessage("a", version)] * 2
        assert SessionStore(tmp_path).take_new_messages(EVENT, changed) == ["a"]
        assert SessionStore(tmp_path).take_new_messages(EVENT, changed) == []


@pytest.mark.parametrize("per", ["session", "minute"])
def test_a_count_is_exact_among_those_who_count_at_once(tmp_path: Path, per: str) -> None:
    hook = limited(f"when: {{count: {{more_than: 30, per: {per}}}}}")
    several = [SessionStore(tmp_path) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: several[n % 8].claim(hook, EVENT, time.monotonic()), range(40)))
    assert sum(claim is not None for claim in claims) == 10


def test_a_minute_is_measured_across_processes(tmp_path: Path) -> None:
    hook = limited("when: {count: {more_than: 1, per: minute}}")
    one, rebooted = Clock(now_=5_000.0, wall_=1e9), Clock(now_=10.0, wall_=1e9 + 50)
    assert SessionStore(tmp_path, one).claim(hook, EVENT, one.now()) is None
    assert SessionStore(tmp_path, rebooted).claim(hook, EVENT, rebooted.now()) is not None
    later = replace(rebooted, wall_=1e9 + 200)
    assert SessionStore(tmp_path, later).claim(hook, EVENT, later.now()) is None


def test_a_turn_lasts_until_the_next_prompt(tmp_path: Path) -> None:
    hook = limited("when: {count: {more_than: 1, per: turn}}")

    def claims() -> list[bool]:
        return [SessionStore(tmp_path).claim(hook, EVENT, time.monotonic()) is not None for _ in range(3)]

    assert claims() == [False, True, True]
    SessionStore(tmp_path).begin_turn(replace(EVENT, name="prompt.submit"))
    assert claims() == [False, True, True]


def test_what_happened_is_kept_for_other_processes(tmp_path: Path) -> None:
    SessionStore(tmp_path).remember(EVENT, "k", True)
    assert SessionStore(tmp_path).recalls(EVENT, "k")
    SessionStore(tmp_path).remember(EVENT, "k", False)
    assert not SessionStore(tmp_path).recalls(EVENT, "k")
    SessionStore(tmp_path).remember(EVENT, "k", True)
    SessionStore(tmp_path).end(EVENT)
    assert not SessionStore(tmp_path).recalls(EVENT, "k")
