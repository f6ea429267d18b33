"""What sub-agents tell: how deep they are, how often they go on, and who of several failed."""

from __future__ import annotations

from pathlib import Path

from hookline.runtime.app import App
from hookline.runtime.exchange import MOST_DENIED_STOPS
from hookline.runtime.happenings import Called, Decided
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.script import Step
from runtime.agents import Seen, calls, play, running, said
from runtime.cast import APP, SPAWN, Cast, cast_agent


def test_an_end_is_denied_so_often_and_no_more(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=[f"answer {n}" for n in range(20)])
    hooks = "hooks: [{id: more, on: subagent.end, then: {deny: all of it}}]"
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, hooks, app=APP, model=model, watch=seen) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "fine"

    play(work)
    assert len(model.sent_to("reviewer")) == MOST_DENIED_STOPS + 1
    ends = [each.decision.event.facts for each in seen.of(Decided) if each.decision.event.name == "subagent.end"]
    assert [each["tool"]["result"]["summary"] for each in ends] == [f"answer {n}" for n in range(MOST_DENIED_STOPS + 1)]
    assert [each["stop"]["active"] for each in ends] == [False] + [True] * MOST_DENIED_STOPS
    [told] = seen.of(Called)
    assert told.result.content["summary"] == f"answer {MOST_DENIED_STOPS}"


def test_hooks_know_how_deep_a_sub_agent_is(tmp_path: Path) -> None:
    app = App((cast_agent("boss"), cast_agent("reviewer"), cast_agent("reader")))
    read = calls(("agent", {"agent": "reader", "prompt": "read it"}))
    model = Cast(boss=[SPAWN, "fine"], reviewer=[read, "reviewed"], reader=["read"])
    hooks = "hooks: [{id: see, on: subagent.start, then: {log: seen}}]"
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, hooks, app=app, model=model, watch=seen) as (runtime, _):
            await (await runtime.start()).ask("go")

    play(work)
    told = [each.decision.event.facts["subagent"] for each in seen.of(Decided)]
    assert [(each["agent"]["id"], each["depth"]) for each in told] == [("reviewer", 1), ("reader", 2)]


def test_of_several_the_answers_count_though_one_failed(tmp_path: Path) -> None:
    tasks = [{"agent": who, "prompt": "look"} for who in ("reviewer", "reader")]
    app = App((cast_agent("boss"), cast_agent("reviewer"), cast_agent("reader")))
    model = Cast(
        boss=[calls(("agents", {"tasks": tasks})), "fine"],
        reviewer=["it is good"],
        reader=[Step(error=ErrorCode.AUTH, message="no key")],
    )

    async def work() -> None:
        async with running(tmp_path, app=app, model=model) as (runtime, _):
            [told] = (await said(await runtime.start(), "go")).of(Called)
            assert told.result.ok
            fine, failed = told.result.content
            assert fine["summary"] == "it is good"
            assert (failed["error"], failed["specialist"], failed["status"]) == ("script: no key", "reader", "failed")

    play(work)
