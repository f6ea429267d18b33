"""Runs a trial with pydantic-ai."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ExternalToolset,
    FunctionToolset,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.tools import ToolDefinition
from trial import Trial

from hookline.frameworks.pydantic_ai import HooklineCapability, RunStopped

PAUSES = True


def _request_text(messages: Any, info: Any) -> str:
    parts = [str(part.content) for message in messages for part in message.parts if hasattr(part, "content")]
    return "\n".join([info.instructions or "", *parts])


def make_model(trial: Trial) -> FunctionModel:
    def respond(messages: Any, info: Any) -> ModelResponse:
        step = trial.next_step(_request_text(messages, info))
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        calls = [ToolCallPart("bash", {"command": c}, tool_call_id=trial.call_id(i)) for i, c in enumerate(step)]
        return ModelResponse(parts=calls)

    async def stream(messages: Any, info: Any) -> Any:
        step = trial.next_step(_request_text(messages, info))
        if isinstance(step, str):
            yield step
            return
        for i, c in enumerate(step):
            yield {i: DeltaToolCall("bash", f'{{"command": "{c}"}}', tool_call_id=trial.call_id(i))}

    return FunctionModel(respond, stream_function=stream)


def make_agent(trial: Trial, **more: Any) -> tuple[Any, HooklineCapability]:
    hooks = HooklineCapability(**trial.options)
    agent: Any = Agent(make_model(trial), name="main", capabilities=[hooks], **more)

    @agent.tool_plain
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    return agent, hooks


def _guarded(trial: Trial, hooks: HooklineCapability, work: Any) -> None:
    try:
        work()
    except RunStopped as stopped:
        trial.halted = str(stopped)
    finally:
        hooks.close()


def run(trial: Trial) -> None:
    agent, hooks = make_agent(trial, output_type=[str, DeferredToolRequests])

    async def go() -> None:
        result = await agent.run(trial.prompt)
        while isinstance(result.output, DeferredToolRequests):
            answers = DeferredToolResults()
            for call in result.output.approvals:
                reason = result.output.metadata[call.tool_call_id]["reason"]
                trial.asked.append(reason)
                answers.approvals[call.tool_call_id] = ToolApproved() if trial.approves else ToolDenied(reason)
            result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
        trial.final = str(result.output)

    _guarded(trial, hooks, lambda: asyncio.run(go()))


def run_sync(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    def go() -> None:
        trial.final = str(agent.run_sync(trial.prompt).output)

    _guarded(trial, hooks, go)


def run_iter(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        async with agent.iter(trial.prompt) as nodes:
            async for _ in nodes:
                pass
        trial.final = str(nodes.result.output)

    _guarded(trial, hooks, lambda: asyncio.run(go()))


def run_stream(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        async with agent.run_stream(trial.prompt) as result:
            trial.final = str(await result.get_output())

    _guarded(trial, hooks, lambda: asyncio.run(go()))


def run_stream_events(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        async with agent.run_stream_events(trial.prompt) as events:
            async for event in events:
                if hasattr(event, "result"):
                    trial.final = str(event.result.output)

    _guarded(trial, hooks, lambda: asyncio.run(go()))


def run_delegated(trial: Trial) -> None:
    inner, hooks = make_agent(trial)

    def respond(messages: Any, info: Any) -> ModelResponse:
        if isinstance(messages[-1].parts[-1], UserPromptPart):
            return ModelResponse(parts=[ToolCallPart("delegate", {"task": trial.prompt})])
        return ModelResponse(parts=[TextPart(str(messages[-1].parts[-1].content))])

    outer: Any = Agent(FunctionModel(respond), name="outer", capabilities=[hooks])

    @outer.tool_plain
    async def delegate(task: str) -> str:
        """Gives the task to another agent."""
        return str((await inner.run(task)).output)

    def go() -> None:
        trial.final = str(outer.run_sync("Delegate it.").output)

    _guarded(trial, hooks, go)


def run_external(trial: Trial) -> None:
    """The program runs the tools that the model asked for, as far as they are left to it."""
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tools = ExternalToolset([ToolDefinition(name="bash", parameters_json_schema=schema)])
    hooks = HooklineCapability(**trial.options)
    agent: Any = Agent(
        make_model(trial), toolsets=[tools], capabilities=[hooks], output_type=[str, DeferredToolRequests]
    )

    async def go() -> None:
        result = await agent.run(trial.prompt)
        while isinstance(result.output, DeferredToolRequests):
            answers = DeferredToolResults()
            for call in result.output.calls:
                answers.calls[call.tool_call_id] = trial.bash(call.args_as_dict()["command"])
            result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
        trial.final = str(result.output)

    _guarded(trial, hooks, lambda: asyncio.run(go()))


def _toolset(trial: Trial, **more: Any) -> Any:
    toolset: Any = FunctionToolset()

    @toolset.tool_plain(**more)
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    return toolset


def run_toolsets_of_the_run(trial: Trial) -> None:
    hooks = HooklineCapability(**trial.options)
    agent: Any = Agent(make_model(trial), capabilities=[hooks])

    def go() -> None:
        trial.final = str(agent.run_sync(trial.prompt, toolsets=[_toolset(trial)]).output)

    _guarded(trial, hooks, go)


def run_overridden_toolsets(trial: Trial) -> None:
    hooks = HooklineCapability(**trial.options)
    agent: Any = Agent(make_model(trial), capabilities=[hooks])

    def go() -> None:
        with agent.override(toolsets=[_toolset(trial)]):
            trial.final = str(agent.run_sync(trial.prompt).output)

    _guarded(trial, hooks, go)


def run_approved(trial: Trial) -> None:
    """A person approves each call in pydantic-ai's own way, and hooks decide afterwards."""
    hooks = HooklineCapability(**trial.options)
    toolset = _toolset(trial, requires_approval=True)
    agent: Any = Agent(
        make_model(trial), toolsets=[toolset], capabilities=[hooks], output_type=[str, DeferredToolRequests]
    )

    def go() -> None:
        result = agent.run_sync(trial.prompt)
        while isinstance(result.output, DeferredToolRequests):
            answers = DeferredToolResults(
                approvals={call.tool_call_id: ToolApproved() for call in result.output.approvals}
            )
            result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=answers)
        trial.final = str(result.output)

    _guarded(trial, hooks, go)


def run_pending(trial: Trial) -> None:
    """A history that ends with calls which have not run."""
    hooks = HooklineCapability(**trial.options)
    agent: Any = Agent(make_model(Trial([])), toolsets=[_toolset(trial)], capabilities=[hooks])
    trial.requests.append("no model")

    def go() -> None:
        for number, commands in enumerate(trial.steps):
            calls = [ToolCallPart("bash", {"command": c}, f"p{number}-{i}") for i, c in enumerate(commands)]
            history = [ModelRequest(parts=[UserPromptPart(trial.prompt)]), ModelResponse(parts=calls)]
            agent.run_sync(message_history=history)

    _guarded(trial, hooks, go)


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    agent, hooks = make_agent(trial, output_type=[str, DeferredToolRequests])
    history = place / "history.json"
    if answers is None:
        result = agent.run_sync(trial.prompt)
    else:
        messages = ModelMessagesTypeAdapter.validate_json(history.read_bytes())
        result = agent.run_sync(message_history=messages, deferred_tool_results=DeferredToolResults(approvals=answers))
    history.write_bytes(result.all_messages_json())
    hooks.close()
    if not isinstance(result.output, DeferredToolRequests):
        return {}
    return {id: about["input"]["command"] for id, about in result.output.metadata.items()}


PATHS = {
    "async": run,
    "sync": run_sync,
    "iter": run_iter,
    "stream": run_stream,
    "stream of events": run_stream_events,
    "delegated": run_delegated,
    "external": run_external,
    "toolsets of the run": run_toolsets_of_the_run,
    "overridden toolsets": run_overridden_toolsets,
    "approved by pydantic-ai": run_approved,
    "pending calls": run_pending,
}
AGENT_PATHS = ("async", "sync", "iter", "stream", "stream of events")
STOP_PATHS = ("async", "sync", "iter", "stream of events")
