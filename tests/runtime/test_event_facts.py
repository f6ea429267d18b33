"""What events tell about how far an agent has come."""

from __future__ import annotations

from pathlib import Path

from hookline.runtime.apps.app import MAX_STEPS, App
from hookline.runtime.models.scripted import ScriptedModel
from hookline.runtime.updates import Ending, Notification, ToolCallFinished
from runtime.multi_agent_apps import SPAWN, MultiAgentModel, make_named_agent, two_sided_app
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

COUNT = "hooks: [{id: n, on: turn.end, then: {notify: '{{agent.id}} {{turn.number}}/{{turn.max}}'}}]"
LOOK = tool_call_step(("list_directory", {"path": "."}))


def _counted(tmp_path: Path, app: App, model: ScriptedModel, *prompts: str, on: str = "turn.end") -> list[str]:
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, COUNT.replace("turn.end", on), app=app, model=model, watch=seen) as (
            runtime,
            _,
        ):
            session = await runtime.start()
            for prompt in prompts:
                await send_prompt(session, prompt)

    run_async(work)
    return [each.notice.message for each in seen.of_type(Notification)]


def test_a_turn_and_the_last_one_that_may_come_are_counted_alike(tmp_path: Path) -> None:
    app = App((make_named_agent("boss", max_steps=3),))
    model = MultiAgentModel(boss=[LOOK, "one", LOOK, "two"])
    assert _counted(tmp_path, app, model, "go", "more") == ["boss 0/3", "boss 1/3", "boss 2/5", "boss 3/5"]


def test_a_new_prompt_has_all_its_turns_before_it(tmp_path: Path) -> None:
    app = App((make_named_agent("boss", max_steps=3),))
    model = MultiAgentModel(boss=[LOOK, "one", "two"])
    assert _counted(tmp_path, app, model, "go", "more", on="prompt.submit") == ["boss 0/3", "boss 1/4"]


def test_each_agent_counts_its_own_turns(tmp_path: Path) -> None:
    app = App((make_named_agent("boss", max_steps=2), make_named_agent("reviewer", max_steps=4)))
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=[LOOK, LOOK, "good"])
    assert _counted(tmp_path, app, model, "go") == [
        "reviewer 0/4", "reviewer 1/4", "reviewer 2/4", "boss 0/2", "boss 1/2",
    ]  # fmt: skip


def test_without_a_limit_of_its_own_an_agent_has_that_of_every_exchange(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=["one", "two"])
    counted = _counted(tmp_path, App((make_named_agent("boss"),)), model, "go", "more")
    assert counted == [f"boss 0/{MAX_STEPS}", f"boss 1/{MAX_STEPS + 1}"]


def test_each_of_two_sides_has_its_own_last_turn(tmp_path: Path) -> None:
    model = MultiAgentModel(buyer=[LOOK, "ten?", "twelve?"], seller=["deal"])
    counted = _counted(tmp_path, two_sided_app(a={"max_steps": 2}, max_session_turns=3), model, "trade")
    assert counted == ["market 0/2", "market 1/2", f"market 2/{MAX_STEPS}", "market 3/5"]


def test_a_sub_agent_that_has_to_go_on_has_no_more_steps_for_that(tmp_path: Path) -> None:
    app = App((make_named_agent("boss"), make_named_agent("reviewer", max_steps=2)))
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=["half", "whole", "too much"])
    hooks = "hooks: [{id: more, on: subagent.end, then: {deny: all of it}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=app, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert seen.last_end.ending is Ending.ANSWERED
            result = seen.of_type(ToolCallFinished)[0].result
            assert result.error == "step limit reached: 2 steps"
            assert (result.content["status"], result.content["summary"]) == ("steps", "whole")

    run_async(work)
    assert len(model.requests_to("reviewer")) == 2
