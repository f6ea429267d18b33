"""Runs a trial with Strands Agents."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from strands import Agent, tool
from strands.models import Model
from strands.multiagent import GraphBuilder
from strands.session.file_session_manager import FileSessionManager
from strands.tools.executors import SequentialToolExecutor
from trial import Trial

from hookline.frameworks.strands import HooklineHandler

PAUSES = True


class TrialModel(Model):
    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    async def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError
        yield

    async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any) -> Any:
        step = self.trial.next_step(json.dumps([system_prompt, messages], ensure_ascii=False))
        yield {"messageStart": {"role": "assistant"}}
        blocks = [("text", step)] if isinstance(step, str) else [("tool", command) for command in step]
        for i, (kind, text) in enumerate(blocks):
            use = {"toolUse": {"toolUseId": self.trial.call_id(i), "name": "bash"}} if kind == "tool" else {}
            delta = {"toolUse": {"input": json.dumps({"command": text})}} if kind == "tool" else {"text": text}
            yield {"contentBlockStart": {"start": use}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(step, str) else "tool_use"}}


def make_tool(trial: Trial) -> Any:
    @tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    return bash


def make_agent(trial: Trial, **more: Any) -> tuple[Agent, HooklineHandler]:
    hooks = HooklineHandler(**trial.options)
    agent = Agent(
        model=TrialModel(trial),
        tools=[make_tool(trial)],
        interventions=[hooks],
        callback_handler=None,
        name="main",
        **more,
    )
    return agent, hooks


def run(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    result = agent(trial.prompt)
    while result.stop_reason == "interrupt":
        answers = []
        for each in result.interrupts:
            trial.asked.append(each.reason["reason"])
            response = "yes" if trial.approves else "no"
            answers.append({"interruptResponse": {"interruptId": each.id, "response": response}})
        result = agent(answers)
    trial.final = str(result).strip()
    hooks.close()


def run_async(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    trial.final = str(asyncio.run(agent.invoke_async(trial.prompt))).strip()
    hooks.close()


def run_stream(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        async for event in agent.stream_async(trial.prompt):
            if "result" in event:
                trial.final = str(event["result"]).strip()

    asyncio.run(go())
    hooks.close()


def run_subagent(trial: Trial) -> None:
    inner, hooks = make_agent(trial)

    @tool
    def delegate(task: str) -> str:
        """Gives the task to another agent."""
        return str(inner(task))

    class Outer(TrialModel):
        async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any) -> Any:
            done = any("toolResult" in block for block in messages[-1]["content"])
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {} if done else {"toolUse": {"toolUseId": "o1", "name": "delegate"}}}}
            call = {"toolUse": {"input": json.dumps({"task": trial.prompt})}}
            yield {"contentBlockDelta": {"delta": {"text": "outer"} if done else call}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if done else "tool_use"}}

    outer = Agent(model=Outer(trial), tools=[delegate], interventions=[hooks], callback_handler=None, name="outer")
    trial.final = str(outer("Delegate it."))
    hooks.close()


def run_direct(trial: Trial) -> None:
    """The program calls the tool itself."""
    agent, hooks = make_agent(trial)
    trial.requests.append("")
    for commands in trial.steps:
        for command in commands:
            agent.tool.bash(command=command)
    hooks.close()


def run_late_tool(trial: Trial) -> None:
    hooks = HooklineHandler(**trial.options)
    agent = Agent(model=TrialModel(trial), interventions=[hooks], callback_handler=None, name="main")
    agent.tool_registry.process_tools([make_tool(trial)])
    trial.final = str(agent(trial.prompt)).strip()
    hooks.close()


def run_sequentially(trial: Trial) -> None:
    agent, hooks = make_agent(trial, tool_executor=SequentialToolExecutor())
    trial.final = str(agent(trial.prompt)).strip()
    hooks.close()


def run_background(trial: Trial) -> None:
    agent, hooks = make_agent(trial, background_tasks={"always": ["bash"]})
    trial.final = str(agent(trial.prompt)).strip()
    hooks.close()


def run_graph(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    graph = GraphBuilder()
    graph.add_node(agent, "main")
    graph.build()(trial.prompt)
    hooks.close()


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    agent, hooks = make_agent(trial, session_manager=FileSessionManager("s", storage_dir=str(place)))
    given: Any = trial.prompt
    if answers is not None:
        said = {id: "yes" if approved else "no" for id, approved in answers.items()}
        given = [{"interruptResponse": {"interruptId": id, "response": each}} for id, each in said.items()]
    result = agent(given)
    hooks.close()
    return {each.id: each.reason["input"]["command"] for each in result.interrupts or ()}


PATHS = {
    "sync": run,
    "async": run_async,
    "stream": run_stream,
    "sub-agent": run_subagent,
    "direct": run_direct,
    "late tool": run_late_tool,
    "one after the other": run_sequentially,
    "background": run_background,
    "graph": run_graph,
}
AGENT_PATHS = ("sync", "async", "stream")
