"""What only Strands Agents has: hooks and middleware that run after interventions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from driver_strands import TrialModel, make_agent, make_tool
from pydantic import BaseModel
from strands import Agent, ToolContext, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.middleware import ExecuteToolStage
from strands.tools.executors import ConcurrentToolExecutor, SequentialToolExecutor
from trial import Trial, record

from hookline.errors import HooklineError
from hookline.frameworks.strands import HooklineHandler

LATE = 95  # after interventions


def in_event(agent: Any, command: str) -> None:
    def rewrite(event: BeforeToolCallEvent) -> None:
        event.tool_use = {**event.tool_use, "input": {"command": command}}

    agent.hooks.add_callback(BeforeToolCallEvent, rewrite, order=LATE)


def in_place(agent: Any, command: str) -> None:
    def rewrite(event: BeforeToolCallEvent) -> None:
        event.tool_use["input"]["command"] = command

    agent.hooks.add_callback(BeforeToolCallEvent, rewrite, order=LATE)


def in_input(agent: Any, command: str) -> None:
    def rewrite(context: Any) -> Any:
        return context.replace(tool_use={**context.tool_use, "input": {"command": command}})

    agent.add_middleware(ExecuteToolStage.Input, rewrite)


def in_wrapper(agent: Any, command: str) -> None:
    async def rewrite(context: Any, next_fn: Any) -> Any:
        changed = context.replace(tool_use={**context.tool_use, "input": {"command": command}})
        async for event in next_fn(changed):
            yield event

    agent.add_middleware(ExecuteToolStage, rewrite)


def to_end(agent: Any) -> None:
    agent("Go.")


def streamed(agent: Any) -> None:
    async def go() -> None:
        async for _ in agent.stream_async("Go."):
            pass

    asyncio.run(go())


RUNS = pytest.mark.parametrize("run", [to_end, streamed])
REWRITES = pytest.mark.parametrize("rewrite", [in_event, in_place, in_input, in_wrapper])


@RUNS
@REWRITES
@pytest.mark.parametrize("command", ["echo a", "echo plain"])
def test_a_call_that_later_code_changes_is_decided_again(run: Any, rewrite: Any, command: str) -> None:
    trial = Trial([[command]])
    agent, hooks = make_agent(trial)
    rewrite(agent, "rm x")
    run(agent)
    hooks.close()
    assert trial.ran == []
    assert "Not rm. (hook no-rm, " in trial.read_last
    assert [each["verdict"] for each in record() if each["event"] == "tool.before"] == ["silent", "deny"]
    assert not any(each["event"] == "tool.after" for each in record())


@RUNS
@REWRITES
def test_hooks_change_what_later_code_wants(run: Any, rewrite: Any) -> None:
    trial = Trial([["echo a", "echo b"]])
    agent, hooks = make_agent(trial)
    rewrite(agent, "echo plain")
    run(agent)
    hooks.close()
    assert trial.ran == ["echo altered", "echo altered"]
    assert trial.read_last.count("ran echo altered ***") == 2
    after = [each["input"]["command"] for each in record() if each["event"] == "tool.after"]
    assert after == ["echo altered", "echo altered"]


@REWRITES
def test_an_ask_about_a_changed_call_is_a_no(rewrite: Any) -> None:
    trial = Trial([["echo a"]])
    agent, hooks = make_agent(trial)
    rewrite(agent, "git push")
    to_end(agent)
    hooks.close()
    assert trial.ran == []
    assert "This pushes." in trial.read_last


@pytest.mark.parametrize("order", [0, LATE])
def test_a_tool_that_is_put_in_place_of_another_is_decided_about(order: int, own_state: Any) -> None:
    trial = Trial([["echo a"]])

    @tool
    def erase(command: str) -> str:
        """Erases."""
        return trial.bash(command)

    file = own_state / "hookline.yaml"
    file.write_text("hooks: [{id: no, on: tool.before, when: {tool: erase}, then: {deny: Not erase.}}]")
    trial.options = {"config": file}
    agent, hooks = make_agent(trial)

    def select(event: BeforeToolCallEvent) -> None:
        event.selected_tool = erase

    agent.hooks.add_callback(BeforeToolCallEvent, select, order=order)
    to_end(agent)
    hooks.close()
    assert trial.ran == []
    assert "Not erase." in trial.read_last


def test_a_call_that_later_code_cancels_has_no_result() -> None:
    trial = Trial([["echo a"]])
    agent, hooks = make_agent(trial)

    def cancel(event: BeforeToolCallEvent) -> None:
        event.cancel_tool = "Not now."

    agent.hooks.add_callback(BeforeToolCallEvent, cancel, order=LATE)
    to_end(agent)
    hooks.close()
    assert trial.ran == []
    assert not any(each["event"] == "tool.after" for each in record())


def test_an_agent_without_hooks_inside_of_a_tool_stays_as_it_is() -> None:
    trial, inner = Trial([["echo a"]]), Trial([["rm y"]])
    agent, hooks = make_agent(trial)
    other = Agent(model=TrialModel(inner), tools=[make_tool(inner)], callback_handler=None)
    trial.bash = lambda command, mode: str(other("Go."))  # type: ignore[method-assign]
    to_end(agent)
    hooks.close()
    assert inner.ran == ["rm y"]


BACKGROUND = pytest.mark.parametrize("mode", ["always", "agentic"])


class Choosing(TrialModel):
    """Asks for the background, where the model may."""

    async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any) -> Any:
        offered = any("_background_execution" in str(spec) for spec in tool_specs or ())
        async for event in super().stream(messages, tool_specs, system_prompt, **kwargs):
            use = event.get("contentBlockDelta", {}).get("delta", {}).get("toolUse")
            if use and offered:
                use["input"] = json.dumps({**json.loads(use["input"]), "_background_execution": True})
            yield event


def in_background(trial: Trial, mode: str, **more: Any) -> Any:
    hooks = HooklineHandler(**trial.options)
    agent = Agent(
        model=Choosing(trial),
        tools=[make_tool(trial)],
        interventions=[hooks],
        callback_handler=None,
        background_tasks={mode: ["bash"]},
        **more,
    )
    return agent, hooks


@BACKGROUND
@pytest.mark.parametrize("command", ["rm x", "echo plain", "echo noted"])
def test_a_call_in_the_background_is_decided_once(mode: str, command: str) -> None:
    trial = Trial([[command]])
    agent, hooks = in_background(trial, mode)
    agent("Go.")
    hooks.close()
    assert trial.ran == {"rm x": [], "echo plain": ["echo altered"]}.get(command, [command])
    assert "s3cret" not in str(trial.requests) + str(agent.messages)
    assert [each["event"] for each in record()].count("tool.before") == 1
    assert ("***" in trial.read_last) is (command != "rm x")
    assert ("Background task dispatched." in str(agent.messages)) is (command != "rm x")


@BACKGROUND
def test_a_call_in_the_background_that_runs_again_is_masked(mode: str) -> None:
    trial = Trial([["echo a"]])
    agent, hooks = in_background(trial, mode)

    def again(event: AfterToolCallEvent) -> None:
        event.retry = len(trial.ran) == 1

    agent.hooks.add_callback(AfterToolCallEvent, again)
    agent("Go.")
    hooks.close()
    assert trial.ran == ["echo a", "echo a"]
    assert "s3cret" not in str(trial.requests) + str(agent.messages)
    assert "***" in trial.read_last


@tool(name="bash", context=True)
async def waiting(command: str, tool_context: ToolContext) -> Any:
    """Shows how far it is, and asks the program."""
    yield "half"
    yield tool_context.interrupt("own", reason="Sure?")


@pytest.mark.parametrize("executor", [ConcurrentToolExecutor, SequentialToolExecutor])
@pytest.mark.parametrize("at", ["tool_stream_event", "result"])
def test_a_prompt_while_a_tool_waits_is_none_of_a_sub_agent(executor: Any, at: str) -> None:
    trial, other = Trial([["echo a"]]), Trial([])
    hooks = HooklineHandler(**trial.options)
    options = {"interventions": [hooks], "callback_handler": None}
    agent = Agent(model=TrialModel(trial), tools=[waiting], tool_executor=executor(), **options)

    async def go() -> None:
        async for event in agent.stream_async("Go."):
            if at in event:
                await Agent(model=TrialModel(other), **options).invoke_async("My password is hunter2.")

    asyncio.run(go())
    hooks.close()
    assert other.requests == []
    assert not any(each["event"] == "subagent.start" for each in record())


class Answer(BaseModel):
    text: str


class Structuring(TrialModel):
    async def structured_output(self, output_model: Any, prompt: Any, *args: Any, **kwargs: Any) -> Any:
        self.trial.requests.append(str(prompt))
        yield {"output": output_model(text="x")}


@pytest.mark.filterwarnings("ignore:Agent.structured_output")
def test_a_request_that_hooks_cannot_see_is_refused() -> None:
    trial = Trial([])
    agent, hooks = make_agent(trial)
    agent.model = Structuring(trial)
    with pytest.raises(HooklineError, match="structured_output_model"):
        agent.structured_output(Answer, "My password is hunter2.")
    hooks.close()
    assert trial.requests == []
    assert Agent(model=Structuring(trial), callback_handler=None).structured_output(Answer, "Go.").text == "x"


@pytest.mark.parametrize("executor", [ConcurrentToolExecutor, SequentialToolExecutor])
def test_an_answer_is_for_one_call_of_several_with_the_same_id(executor: Any) -> None:
    trial = Trial([["git push a", "git push b"]], shares_ids=True)
    agent, hooks = make_agent(trial, tool_executor=executor())
    result = agent("Go.")
    while result.stop_reason == "interrupt":
        asked = {each.id: each.reason["input"]["command"] for each in result.interrupts}
        trial.asked += asked.values()
        answers = [
            {"interruptId": id, "response": "yes" if command == "git push a" else "no"} for id, command in asked.items()
        ]
        result = agent([{"interruptResponse": each} for each in answers])
    hooks.close()
    assert sorted(trial.asked) == ["git push a", "git push b"]
    assert trial.ran == ["git push a"]
