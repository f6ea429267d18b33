"""What sub-agents tell: how deep they are, how often they go on, and who of several failed."""

from __future__ import annotations

from pathlib import Path

from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.runtime.apps.app import App
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.updates import DecisionMade, ToolCallFinished
from runtime.multi_agent_apps import APP, SPAWN, MultiAgentModel, make_named_agent
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step


def test_an_end_is_denied_so_often_and_no_more(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[f"answer {n}" for n in range(20)])
    hooks = "hooks: [{id: more, on: subagent.end, then: {deny: all of it}}]"
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=APP, model=model, watch=seen) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "fine"

    run_async(work)
    assert len(model.requests_to("reviewer")) == MAX_DENIED_STOPS + 1
    ends = [
        each.decision.event.facts for each in seen.of_type(DecisionMade) if each.decision.event.name == "subagent.end"
    ]
    assert [each["tool"]["result"]["summary"] for each in ends] == [f"answer {n}" for n in range(MAX_DENIED_STOPS + 1)]
    assert [each["stop"]["active"] for each in ends] == [False] + [True] * MAX_DENIED_STOPS
    [told] = seen.of_type(ToolCallFinished)
    assert told.result.content["summary"] == f"answer {MAX_DENIED_STOPS}"


def test_hooks_know_how_deep_a_sub_agent_is(tmp_path: Path) -> None:
    app = App((make_named_agent("boss"), make_named_agent("reviewer"), make_named_agent("reader")))
    read = tool_call_step(("agent", {"agent": "reader", "prompt": "read it"}))
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[read, "reviewed"], reader=["read"])
    hooks = "hooks: [{id: see, on: subagent.start, then: {log: seen}}]"
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=app, model=model, watch=seen) as (runtime, _):
            await (await runtime.start()).ask("go")

    run_async(work)
    told = [each.decision.event.facts["subagent"] for each in seen.of_type(DecisionMade)]
    assert [(each["agent"]["id"], each["depth"]) for each in told] == [("reviewer", 1), ("reader", 2)]


def test_of_several_the_answers_count_though_one_failed(tmp_path: Path) -> None:
    tasks = [{"agent": who, "prompt": "look"} for who in ("reviewer", "reader")]
    app = App((make_named_agent("boss"), make_named_agent("reviewer"), make_named_agent("reader")))
    model = MultiAgentModel(
        boss=[tool_call_step(("agents", {"tasks": tasks})), "fine"],
        reviewer=["it is good"],
        reader=[ScriptStep(error=ErrorCode.AUTH, message="no key")],
    )

    async def work() -> None:
        async with open_runtime(tmp_path, app=app, model=model) as (runtime, _):
            [told] = (await send_prompt(await runtime.start(), "go")).of_type(ToolCallFinished)
            assert told.result.ok
            fine, failed = told.result.content
            assert fine["summary"] == "it is good"
            assert (failed["error"], failed["specialist"], failed["status"]) == ("script: no key", "reader", "failed")

    run_async(work)
