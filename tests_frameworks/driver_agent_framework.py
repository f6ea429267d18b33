"""Runs a trial with Microsoft's Agent Framework."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    WorkflowBuilder,
    tool,
)
from trial import Trial

from hookline.frameworks.agent_framework import RunStopped, hookline_middleware

PAUSES = True


class TrialClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc,type-arg]
    def __init__(self, trial: Trial) -> None:
        super().__init__()
        self.trial = trial

    def _contents(self, messages: Any, options: Any) -> list[Any]:
        texts = [str((options or {}).get("instructions") or "")]
        for message in messages:
            for content in message.contents:
                texts.append(content.text or str(content.result or ""))
        step = self.trial.next_step("\n".join(texts))
        if isinstance(step, str):
            return [Content.from_text(step)]
        return [
            Content.from_function_call(call_id=self.trial.call_id(i), name="bash", arguments=json.dumps({"command": c}))
            for i, c in enumerate(step)
        ]

    def _inner_get_response(self, *, messages: Any, stream: bool = False, options: Any = None, **kwargs: Any) -> Any:
        if not stream:
            return self._respond(messages, options)

        async def updates() -> Any:
            yield ChatResponseUpdate(contents=self._contents(messages, options), role="assistant")

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates)

    async def _respond(self, messages: Any, options: Any) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", self._contents(messages, options))])


def make_agent(trial: Trial, middleware: Any = None) -> tuple[Agent, Any]:
    @tool(approval_mode="never_require")
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    hooks = middleware or hookline_middleware(**trial.options)
    return Agent(TrialClient(trial), name="main", tools=[bash], middleware=hooks), hooks


def _guarded(trial: Trial, hooks: Any, work: Any) -> None:
    try:
        asyncio.run(work)
    except RunStopped as stopped:
        trial.halted = str(stopped)
    finally:
        hooks[0].close()


def run(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        session = agent.create_session()
        response = await agent.run(trial.prompt, session=session)
        while response.user_input_requests:
            answers = []
            for request in response.user_input_requests:
                trial.asked.append(request.additional_properties["hookline"]["reason"])
                answers.append(request.to_function_approval_response(bool(trial.approves)))
            response = await agent.run(Message("user", answers), session=session)
        trial.final = response.text

    _guarded(trial, hooks, go())


def run_without_session(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        trial.final = (await agent.run(trial.prompt)).text

    _guarded(trial, hooks, go())


def run_stream(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        stream = agent.run(trial.prompt, stream=True)
        async for _ in stream:
            pass
        trial.final = (await stream.get_final_response()).messages[-1].text

    _guarded(trial, hooks, go())


def run_as_tool(trial: Trial) -> None:
    inner, hooks = make_agent(trial)

    class Outer(TrialClient):
        def _contents(self, messages: Any, options: Any) -> list[Any]:
            if any(content.type == "function_result" for message in messages for content in message.contents):
                return [Content.from_text("outer")]
            return [
                Content.from_function_call(call_id="o1", name="inner", arguments=json.dumps({"task": trial.prompt}))
            ]

    delegate = inner.as_tool(name="inner", description="Another agent.")
    outer = Agent(Outer(trial), name="outer", tools=[delegate], middleware=hooks)

    async def go() -> None:
        trial.final = (await outer.run("Delegate it.")).text

    _guarded(trial, hooks, go())


def run_approved(trial: Trial) -> None:
    """A person approves each call in the framework's own way, and hooks decide afterwards."""

    @tool(approval_mode="always_require")
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    hooks = hookline_middleware(**trial.options)
    agent = Agent(TrialClient(trial), name="main", tools=[bash], middleware=hooks)

    async def go() -> None:
        session = agent.create_session()
        response = await agent.run(trial.prompt, session=session)
        while response.user_input_requests:
            answers = [each.to_function_approval_response(True) for each in response.user_input_requests]
            response = await agent.run(Message("user", answers), session=session)
        trial.final = response.text

    _guarded(trial, hooks, go())


def run_tools_of_the_run(trial: Trial) -> None:
    hooks = hookline_middleware(**trial.options)
    agent = Agent(TrialClient(trial), name="main", middleware=hooks)

    @tool(approval_mode="never_require")
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    async def go() -> None:
        trial.final = (await agent.run(trial.prompt, tools=[bash])).text

    _guarded(trial, hooks, go())


def run_workflow(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        await WorkflowBuilder(start_executor=agent).build().run(trial.prompt)

    _guarded(trial, hooks, go())


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    agent, hooks = make_agent(trial)
    saved, asked = place / "session.json", {}

    async def go() -> None:
        session, given = agent.create_session(), Message("user", [trial.prompt])
        if answers is not None:
            kept = json.loads(saved.read_text())
            session = AgentSession.from_dict(kept["session"])
            requests = [Content.from_dict(each) for each in kept["requests"]]
            given = Message("user", [each.to_function_approval_response(answers[each.id]) for each in requests])
        response = await agent.run(given, session=session)
        requests = response.user_input_requests
        asked.update({each.id: each.function_call.parse_arguments()["command"] for each in requests})
        kept = {"session": session.to_dict(), "requests": [each.to_dict() for each in requests]}
        saved.write_text(json.dumps(kept))

    _guarded(trial, hooks, go())
    return asked


PATHS = {
    "session": run,
    "no session": run_without_session,
    "stream": run_stream,
    "as_tool": run_as_tool,
    "approved by the framework": run_approved,
    "tools of the run": run_tools_of_the_run,
    "workflow": run_workflow,
}
AGENT_PATHS = ("session", "no session", "stream")
STOP_PATHS = ("session", "no session")
