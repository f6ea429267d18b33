"""Agents that an agent starts, and two AIs that talk to each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hookline.patterns.pattern import pattern
from hookline.runtime.app import Agent, App, Prompt, Side
from hookline.runtime.happenings import Called, Calling, Decided, Ending, Spawned, Spoke
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.script import Heard, Step
from hookline.runtime.subagents import DEEPEST
from runtime.agents import Seen, calls, play, running, said
from runtime.cast import APP, SPAWN, Cast, cast_agent, heard_by, two

ALL = "hooks:\n" + "".join(
    f"  - {{id: see-{n}, on: {n}, then: {{log: seen}}}}\n"
    for n in ("thread.created", "subagent.created", "subagent.start", "subagent.end", "stop", "turn.end")
)


def test_a_sub_agent_has_a_thread_of_its_own_and_its_answer_comes_back(tmp_path: Path) -> None:
    seen = Seen()
    model = Cast(boss=[SPAWN, "fine"], reviewer=["it is good"])

    async def work() -> None:
        async with running(tmp_path, ALL, app=APP, model=model, watch=seen) as (runtime, _):
            session = await runtime.start()
            assert await session.ask("review") == "fine"
            threads = await runtime.store.threads(session.id)
            assert [(row.agent, row.depth, row.parent) for row in threads] == [
                ("boss", 0, None),
                ("reviewer", 1, session.id),
            ]

    play(work)
    assert seen.events == [
        "thread.created", "thread.created", "subagent.created", "subagent.start", "turn.end", "subagent.end",
        "turn.end", "turn.end", "stop",
    ]  # fmt: skip
    assert [each.decision.event.facts["agent"]["id"] for each in seen.of(Decided)][:5] == [
        "boss", "reviewer", "boss", "boss", "reviewer",
    ]  # fmt: skip
    spawned = seen.of(Spawned)[0]
    start, end = seen.facts("subagent.start"), seen.facts("subagent.end")
    assert start["tool"]["input"] == {"agent_id": spawned.child, "specialist": "reviewer", "task": "look at it"}
    assert end["tool"]["result"] == {
        "agent_id": spawned.child, "specialist": "reviewer", "task": "look at it",
        "status": "completed", "errors": [], "summary": "it is good",
    }  # fmt: skip
    assert ("user", "look at it") in heard_by(model, "reviewer", 0)


def test_a_denied_sub_agent_never_runs(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "alone then"], reviewer=["no"])
    hooks = "hooks: [{id: no, on: subagent.start, then: {deny: nobody else}}]"

    async def work() -> None:
        async with running(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            seen = await said(await runtime.start(), "go")
            assert seen.of(Called)[0].result.error == "nobody else"

    play(work)
    assert model.sent_to("reviewer") == []


def test_a_denied_end_makes_it_go_on(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=["half", "whole"])
    hooks = "hooks: [{id: more, on: subagent.end, when: {not: {fact: {tool.result.summary: whole}}}, then: {deny: all of it}}]"

    async def work() -> None:
        async with running(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            await (await runtime.start()).ask("go")

    play(work)
    assert heard_by(model, "reviewer", 1)[-1] == ("user", "all of it")


def test_a_failed_one_is_told_with_all_its_keys(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "well"], reviewer=[Step(error=ErrorCode.AUTH, message="no key")])
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, ALL, app=APP, model=model, watch=seen) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "well"

    play(work)
    result = seen.facts("subagent.end")["tool"]["result"]
    assert sorted(result) == ["agent_id", "errors", "specialist", "status", "summary", "task"]
    assert (result["status"], result["errors"], result["summary"]) == ("failed", ["script: no key"], "")


def test_several_at_once(tmp_path: Path) -> None:
    tasks = [{"agent": "reviewer", "prompt": f"part {n}"} for n in range(4)]
    model = Cast(boss=[calls(("agents", {"tasks": tasks})), "fine"], reviewer=["looked"])

    async def work() -> None:
        async with running(tmp_path, app=APP, model=model) as (runtime, _):
            session = await runtime.start()
            seen = await said(session, "go")
            assert [each["summary"] for each in seen.of(Called)[0].result.content] == ["looked"] * 4

    play(work)
    assert sorted(heard_by(model, "reviewer", n)[-1][1] for n in range(4)) == [f"part {n}" for n in range(4)]


def test_agents_start_agents_only_so_deep(tmp_path: Path) -> None:
    spawn = (("agent", {"agent": "boss", "prompt": "again"}),)
    model = Cast(boss=[Step(calls=spawn, when=Heard(last=pattern("^(go|again)$"))), "enough"])
    boss = replace(cast_agent("boss"), subagents=("boss",))

    async def work() -> None:
        async with running(tmp_path, app=App((boss, cast_agent("reviewer"))), model=model) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            threads = await runtime.store.threads(session.id)
            assert max(row.depth for row in threads) == DEEPEST

    play(work)


def test_an_agent_starts_itself_only_if_it_is_listed(tmp_path: Path) -> None:
    model = Cast(boss=[calls(("agent", {"agent": "boss", "prompt": "again"})), "alone"])

    async def work() -> None:
        async with running(tmp_path, app=APP, model=model) as (runtime, _):
            seen = await said(await runtime.start(), "go")
            assert "there is no agent 'boss'" in seen.of(Called)[0].result.error

    play(work)


def test_hooks_of_one_agent_do_not_see_the_other(tmp_path: Path) -> None:
    touch = calls(("bash", {"command": "touch made"}))
    model = Cast(boss=[touch, SPAWN, "fine"], reviewer=[calls(("bash", {"command": "touch by-reviewer"})), "done"])
    hooks = "hooks: [{id: no, on: tool.before, scope: {agent: reviewer}, when: {tool: bash}, then: {deny: not you}}]"

    async def work() -> None:
        async with running(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            await (await runtime.start()).ask("go")

    play(work)
    assert (tmp_path / "made").exists()
    assert not (tmp_path / "by-reviewer").exists()


def test_two_ais_take_turns_and_each_is_the_others_user(tmp_path: Path) -> None:
    model = Cast(buyer=["ten?", "twelve?"], seller=["fifteen", "deal"])
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, ALL, app=two(max_session_turns=4), model=model, watch=seen) as (runtime, _):
            session = await runtime.start()
            ended = (await said(session, "trade")).ended
            assert (ended.ending, ended.text) == (Ending.STEPS, "deal")

    play(work)
    assert heard_by(model, "seller", 0) == [("user", "trade"), ("user", "ten?")]
    assert heard_by(model, "buyer", 1) == [("user", "trade"), ("assistant", "ten?"), ("user", "fifteen")]
    sides = [
        e.decision.event.facts["execution"]["side"] for e in seen.of(Decided) if e.decision.event.name == "turn.end"
    ]
    assert sides == ["a", "b", "a", "b"]


def test_one_of_two_ais_that_ends_its_turn_without_a_word_lets_the_other_go_on(tmp_path: Path) -> None:
    model = Cast(buyer=["ten?", "twelve?"], seller=[calls(("bash", {"command": "true"}))])
    app = two(b={"stop_tool": "bash"}, max_session_turns=3)

    async def work() -> None:
        async with running(tmp_path, app=app, model=model) as (runtime, _):
            await said(await runtime.start(), "trade")

    play(work)
    assert heard_by(model, "buyer", 1) == [("user", "trade"), ("assistant", "ten?"), ("user", "Please continue.")]


@pytest.mark.parametrize(("labels", "names"), [(("Ann", "Bob"), ["Ann", "Bob"]), (("", ""), ["a", "b"])])
def test_whoever_watches_two_ais_is_told_which_one_it_is(
    tmp_path: Path, labels: tuple[str, str], names: list[str]
) -> None:
    look = calls(("bash", {"command": "true"}), say="look")
    model = Cast(buyer=[look, "ten?"], seller=["deal"])
    app = two(a={"label": labels[0]}, b={"label": labels[1]}, max_session_turns=2)

    async def work() -> None:
        async with running(tmp_path, app=app, model=model) as (runtime, _):
            seen = await said(await runtime.start(), "trade")
            assert list(dict.fromkeys((each.speaker, each.text) for each in seen.of(Spoke))) == [
                (names[0], "look"),
                (names[0], "ten?"),
                (names[1], "deal"),
            ]
            assert [each.speaker for each in (*seen.of(Calling), *seen.of(Called))] == [names[0]] * 2

    play(work)


def test_one_who_speaks_alone_needs_no_name(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path, "", ["hi"]) as (runtime, _):
            assert {each.speaker for each in (await said(await runtime.start(), "go")).happenings} == {""}

    play(work)


@pytest.mark.parametrize("works", [True, False])
def test_a_tool_ends_the_session_only_if_it_succeeded(tmp_path: Path, works: bool) -> None:
    command = "true" if works else "false"
    model = Cast(buyer=[calls(("bash", {"command": command})), "bye"], seller=["hm"])
    app = two(a={"session_stop": "bash"}, max_session_turns=1)

    async def work() -> None:
        async with running(tmp_path, app=app, model=model) as (runtime, _):
            ended = (await said(await runtime.start(), "trade")).ended
            assert ended.ending is (Ending.SESSION_STOP if works else Ending.STEPS)

    play(work)


def test_an_agent_with_a_list_of_tools_may_still_start_its_agents(tmp_path: Path) -> None:
    boss = Agent("boss", Side(Prompt("p", "You are the boss.", tools=("read_file",))), subagents=("reviewer",))
    model = Cast(boss=[SPAWN, calls(("bash", {"command": "touch made"})), "fine"], reviewer=["good"])

    async def work() -> None:
        async with running(tmp_path, app=App((boss, cast_agent("reviewer"))), model=model) as (runtime, _):
            seen = await said(await runtime.start(), "go")
            assert [each.ran for each in seen.of(Called)] == [True, False]

    play(work)
    assert [each.name for each in model.sent_to("boss")[0].tools] == ["read_file", "agent", "agents"]
    assert not (tmp_path / "made").exists()


def test_steps_are_limited(tmp_path: Path) -> None:
    looking = [calls(("list_directory", {"path": "."})) for _ in range(9)]
    model = Cast(boss=list(looking))

    async def work() -> None:
        async with running(tmp_path, app=App((cast_agent("boss", max_steps=3),)), model=model) as (runtime, _):
            assert (await said(await runtime.start(), "go")).ended.ending is Ending.STEPS

    play(work)
    assert len(model.requests) == 3


def test_an_agent_hears_only_of_those_that_it_may_start(tmp_path: Path) -> None:
    agents = [cast_agent("boss"), cast_agent("reviewer"), cast_agent("janitor")]
    app = App((replace(agents[0], subagents=("reviewer",)), replace(agents[1], subagents=()), agents[2]))
    model = Cast(boss=[SPAWN, calls(("agent", {"agent": "janitor", "prompt": "sweep"})), "fine"], reviewer=["good"])

    async def work() -> None:
        async with running(tmp_path, app=app, model=model) as (runtime, _):
            seen = await said(await runtime.start(), "go")
            assert seen.of(Called)[-1].result.error == "there is no agent 'janitor'; there are reviewer (does reviewer)"

    play(work)
    offered = {tool.name: tool.description for tool in model.sent_to("boss")[0].tools}
    assert offered["agent"].endswith("Agents: reviewer (does reviewer)")
    assert offered["agents"].endswith("Agents: reviewer (does reviewer)")
    assert {tool.name for tool in model.sent_to("reviewer")[0].tools}.isdisjoint(("agent", "agents"))
