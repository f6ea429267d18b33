"""How turns and exchanges end, and what they tell on their way."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.hooks.outcome import Compact
from hookline.patterns.pattern import pattern
from hookline.runtime.apps.app import MAX_STEPS, Agent, AgentSide, App, Prompt
from hookline.runtime.compaction import compact
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ModelScript, ScriptedModel, ScriptSection, ScriptStep
from hookline.runtime.updates import DecisionMade, Ending, ToolCallFinished
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

LOOK = tool_call_step(("bash", {"command": "true"}))


@pytest.mark.slow
def test_two_ais_make_no_more_steps_together_than_one(tmp_path: Path) -> None:
    two = Agent("two", AgentSide(Prompt("a", "You are the first.")), AgentSide(Prompt("b", "You are the second.")))
    sides = tuple(ScriptSection(pattern(name), (LOOK, ScriptStep(say="well"))) for name in ("first", "second"))
    model = ScriptedModel(ModelScript(sections=sides, loop=True))

    async def work() -> None:
        async with open_runtime(tmp_path, app=App((two,)), model=model) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.ending is Ending.STEPS
            answers = [each for each in await session.main.get_messages() if each["role"] == "assistant"]
            assert len(answers) == MAX_STEPS

    run_async(work)


def test_a_changed_prompt_is_what_the_turn_is_about(tmp_path: Path) -> None:
    hooks = """
    hooks:
      - {id: politer, on: prompt.submit, then: {set: {prompt: "go, please"}}}
      - {id: see, on: turn.start, then: {log: seen}}
    """
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, watch=seen) as (runtime, _):
            await (await runtime.start()).ask("go")

    run_async(work)
    assert seen.facts("turn.start")["prompt"] == "go, please"


def test_the_flow_that_is_announced_is_the_first_one_and_the_next_prompt_has_another(tmp_path: Path) -> None:
    hooks = "hooks: [{id: see, on: [thread.created, turn.start], then: {log: seen}}]"
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one", "two"], watch=seen) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            await session.ask("on")

    run_async(work)
    announced, first, second = [each.decision.event.facts["execution"]["flow"] for each in seen.of_type(DecisionMade)]
    assert announced == first != second


def test_a_stop_that_nobody_was_there_to_obey_does_not_stop_the_next_exchange(tmp_path: Path) -> None:
    hooks = "hooks: [{id: no, on: history.compact, then: {halt: not now}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one", "two"]) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            assert not await compact(session.main, Compact(keep_recent=0), "manual")
            assert await session.ask("on") == "two"

    run_async(work)


def test_a_halted_start_of_a_turn_still_has_its_end(tmp_path: Path) -> None:
    hooks = """
    hooks:
      - {id: no, on: turn.start, then: {halt: enough}}
      - {id: see, on: turn.end, then: {log: seen}}
    """

    async def work() -> None:
        async with open_runtime(tmp_path, hooks) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert seen.last_end.ending is Ending.HALTED
            assert seen.events == ["turn.start", "turn.end"]

    run_async(work)


@pytest.mark.parametrize(
    ("first", "role", "then", "ending"),
    [
        (ScriptStep(error=ErrorCode.AUTH, message="no key"), "nobody", "{log: x}", Ending.FAILED),
        ("one", "assistant", "{deny: no words}", Ending.FAILED),
        ("one", "assistant", "{halt: no words}", Ending.HALTED),
        (LOOK, "tool", "{deny: no results}", Ending.FAILED),
        (LOOK, "tool", "{halt: no results}", Ending.HALTED),
    ],
    ids=["the model fails", "an answer is denied", "an answer halts", "a result is denied", "a result halts"],
)
def test_a_turn_that_breaks_off_has_its_end_and_counts(
    tmp_path: Path, first: ScriptStep | str, role: str, then: str, ending: Ending
) -> None:
    hooks = f"""
    hooks:
      - {{id: see, on: [turn.start, model.error, turn.end, stop], then: {{log: seen}}}}
      - {{id: no, on: message.create, when: {{fact: {{message.role: {role}}}}}, then: {then}}}
    """
    failing = ["model.error"] if isinstance(first, ScriptStep) and first.error else ["message.create"]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [first, "two"]) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.ending is ending
            assert seen.events == ["turn.start", *failing, "turn.end"]
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.turns == 1

    run_async(work)


def test_a_tool_that_fails_does_not_fail_the_session(tmp_path: Path) -> None:
    agent = Agent("helper", AgentSide(Prompt("main"), session_fail="bash"))
    steps = [
        tool_call_step(("bash", {"command": "exit 3"})),
        tool_call_step(("bash", {"command": "echo lost"})),
        "never",
    ]

    async def work() -> None:
        async with open_runtime(tmp_path, "", steps, app=App((agent,))) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.SESSION_FAIL, "lost")

    run_async(work)


def test_after_a_stop_every_other_call_has_a_result_and_none_runs(tmp_path: Path) -> None:
    hooks = "hooks: [{id: no, on: tool.before, when: {input: {command: first}}, then: {halt: enough}}]"
    steps = [tool_call_step(("bash", {"command": "echo first"}), ("bash", {"command": "touch made"})), "later"]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [False, False]
            results = [each["content"] for each in await session.main.get_messages() if each["role"] == "tool"]
            assert results == ["Error: enough (hook no, hookline.yaml:1)", "Error: not run: the agent was stopped"]

    run_async(work)
    assert not (tmp_path / "made").exists()
