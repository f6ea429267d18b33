"""Agents that an agent starts, and two AIs that talk to each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hookline.patterns.pattern import pattern
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import RequestMatcher, ScriptStep
from hookline.runtime.subagents import MAX_DEPTH
from hookline.runtime.updates import DecisionMade, Ending, SubagentStarted, TextDelta, ToolCallFinished, ToolCallStarted
from runtime.multi_agent_apps import APP, SPAWN, MultiAgentModel, make_named_agent, messages_to, two_sided_app
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

ALL = "hooks:\n" + "".join(
    f"  - {{id: see-{n}, on: {n}, then: {{log: seen}}}}\n"
    for n in ("thread.created", "subagent.created", "subagent.start", "subagent.end", "stop", "turn.end")
)


def test_a_sub_agent_has_a_thread_of_its_own_and_its_answer_comes_back(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=["it is good"])

    async def work() -> None:
        async with open_runtime(tmp_path, ALL, app=APP, model=model, watch=seen) as (runtime, _):
            session = await runtime.start()
            assert await session.ask("review") == "fine"
            threads = await runtime.store.threads(session.id)
            assert [(row.agent, row.depth, row.parent) for row in threads] == [
                ("boss", 0, None),
                ("reviewer", 1, session.id),
            ]

    run_async(work)
    assert seen.events == [
        "thread.created", "thread.created", "subagent.created", "subagent.start", "turn.end", "subagent.end",
        "turn.end", "turn.end", "stop",
    ]  # fmt: skip
    assert [each.decision.event.facts["agent"]["id"] for each in seen.of_type(DecisionMade)][:5] == [
        "boss", "reviewer", "boss", "boss", "reviewer",
    ]  # fmt: skip
    spawned = seen.of_type(SubagentStarted)[0]
    start, end = seen.facts("subagent.start"), seen.facts("subagent.end")
    assert start["tool"]["input"] == {"agent_id": spawned.child, "specialist": "reviewer", "task": "look at it"}
    assert end["tool"]["result"] == {
        "agent_id": spawned.child, "specialist": "reviewer", "task": "look at it",
        "status": "completed", "errors": [], "summary": "it is good",
    }  # fmt: skip
    assert ("user", "look at it") in messages_to(model, "reviewer", 0)


def test_a_denied_sub_agent_never_runs(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "alone then"], reviewer=["no"])
    hooks = "hooks: [{id: no, on: subagent.start, then: {deny: nobody else}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert seen.of_type(ToolCallFinished)[0].result.error == "nobody else (hook no, hookline.yaml:1)"

    run_async(work)
    assert model.requests_to("reviewer") == []


def test_a_denied_end_makes_it_go_on(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=["half", "whole"])
    hooks = "hooks: [{id: more, on: subagent.end, when: {not: {fact: {tool.result.summary: whole}}}, then: {deny: all of it}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            await (await runtime.start()).ask("go")

    run_async(work)
    assert messages_to(model, "reviewer", 1)[-1] == ("user", "all of it")


def test_a_failed_one_is_told_with_all_its_keys(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "well"], reviewer=[ScriptStep(error=ErrorCode.AUTH, message="no key")])
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, ALL, app=APP, model=model, watch=seen) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "well"

    run_async(work)
    result = seen.facts("subagent.end")["tool"]["result"]
    assert sorted(result) == ["agent_id", "errors", "specialist", "status", "summary", "task"]
    assert (result["status"], result["errors"], result["summary"]) == ("failed", ["script: no key"], "")


def test_several_at_once(tmp_path: Path) -> None:
    tasks = [{"agent": "reviewer", "prompt": f"part {n}"} for n in range(4)]
    model = MultiAgentModel(boss=[tool_call_step(("agents", {"tasks": tasks})), "fine"], reviewer=["looked"])

    async def work() -> None:
        async with open_runtime(tmp_path, app=APP, model=model) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert [each["summary"] for each in seen.of_type(ToolCallFinished)[0].result.content] == ["looked"] * 4

    run_async(work)
    assert sorted(messages_to(model, "reviewer", n)[-1][1] for n in range(4)) == [f"part {n}" for n in range(4)]


def test_agents_start_agents_only_so_deep(tmp_path: Path) -> None:
    spawn = (("agent", {"agent": "boss", "prompt": "again"}),)
    model = MultiAgentModel(boss=[ScriptStep(calls=spawn, when=RequestMatcher(last=pattern("^(go|again)$"))), "enough"])
    boss = replace(make_named_agent("boss"), subagents=("boss",))

    async def work() -> None:
        async with open_runtime(tmp_path, app=App((boss, make_named_agent("reviewer"))), model=model) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            threads = await runtime.store.threads(session.id)
            assert max(row.depth for row in threads) == MAX_DEPTH

    run_async(work)


def test_an_agent_starts_itself_only_if_it_is_listed(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[tool_call_step(("agent", {"agent": "boss", "prompt": "again"})), "alone"])

    async def work() -> None:
        async with open_runtime(tmp_path, app=APP, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert "there is no agent 'boss'" in seen.of_type(ToolCallFinished)[0].result.error

    run_async(work)


def test_hooks_of_one_agent_do_not_see_the_other(tmp_path: Path) -> None:
    touch = tool_call_step(("bash", {"command": "touch made"}))
    model = MultiAgentModel(
        boss=[touch, SPAWN, "fine"], reviewer=[tool_call_step(("bash", {"command": "touch by-reviewer"})), "done"]
    )
    hooks = "hooks: [{id: no, on: tool.before, scope: {agent: reviewer}, when: {tool: bash}, then: {deny: not you}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            await (await runtime.start()).ask("go")

    run_async(work)
    assert (tmp_path / "made").exists()
    assert not (tmp_path / "by-reviewer").exists()


def test_two_ais_take_turns_and_each_is_the_others_user(tmp_path: Path) -> None:
    model = MultiAgentModel(buyer=["ten?", "twelve?"], seller=["fifteen", "deal"])
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, ALL, app=two_sided_app(max_session_turns=4), model=model, watch=seen) as (
            runtime,
            _,
        ):
            session = await runtime.start()
            ended = (await send_prompt(session, "trade")).last_end
            assert (ended.ending, ended.text) == (Ending.STEPS, "deal")

    run_async(work)
    assert messages_to(model, "seller", 0) == [("user", "trade"), ("user", "ten?")]
    assert messages_to(model, "buyer", 1) == [("user", "trade"), ("assistant", "ten?"), ("user", "fifteen")]
    sides = [
        e.decision.event.facts["execution"]["side"]
        for e in seen.of_type(DecisionMade)
        if e.decision.event.name == "turn.end"
    ]
    assert sides == ["a", "b", "a", "b"]


def test_one_of_two_ais_that_ends_its_turn_without_a_word_lets_the_other_go_on(tmp_path: Path) -> None:
    model = MultiAgentModel(buyer=["ten?", "twelve?"], seller=[tool_call_step(("bash", {"command": "true"}))])
    app = two_sided_app(b={"stop_tool": "bash"}, max_session_turns=3)

    async def work() -> None:
        async with open_runtime(tmp_path, app=app, model=model) as (runtime, _):
            await send_prompt(await runtime.start(), "trade")

    run_async(work)
    assert messages_to(model, "buyer", 1) == [("user", "trade"), ("assistant", "ten?"), ("user", "Please continue.")]


@pytest.mark.parametrize(("labels", "names"), [(("Ann", "Bob"), ["Ann", "Bob"]), (("", ""), ["a", "b"])])
def test_whoever_watches_two_ais_is_told_which_one_it_is(
    tmp_path: Path, labels: tuple[str, str], names: list[str]
) -> None:
    look = tool_call_step(("bash", {"command": "true"}), say="look")
    model = MultiAgentModel(buyer=[look, "ten?"], seller=["deal"])
    app = two_sided_app(a={"label": labels[0]}, b={"label": labels[1]}, max_session_turns=2)

    async def work() -> None:
        async with open_runtime(tmp_path, app=app, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "trade")
            assert list(dict.fromkeys((each.speaker, each.text) for each in seen.of_type(TextDelta))) == [
                (names[0], "look"),
                (names[0], "ten?"),
                (names[1], "deal"),
            ]
            assert [each.speaker for each in (*seen.of_type(ToolCallStarted), *seen.of_type(ToolCallFinished))] == [
                names[0]
            ] * 2

    run_async(work)


def test_one_who_speaks_alone_needs_no_name(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", ["hi"]) as (runtime, _):
            assert {each.speaker for each in (await send_prompt(await runtime.start(), "go")).happenings} == {""}

    run_async(work)


@pytest.mark.parametrize("works", [True, False])
def test_a_tool_ends_the_session_only_if_it_succeeded(tmp_path: Path, works: bool) -> None:
    command = "true" if works else "false"
    model = MultiAgentModel(buyer=[tool_call_step(("bash", {"command": command})), "bye"], seller=["hm"])
    app = two_sided_app(a={"session_stop": "bash"}, max_session_turns=1)

    async def work() -> None:
        async with open_runtime(tmp_path, app=app, model=model) as (runtime, _):
            ended = (await send_prompt(await runtime.start(), "trade")).last_end
            assert ended.ending is (Ending.SESSION_STOP if works else Ending.STEPS)

    run_async(work)


def test_an_agent_with_a_list_of_tools_may_still_start_its_agents(tmp_path: Path) -> None:
    boss = Agent("boss", AgentSide(Prompt("p", "You are the boss.", tools=("read_file",))), subagents=("reviewer",))
    model = MultiAgentModel(
        boss=[SPAWN, tool_call_step(("bash", {"command": "touch made"})), "fine"], reviewer=["good"]
    )

    async def work() -> None:
        async with open_runtime(tmp_path, app=App((boss, make_named_agent("reviewer"))), model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [True, False]

    run_async(work)
    assert [each.name for each in model.requests_to("boss")[0].tools] == ["read_file", "agent", "agents"]
    assert not (tmp_path / "made").exists()


def test_steps_are_limited(tmp_path: Path) -> None:
    looking = [tool_call_step(("list_directory", {"path": "."})) for _ in range(9)]
    model = MultiAgentModel(boss=list(looking))

    async def work() -> None:
        async with open_runtime(tmp_path, app=App((make_named_agent("boss", max_steps=3),)), model=model) as (
            runtime,
            _,
        ):
            assert (await send_prompt(await runtime.start(), "go")).last_end.ending is Ending.STEPS

    run_async(work)
    assert len(model.requests) == 3


def test_an_agent_hears_only_of_those_that_it_may_start(tmp_path: Path) -> None:
    agents = [make_named_agent("boss"), make_named_agent("reviewer"), make_named_agent("janitor")]
    app = App((replace(agents[0], subagents=("reviewer",)), replace(agents[1], subagents=()), agents[2]))
    model = MultiAgentModel(
        boss=[SPAWN, tool_call_step(("agent", {"agent": "janitor", "prompt": "sweep"})), "fine"], reviewer=["good"]
    )

    async def work() -> None:
        async with open_runtime(tmp_path, app=app, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert (
                seen.of_type(ToolCallFinished)[-1].result.error
                == "there is no agent 'janitor'; there are reviewer (does reviewer)"
            )

    run_async(work)
    offered = {tool.name: tool.description for tool in model.requests_to("boss")[0].tools}
    assert offered["agent"].endswith("Agents: reviewer (does reviewer)")
    assert offered["agents"].endswith("Agents: reviewer (does reviewer)")
    assert {tool.name for tool in model.requests_to("reviewer")[0].tools}.isdisjoint(("agent", "agents"))
