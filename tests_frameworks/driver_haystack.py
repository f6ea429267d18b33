"""Runs a trial with Haystack."""

from __future__ import annotations

import asyncio
from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Toolset, create_tool_from_function
from trial import Trial

from hookline.frameworks.haystack import hookline_hooks

PAUSES = False
AGENT = ""  # its agents have no name


@component
class TrialGenerator:
    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    def to_dict(self) -> dict[str, Any]:
        return {}

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **kwargs: Any) -> dict[str, Any]:
        texts = [each.text or "".join(str(r.result) for r in each.tool_call_results) for each in messages]
        step = self.trial.next_step("\n".join(texts))
        if isinstance(step, str):
            return {"replies": [ChatMessage.from_assistant(step)]}
        calls = [ToolCall("bash", {"command": c}, id=self.trial.call_id(i)) for i, c in enumerate(step)]
        return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}


def make_agent(trial: Trial) -> tuple[Agent, Any]:
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    hooks = hookline_hooks(**trial.options)
    agent = Agent(chat_generator=TrialGenerator(trial), tools=[create_tool_from_function(bash)], hooks=hooks)
    return agent, hooks


def _finish(trial: Trial, hooks: Any, result: Any) -> None:
    trial.final = result["last_message"].text or ""
    trial.halted = result.get("exit_reason") or ""
    hooks["before_run"][0].close()


def run(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    _finish(trial, hooks, agent.run(messages=[ChatMessage.from_user(trial.prompt)]))


def run_async(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    _finish(trial, hooks, asyncio.run(agent.run_async(messages=[ChatMessage.from_user(trial.prompt)])))


def run_streaming(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    messages = [ChatMessage.from_user(trial.prompt)]
    _finish(trial, hooks, agent.run(messages=messages, streaming_callback=lambda chunk: None))


def run_subagent(trial: Trial) -> None:
    inner, hooks = make_agent(trial)

    def delegate(task: str) -> str:
        """Gives the task to another agent."""
        return inner.run(messages=[ChatMessage.from_user(task)])["last_message"].text or ""

    @component
    class Outer(TrialGenerator):  # type: ignore[misc]
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None, **kwargs: Any) -> dict[str, Any]:
            if any(each.tool_call_results for each in messages):
                return {"replies": [ChatMessage.from_assistant("outer")]}
            return {"replies": [ChatMessage.from_assistant(tool_calls=[ToolCall("delegate", {"task": "x"}, id="o1")])]}

    outer = Agent(chat_generator=Outer(trial), tools=[create_tool_from_function(delegate)], hooks=hooks)
    _finish(trial, hooks, outer.run(messages=[ChatMessage.from_user("Delegate it.")]))


def run_tools_of_the_run(trial: Trial) -> None:
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    hooks = hookline_hooks(**trial.options)
    agent = Agent(chat_generator=TrialGenerator(trial), hooks=hooks)
    messages, tools = [ChatMessage.from_user(trial.prompt)], Toolset([create_tool_from_function(bash)])
    _finish(trial, hooks, agent.run(messages=messages, tools=tools))


PATHS = {
    "sync": run,
    "async": run_async,
    "streaming": run_streaming,
    "sub-agent": run_subagent,
    "tools of the run": run_tools_of_the_run,
}
AGENT_PATHS = ("sync", "async", "streaming")
