"""Runs a trial with the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from agents import Agent, ModelSettings, RunConfig, Runner, RunState, function_tool, handoff
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.testing import ScriptedModel, assistant_message, function_call
from trial import Trial

from hookline.frameworks.openai_agents import HooklineHooks, RunStopped

PAUSES = True
ASKS_AGAIN = False


class TrialModel(Model):
    """Says what the trial says, through the SDK's own scripted model."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    def _scripted(self, system: Any, input: Any) -> ScriptedModel:
        items = [{"content": input}] if isinstance(input, str) else input
        texts = [_text(each.get("content", each.get("output", ""))) for each in items]
        step = self.trial.next_step("\n".join([system or "", *texts]))
        if isinstance(step, str):
            return ScriptedModel([[assistant_message(step)]])
        return ScriptedModel(
            [[function_call("bash", {"command": c}, call_id=self.trial.call_id(i)) for i, c in enumerate(step)]]
        )

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        return await self._scripted(system_instructions, input).get_response(
            system_instructions, input, *args, **kwargs
        )

    async def stream_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        async for event in self._scripted(system_instructions, input).stream_response(
            system_instructions, input, *args, **kwargs
        ):
            yield event


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def make_agent(trial: Trial) -> tuple[Any, HooklineHooks]:
    @function_tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    hooks = HooklineHooks(**trial.options)
    agent = Agent("main", model=TrialModel(trial), tools=[bash])
    return hooks.install(agent), hooks


def run(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        result = await Runner.run(agent, trial.prompt)
        while result.interruptions:
            state = result.to_state()
            for item in result.interruptions:
                question = hooks.question(item)
                assert question is not None
                trial.asked.append(question.reason)
                if trial.approves:
                    state.approve(item)
                else:
                    state.reject(item, rejection_message=question.reason)
            result = await Runner.run(agent, state)
        trial.final = str(result.final_output)

    try:
        asyncio.run(go())
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_sync(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    try:
        trial.final = str(Runner.run_sync(agent, trial.prompt).final_output)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_streamed(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        result = Runner.run_streamed(agent, trial.prompt)
        async for _ in result.stream_events():
            pass
        trial.final = str(result.final_output)

    try:
        asyncio.run(go())
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_as_tool(trial: Trial) -> None:
    """Only the outer agent is installed; the inner one is reached through its tool."""

    @function_tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    inner = Agent("inner", model=TrialModel(trial), tools=[bash])
    delegate = inner.as_tool("delegate", "Gives the task to another agent.")
    script = ScriptedModel(
        [[function_call("delegate", {"input": "Do it."}, call_id="o1")], [assistant_message("delegated")]]
    )
    outer = Agent("outer", model=script, tools=[delegate])
    hooks = HooklineHooks(**trial.options)
    hooks.install(outer)
    try:
        trial.final = str(Runner.run_sync(outer, trial.prompt).final_output)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_handoff(trial: Trial) -> None:
    @function_tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    inner = Agent("inner", model=TrialModel(trial), tools=[bash])
    script = ScriptedModel([[function_call("transfer_to_inner", {}, call_id="o1")]])
    outer = Agent("outer", model=script, handoffs=[inner])
    hooks = HooklineHooks(**trial.options)
    hooks.install(outer)
    try:
        trial.final = str(Runner.run_sync(outer, trial.prompt).final_output)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_late_handoff(trial: Trial) -> None:
    """An agent that is added after the hooks."""
    inner, hooks = make_unguarded_agent(trial), HooklineHooks(**trial.options)
    outer = hooks.install(Agent("outer", model=_transferring_model()))
    outer.handoffs.append(inner)
    _run(trial, outer, hooks)


def run_clone_with_handoffs(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    outer = hooks.install(Agent("outer", model=_transferring_model()))
    _run(trial, outer.clone(handoffs=[handoff(make_unguarded_agent(trial))]), hooks)


def run_own_tools(trial: Trial) -> None:
    """A class of agents that makes tools when it runs, as a sandbox does."""
    tools = make_unguarded_agent(trial).tools

    class Sandbox(Agent[Any]):
        async def get_all_tools(self, run_context: Any) -> Any:
            return [*await super().get_all_tools(run_context), *tools]

    hooks = HooklineHooks(**trial.options)
    _run(trial, hooks.install(Sandbox("main", model=TrialModel(trial))), hooks)


def make_unguarded_agent(trial: Trial) -> Agent[Any]:
    @function_tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    return Agent("inner", model=TrialModel(trial), tools=[bash])


def _transferring_model() -> ScriptedModel:
    return ScriptedModel([[function_call("transfer_to_inner", {}, call_id="o1")]])


def _run(trial: Trial, agent: Agent[Any], hooks: HooklineHooks) -> None:
    try:
        trial.final = str(Runner.run_sync(agent, trial.prompt).final_output)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_late_tool(trial: Trial) -> None:
    """A tool that is added after the hooks."""
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(Agent("main", model=TrialModel(trial)))

    @function_tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    agent.tools.append(bash)
    try:
        trial.final = str(Runner.run_sync(agent, trial.prompt).final_output)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_other_model(trial: Trial) -> None:
    """The model comes from the RunConfig, so hooks see tools only."""
    agent, hooks = make_agent(trial)
    try:
        config = RunConfig(model=TrialModel(trial), model_settings=ModelSettings())
        trial.final = str(Runner.run_sync(agent, trial.prompt, run_config=config).final_output)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    hooks.close()


def run_restored(trial: Trial) -> None:
    """A person approves each call in the SDK's own way, and another process goes on with the run."""
    model = TrialModel(trial)

    def new_agent() -> tuple[Agent[Any], HooklineHooks]:
        @function_tool(needs_approval=True)
        def bash(command: str, mode: str = "own") -> str:
            """Runs a command."""
            return trial.bash(command, mode)

        hooks = HooklineHooks(**trial.options)
        return hooks.install(Agent("main", model=model, tools=[bash])), hooks

    async def go() -> None:
        agent, hooks = new_agent()
        result = await Runner.run(agent, trial.prompt)
        while result.interruptions:
            saved = result.to_state().to_json()
            hooks.close()
            agent, hooks = new_agent()
            state = await RunState.from_json(agent, saved)
            for item in state.get_interruptions():
                state.approve(item)
            result = await Runner.run(agent, state)
        trial.final = str(result.final_output)
        hooks.close()

    try:
        asyncio.run(go())
    except RunStopped as stopped:
        trial.halted = str(stopped)


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    agent, hooks = make_agent(trial)
    saved = place / "state.json"

    async def go() -> Any:
        if answers is None:
            return await Runner.run(agent, trial.prompt)
        state = await RunState.from_json(agent, json.loads(saved.read_text()))
        for item in state.get_interruptions():
            (state.approve if answers[item.call_id] else state.reject)(item)
        return await Runner.run(agent, state)

    result = asyncio.run(go())
    asked = {item.call_id: hooks.question(item).input["command"] for item in result.interruptions}
    if asked:
        saved.write_text(json.dumps(result.to_state().to_json()))
    hooks.close()
    return asked


PATHS = {
    "async": run,
    "sync": run_sync,
    "streamed": run_streamed,
    "as_tool": run_as_tool,
    "handoff": run_handoff,
    "late handoff": run_late_handoff,
    "clone with handoffs": run_clone_with_handoffs,
    "tools of a sandbox": run_own_tools,
    "late tool": run_late_tool,
    "model of the run": run_other_model,
    "restored state": run_restored,
}
AGENT_PATHS = ("async", "sync", "streamed")
