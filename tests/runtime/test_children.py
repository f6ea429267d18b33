"""A sub-agent that was cut off goes on with its parent, and has one end."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.app import App
from hookline.runtime.happenings import Asked, Called, Decided, Ended, Happening
from hookline.runtime.runtime import Runtime
from hookline.runtime.session import Session
from runtime.agents import Seen, calls, play, running, said
from runtime.cast import APP, SPAWN, Cast, cast_agent

ASK = "  - {id: careful, on: tool.before, when: {tool: bash}, then: {ask: sure?}}\n"
SEE = "  - {id: see, on: [subagent.start, subagent.end, tool.failed, turn.end, agent.end], then: {log: seen}}\n"
HOOKS = f"hooks:\n{ASK}{SEE}"
TOUCH = calls(("bash", {"command": "echo x >> made"}))


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'sessions.db'}"


def _asked(happening: Happening) -> bool:
    return isinstance(happening, Asked)


async def _cut_off(runtime: Runtime, here: Any = _asked) -> tuple[Session, Seen]:
    session, seen = await runtime.start(), Seen()
    async for happening in session.say("go"):
        seen(happening)
        if here(happening):
            break
    return session, seen


async def _gone_on(runtime: Runtime, id: str) -> Seen:
    session, seen = await runtime.resume(id), Seen()
    assert await session.unfinished()
    async for happening in session.go_on():
        seen(happening)
    return seen


def _told(seen: Seen) -> list[str]:
    return [event for event in seen.events if event != "tool.before"]


def _ends(seen: Seen) -> list[tuple[str, str, str]]:
    facts = [each.decision.event.facts for each in seen.of(Decided) if each.decision.event.name == "subagent.end"]
    results = [each["tool"]["result"] for each in facts]
    return [(each["specialist"], each["status"], each["summary"]) for each in results]


def _killed(database: Path) -> None:
    """As if the process had had no time to write that the calls which it ran were over."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE tool_calls SET ended = NULL, ok = NULL, result = NULL, error = NULL")


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_a_question_of_a_sub_agent_can_be_answered_after_a_restart(tmp_path: Path, store: str, killed: bool) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=[TOUCH, "it is good"])

    async def work() -> None:
        async with running(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        if killed:
            _killed(tmp_path / "sessions.db")
        async with running(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            assert await runtime.answer(before.of(Asked)[0].approval, True, "ann")
            after = await _gone_on(runtime, session.id)
            assert len(await runtime.store.threads(session.id)) == 2
        assert after.ended.text == "fine"
        assert (_told(before), _ends(after)) == (["subagent.start"], [("reviewer", "completed", "it is good")])
        assert _told(after) == ["turn.end", "turn.end", "subagent.end", "turn.end", "turn.end"]
        assert [each.result.ok for each in after.of(Called)] == [True, True]

    play(work)
    assert (tmp_path / "made").read_text() == "x\n"


def test_one_of_several_goes_on_and_the_others_are_as_they_were(tmp_path: Path, store: str) -> None:
    app = App((cast_agent("boss"), cast_agent("reviewer"), cast_agent("reader")))
    tasks = [{"agent": "reader", "prompt": "read"}, {"agent": "reviewer", "prompt": "review"}]
    model = Cast(boss=[calls(("agents", {"tasks": tasks})), "fine"], reader=["read"], reviewer=[TOUCH, "reviewed"])
    done: list[Happening] = []

    def at_work_alone(happening: Happening) -> bool:
        about = happening.decision.event if isinstance(happening, Decided) else None
        done.extend([happening] if isinstance(happening, Asked) or (about and about.name == "subagent.end") else [])
        return len(done) == 2

    async def work() -> None:
        async with running(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime, at_work_alone)
        async with running(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            await runtime.answer(before.of(Asked)[0].approval, True, "ann")
            after = await _gone_on(runtime, session.id)
            assert len(await runtime.store.threads(session.id)) == 3
        assert _ends(before) == [("reader", "completed", "read")]
        assert _ends(after) == [("reviewer", "completed", "reviewed")]
        assert [each["summary"] for each in after.of(Called)[-1].result.content] == ["read", "reviewed"]

    play(work)
    assert len(model.sent_to("reader")) == 1


def test_agents_of_agents_go_on_too(tmp_path: Path, store: str) -> None:
    app = App((cast_agent("boss"), cast_agent("reviewer"), cast_agent("reader")))
    read = calls(("agent", {"agent": "reader", "prompt": "read it"}))
    model = Cast(boss=[SPAWN, "fine"], reviewer=[read, "reviewed"], reader=[TOUCH, "read"])

    async def work() -> None:
        async with running(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        async with running(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            await runtime.answer(before.of(Asked)[0].approval, True, "ann")
            after = await _gone_on(runtime, session.id)
        assert _ends(after) == [("reader", "completed", "read"), ("reviewer", "completed", "reviewed")]

    play(work)


def test_one_that_had_answered_says_it_again_without_being_asked(tmp_path: Path, store: str) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=["it is good", "never"])
    slow = "hooks: [{id: slow, on: subagent.end, on_error: open, then: {run: sleep 30}}]"

    async def work() -> None:
        async with running(tmp_path, slow, app=APP, model=model, store=store) as (runtime, _):
            session, _ = await _cut_off(runtime, lambda each: isinstance(each, Ended))
        async with running(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            assert _ends(await _gone_on(runtime, session.id)) == [("reviewer", "completed", "it is good")]

    play(work)
    assert len(model.sent_to("reviewer")) == 1


def test_hooks_may_keep_it_from_going_on(tmp_path: Path, store: str) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=[TOUCH, "never"])
    no = "  - {id: no, on: tool.before, when: {tool: agent}, then: {deny: alone now}}\n"

    async def work() -> None:
        async with running(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            session, _ = await _cut_off(runtime)
        async with running(tmp_path, HOOKS + no, app=APP, model=model, store=store) as (runtime, _):
            after = await _gone_on(runtime, session.id)
        assert [(each.ran, each.result.error) for each in after.of(Called)] == [(False, "alone now")]
        assert _ends(after) == [("reviewer", "cancelled", "")]

    play(work)
    assert not (tmp_path / "made").exists()


def test_a_new_prompt_ends_it_instead(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "fine", "more"], reviewer=[TOUCH, "never"])

    async def work() -> None:
        async with running(tmp_path, HOOKS, app=APP, model=model) as (runtime, _):
            session, _ = await _cut_off(runtime)
            after = await said(session, "something else")
            assert _told(after)[:4] == ["turn.end", "subagent.end", "tool.failed", "turn.end"]
            assert _ends(after) == [("reviewer", "cancelled", "")]
            assert "subagent.end" not in (await said(session, "more")).events

    play(work)


def test_it_has_its_end_when_the_session_ends(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=[TOUCH, "never"])
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, HOOKS, app=APP, model=model, watch=seen) as (runtime, _):
            session, _ = await _cut_off(runtime)
            await session.end()

    play(work)
    assert _told(seen) == ["subagent.start", "turn.end", "subagent.end", "turn.end", "agent.end"]
    assert _ends(seen) == [("reviewer", "cancelled", "")]
