"""A sub-agent that was cut off goes on with its parent, and has one end."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import App
from hookline.runtime.runtime import Runtime
from hookline.runtime.updates import ApprovalRequested, DecisionMade, ExchangeEnded, ToolCallFinished, Update
from runtime.multi_agent_apps import APP, SPAWN, MultiAgentModel, make_named_agent
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

ASK = "  - {id: careful, on: tool.before, when: {tool: bash}, then: {ask: sure?}}\n"
SEE = "  - {id: see, on: [subagent.start, subagent.end, tool.failed, turn.end, agent.end], then: {log: seen}}\n"
HOOKS = f"hooks:\n{ASK}{SEE}"
TOUCH = tool_call_step(("bash", {"command": "echo x >> made"}))


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'sessions.db'}"


def _asked(happening: Update) -> bool:
    return isinstance(happening, ApprovalRequested)


async def _cut_off(runtime: Runtime, here: Any = _asked) -> tuple[AgentSession, UpdateRecorder]:
    session, seen = await runtime.start(), UpdateRecorder()
    async for happening in session.say("go"):
        seen(happening)
        if here(happening):
            break
    return session, seen


async def _gone_on(runtime: Runtime, id: str) -> UpdateRecorder:
    session, seen = await runtime.resume(id), UpdateRecorder()
    assert await session.is_unfinished()
    async for happening in session.go_on():
        seen(happening)
    return seen


def _told(seen: UpdateRecorder) -> list[str]:
    return [event for event in seen.events if event != "tool.before"]


def _ends(seen: UpdateRecorder) -> list[tuple[str, str, str]]:
    facts = [
        each.decision.event.facts for each in seen.of_type(DecisionMade) if each.decision.event.name == "subagent.end"
    ]
    results = [each["tool"]["result"] for each in facts]
    return [(each["specialist"], each["status"], each["summary"]) for each in results]


def _killed(database: Path) -> None:
    """As if the process had had no time to write that the calls which it ran were over."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE tool_calls SET ended = NULL, ok = NULL, result = NULL, error = NULL")


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_a_question_of_a_sub_agent_can_be_answered_after_a_restart(tmp_path: Path, store: str, killed: bool) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[TOUCH, "it is good"])

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        if killed:
            _killed(tmp_path / "sessions.db")
        async with open_runtime(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            assert await runtime.answer(before.of_type(ApprovalRequested)[0].approval, True, "ann")
            after = await _gone_on(runtime, session.id)
            assert len(await runtime.store.threads(session.id)) == 2
        assert after.last_end.text == "fine"
        assert (_told(before), _ends(after)) == (["subagent.start"], [("reviewer", "completed", "it is good")])
        assert _told(after) == ["turn.end", "turn.end", "subagent.end", "turn.end", "turn.end"]
        assert [each.result.ok for each in after.of_type(ToolCallFinished)] == [True, True]

    run_async(work)
    assert (tmp_path / "made").read_text() == "x\n"


def test_one_of_several_goes_on_and_the_others_are_as_they_were(tmp_path: Path, store: str) -> None:
    app = App((make_named_agent("boss"), make_named_agent("reviewer"), make_named_agent("reader")))
    tasks = [{"agent": "reader", "prompt": "read"}, {"agent": "reviewer", "prompt": "review"}]
    model = MultiAgentModel(
        boss=[tool_call_step(("agents", {"tasks": tasks})), "fine"], reader=["read"], reviewer=[TOUCH, "reviewed"]
    )
    done: list[Update] = []

    def at_work_alone(happening: Update) -> bool:
        about = happening.decision.event if isinstance(happening, DecisionMade) else None
        done.extend(
            [happening] if isinstance(happening, ApprovalRequested) or (about and about.name == "subagent.end") else []
        )
        return len(done) == 2

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime, at_work_alone)
        async with open_runtime(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            await runtime.answer(before.of_type(ApprovalRequested)[0].approval, True, "ann")
            after = await _gone_on(runtime, session.id)
            assert len(await runtime.store.threads(session.id)) == 3
        assert _ends(before) == [("reader", "completed", "read")]
        assert _ends(after) == [("reviewer", "completed", "reviewed")]
        assert [each["summary"] for each in after.of_type(ToolCallFinished)[-1].result.content] == ["read", "reviewed"]

    run_async(work)
    assert len(model.requests_to("reader")) == 1


def test_agents_of_agents_go_on_too(tmp_path: Path, store: str) -> None:
    app = App((make_named_agent("boss"), make_named_agent("reviewer"), make_named_agent("reader")))
    read = tool_call_step(("agent", {"agent": "reader", "prompt": "read it"}))
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[read, "reviewed"], reader=[TOUCH, "read"])

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        async with open_runtime(tmp_path, HOOKS, app=app, model=model, store=store) as (runtime, _):
            await runtime.answer(before.of_type(ApprovalRequested)[0].approval, True, "ann")
            after = await _gone_on(runtime, session.id)
        assert _ends(after) == [("reader", "completed", "read"), ("reviewer", "completed", "reviewed")]

    run_async(work)


def test_one_that_had_answered_says_it_again_without_being_asked(tmp_path: Path, store: str) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=["it is good", "never"])
    slow = "hooks: [{id: slow, on: subagent.end, on_error: open, then: {run: sleep 30}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, slow, app=APP, model=model, store=store) as (runtime, _):
            session, _ = await _cut_off(runtime, lambda each: isinstance(each, ExchangeEnded))
        async with open_runtime(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            assert _ends(await _gone_on(runtime, session.id)) == [("reviewer", "completed", "it is good")]

    run_async(work)
    assert len(model.requests_to("reviewer")) == 1


def test_hooks_may_keep_it_from_going_on(tmp_path: Path, store: str) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[TOUCH, "never"])
    no = "  - {id: no, on: tool.before, when: {tool: agent}, then: {deny: alone now}}\n"

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, app=APP, model=model, store=store) as (runtime, _):
            session, _ = await _cut_off(runtime)
        async with open_runtime(tmp_path, HOOKS + no, app=APP, model=model, store=store) as (runtime, _):
            after = await _gone_on(runtime, session.id)
        assert [(each.ran, each.result.error) for each in after.of_type(ToolCallFinished)] == [
            (False, "alone now (hook no, hookline.yaml:4)")
        ]
        assert _ends(after) == [("reviewer", "cancelled", "")]

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_a_new_prompt_ends_it_instead(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine", "more"], reviewer=[TOUCH, "never"])

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, app=APP, model=model) as (runtime, _):
            session, _ = await _cut_off(runtime)
            after = await send_prompt(session, "something else")
            assert _told(after)[:4] == ["turn.end", "subagent.end", "tool.failed", "turn.end"]
            assert _ends(after) == [("reviewer", "cancelled", "")]
            assert "subagent.end" not in (await send_prompt(session, "more")).events

    run_async(work)


def test_it_has_its_end_when_the_session_ends(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[TOUCH, "never"])
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, app=APP, model=model, watch=seen) as (runtime, _):
            session, _ = await _cut_off(runtime)
            await session.end()

    run_async(work)
    assert _told(seen) == ["subagent.start", "turn.end", "subagent.end", "turn.end", "agent.end"]
    assert _ends(seen) == [("reviewer", "cancelled", "")]
