"""A turn that was cut off has the same number, step and flow when it goes on, and one end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.runtime import Runtime
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.updates import ApprovalRequested, DecisionMade, Ending
from runtime.multi_agent_apps import APP, MultiAgentModel, two_sided_app
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

ASKS = """
hooks:
  - {id: careful, on: tool.before, when: {tool: bash, input: {command: second}}, then: {ask: sure?}}
  - {id: see, on: [turn.start, turn.end, tool.before, prompt.submit, session.end], then: {log: seen}}
"""
LOOKS = "hooks: [{id: look, on: tool.after, then: {log: seen}}]"
STEPS = [
    tool_call_step(("bash", {"command": "echo first"})),
    tool_call_step(("bash", {"command": "echo second"})),
    "done",
]


def _when(seen: UpdateRecorder) -> list[tuple[str, int, int]]:
    facts = [(each.decision.event.name, each.decision.event.facts) for each in seen.of_type(DecisionMade)]
    return [(name, fact["turn"]["number"], fact["execution"]["step"]) for name, fact in facts]


async def _cut_off(runtime: Runtime) -> tuple[AgentSession, UpdateRecorder]:
    session, seen = await runtime.start(), UpdateRecorder()
    async for happening in session.say("go"):
        seen(happening)
        if isinstance(happening, ApprovalRequested):
            break
    return session, seen


async def _gone_on(session: AgentSession) -> UpdateRecorder:
    seen = UpdateRecorder()
    async for happening in session.go_on():
        seen(happening)
    return seen


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'sessions.db'}"


def test_a_turn_that_was_cut_off_goes_on_as_the_one_that_it_was(tmp_path: Path, store: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, STEPS, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        async with open_runtime(tmp_path, ASKS, ["done"], store=store, unattended=True) as (runtime, _):
            after = await _gone_on(await runtime.resume(session.id))
        assert _when(before)[-2:] == [("turn.start", 1, 2), ("tool.before", 1, 2)]
        assert _when(after) == [("tool.before", 1, 2), ("turn.end", 1, 2), ("turn.start", 2, 3), ("turn.end", 2, 3)]
        about = [each.decision.event.facts for each in (*before.of_type(DecisionMade), *after.of_type(DecisionMade))]
        assert len({each["execution"]["flow"] for each in about}) == 1
        assert [each["turn"]["max"] for each in about] == [250] * len(about)

    run_async(work)


def test_a_new_prompt_ends_the_turn_that_was_cut_off(tmp_path: Path, store: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, STEPS, store=store) as (runtime, _):
            session, _ = await _cut_off(runtime)
        async with open_runtime(tmp_path, ASKS, ["done", "more"], store=store) as (runtime, _):
            again = await runtime.resume(session.id)
            assert _when(await send_prompt(again, "something else")) == [
                ("turn.end", 1, 2),
                ("prompt.submit", 1, 0),
                ("turn.start", 2, 1),
                ("turn.end", 2, 1),
            ]
            assert "turn.end" not in (await send_prompt(again, "more")).events[:2]

    run_async(work)


def test_a_cancelled_turn_has_one_end_if_the_session_ends(tmp_path: Path, store: str) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, [*STEPS, "more"], store=store, watch=seen) as (runtime, _):
            session, _ = await _cut_off(runtime)
            await session.end()
            assert seen.events[-2:] == ["turn.end", "session.end"]
            await send_prompt(await runtime.reopen(session.id), "again")

    run_async(work)
    assert seen.events[-4:] == ["session.end", "prompt.submit", "turn.start", "turn.end"]


def test_an_agents_own_turn_is_told_though_another_one_counted_on(tmp_path: Path, store: str) -> None:
    wanted = (("agent", {"agent": "reviewer", "prompt": "look at it"}), ("bash", {"command": "echo second"}))
    model = MultiAgentModel(boss=[tool_call_step(*wanted), "fine"], reviewer=["good"])

    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, app=APP, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        async with open_runtime(tmp_path, ASKS, app=APP, model=model, store=store, unattended=True) as (runtime, _):
            after = await _gone_on(await runtime.resume(session.id))
        assert _when(before)[-1] == _when(after)[0] == ("tool.before", 0, 1)

    run_async(work)


def test_whoever_goes_on_makes_no_more_steps_than_it_may(tmp_path: Path, store: str) -> None:
    app = App((Agent("helper", AgentSide(Prompt("main"), max_steps=3)),))

    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, STEPS, app=app, store=store) as (runtime, _):
            session, _ = await _cut_off(runtime)
        more = [tool_call_step(("bash", {"command": "echo more"}))] * 9
        async with open_runtime(tmp_path, ASKS, more, app=app, store=store, unattended=True) as (runtime, _):
            after = await _gone_on(await runtime.resume(session.id))
        assert (after.last_end.ending, after.events.count("turn.start")) == (Ending.STEPS, 1)

    run_async(work)


def test_one_of_two_ais_that_was_cut_off_goes_on_with_its_own_call(tmp_path: Path, store: str) -> None:
    """Only the seller has that tool, only it is asked about, and both answer no more often than they may."""
    sell = tool_call_step(("bash", {"command": "echo second >> made"}))
    model = MultiAgentModel(buyer=["ten?", "twelve?", "never"], seller=[sell, "deal", "never"])
    [market] = two_sided_app(max_session_turns=3).agents
    a, b = (
        replace(side.prompt, tools=(tool,)) for side, tool in ((market.side_a, "grep"), (market.side_b, "bash")) if side
    )
    app = App((replace(market, side_a=AgentSide(a), side_b=AgentSide(b)),))

    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, app=app, model=model, store=store) as (runtime, _):
            session, before = await _cut_off(runtime)
        async with open_runtime(tmp_path, ASKS, app=app, model=model, store=store) as (runtime, _):
            await runtime.answer(before.of_type(ApprovalRequested)[0].approval, True, "ann")
            again = await runtime.resume(session.id)
            after = await _gone_on(again)
            spoken = [(each["side"], each["content"]) for each in await again.main.history() if each.get("side")]
        assert _when(after)[0] == ("tool.before", 1, 2)
        assert (after.last_end.ending, spoken) == (
            Ending.STEPS,
            [("a", "ten?"), ("b", None), ("b", "deal"), ("a", "twelve?")],
        )

    run_async(work)
    assert (tmp_path / "made").read_text() == "second\n"


@pytest.mark.parametrize("beside", [(), (("bash", {"command": "echo second"}),)], ids=["alone", "beside another call"])
def test_a_tool_that_ends_an_agents_turn_ends_it_after_a_restart_too(
    tmp_path: Path, store: str, beside: tuple[tuple[str, dict[str, Any]], ...]
) -> None:
    app = App((Agent("helper", AgentSide(Prompt("main"), stop_tool="bash" if not beside else "list_directory")),))
    wanted = (("list_directory", {"path": "."}), *beside) if beside else (("bash", {"command": "echo second"}),)

    async def work() -> None:
        async with open_runtime(tmp_path, ASKS, [tool_call_step(*wanted, say="handed")], app=app, store=store) as (
            runtime,
            _,
        ):
            session, _ = await _cut_off(runtime)
        async with open_runtime(tmp_path, ASKS, ["never"], app=app, store=store, unattended=True) as (runtime, _):
            after = await _gone_on(await runtime.resume(session.id))
        assert (after.last_end.ending, after.last_end.text) == (Ending.ANSWERED, "handed")

    run_async(work)


class CountedWrites:
    """A database that counts its transactions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, work: Query[Any]) -> Any:
        self.writes += 1
        return await self._database.write(work)


@pytest.mark.parametrize(("hooks", "expected"), [("", 4), (ASKS, 4), (LOOKS, 5)])
def test_what_happens_at_once_is_stored_at_once(tmp_path: Path, hooks: str, expected: int) -> None:
    async def writes(turns: int) -> int:
        steps = [*[tool_call_step(("bash", {"command": "echo first"}))] * turns, "done"]
        async with open_runtime(tmp_path, hooks, steps) as (runtime, _):
            session = await runtime.start()
            runtime.store._database = counted = CountedWrites(runtime.store._database)  # type: ignore[assignment]
            await send_prompt(session, "go")
            return counted.writes

    async def work() -> None:
        assert await writes(turns=4) - await writes(turns=3) == expected

    run_async(work)


@pytest.mark.parametrize("side", [{"max_steps": 1}, {"stop_tool": "bash"}])
def test_the_last_turn_has_ended_in_the_store_whatever_ends_the_exchange(
    tmp_path: Path, store: str, side: dict[str, Any]
) -> None:
    app = App((Agent("helper", AgentSide(Prompt("main"), **side)),))

    async def work() -> None:
        async with open_runtime(tmp_path, "", STEPS, app=app, store=store) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            (row,) = await runtime.store.threads(session.id)
            assert row.turn == ~1
        async with open_runtime(tmp_path, ASKS, STEPS[:1], app=app, store=store) as (runtime, _):
            again = await runtime.resume(session.id)
            assert (await send_prompt(again, "more")).events[0] == "prompt.submit"

    run_async(work)
