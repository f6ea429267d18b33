"""Runs a trial with Google ADK."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionResult
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.workflow import FunctionNode, Workflow
from google.adk.workflow._tool_node import _ToolNode
from google.genai import types
from trial import Trial

from hookline.frameworks.google_adk import HooklinePlugin

PAUSES = True
ASKS_AGAIN = False
CANNOT = {"continue": True}
CONFIRM = "adk_request_confirmation"


class TrialModel(BaseLlm):
    trial: Any

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        texts = [str(llm_request.config.system_instruction or "")]
        for content in llm_request.contents:
            for part in content.parts:
                texts.append(part.text or (str(part.function_response.response) if part.function_response else ""))
        step = self.trial.next_step("\n".join(texts))
        if isinstance(step, str):
            parts = [types.Part(text=step)]
        else:
            calls = [
                types.FunctionCall(id=self.trial.call_id(i), name="bash", args={"command": c})
                for i, c in enumerate(step)
            ]
            parts = [types.Part(function_call=call) for call in calls]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def make_agent(trial: Trial, name: str = "main") -> LlmAgent:
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    return LlmAgent(name=name, model=TrialModel(model="scripted", trial=trial), tools=[bash])


def _run(trial: Trial, agent: Any, *, before: tuple[Any, ...] = (), after: tuple[Any, ...] = (), **more: Any) -> None:
    """before, after: other plugins around ours."""

    async def go() -> None:
        plugin = HooklinePlugin(**trial.options)
        runner = InMemoryRunner(agent=agent, app_name="app", plugins=[*before, plugin, *after])
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text=trial.prompt)])
        while message is not None:
            answer = None
            async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message, **more):
                for part in event.content.parts if event.content else ():
                    call = part.function_call
                    if call and call.name == CONFIRM:
                        trial.asked.append(call.args["toolConfirmation"]["hint"])
                        response = types.FunctionResponse(
                            id=call.id, name=CONFIRM, response={"confirmed": trial.approves}
                        )
                        answer = types.Content(role="user", parts=[types.Part(function_response=response)])
                    if part.text:
                        trial.final = part.text
            message = answer
        await plugin.close()

    asyncio.run(go())


def run(trial: Trial) -> None:
    _run(trial, make_agent(trial))


def run_streaming(trial: Trial) -> None:
    _run(trial, make_agent(trial), run_config=RunConfig(streaming_mode=StreamingMode.SSE))


class Once(BaseLlm):
    """Calls one tool, then ends."""

    tool: str
    arguments: dict[str, Any]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        done = any(part.function_response for content in llm_request.contents for part in content.parts)
        call = types.FunctionCall(id="o1", name=self.tool, args=self.arguments)
        part = types.Part(text="outer done") if done else types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def run_agent_tool(trial: Trial) -> None:
    inner = make_agent(trial, "inner")
    model = Once(model="scripted", tool="inner", arguments={"request": trial.prompt})
    _run(trial, LlmAgent(name="outer", model=model, tools=[AgentTool(inner)]))


def run_transfer(trial: Trial) -> None:
    inner = make_agent(trial, "inner")
    model = Once(model="scripted", tool="transfer_to_agent", arguments={"agent_name": "inner"})
    _run(trial, LlmAgent(name="outer", model=model, sub_agents=[inner]))


def run_workflow(trial: Trial) -> None:
    """Tools as nodes of a workflow, without a model."""
    commands = [command for commands in trial.steps for command in commands]
    trial.requests.append("no model")

    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    for command in commands:
        start = FunctionNode(func=_constant(command), name="start")
        edges = [("START", start), (start, _ToolNode(tool=FunctionTool(bash)))]
        _run(trial, Workflow(name="main", edges=edges))


def _constant(command: str) -> Any:
    def give() -> dict[str, str]:
        return {"command": command}

    return give


def run_confirmed(trial: Trial) -> None:
    """A person confirms each call in ADK's own way, and hooks decide before and after."""

    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    trial.approves = True
    trial.steps = [[command] for commands in trial.steps for command in commands]
    model = TrialModel(model="scripted", trial=trial)
    _run(trial, LlmAgent(name="main", model=model, tools=[FunctionTool(bash, require_confirmation=True)]))


def run_toolset(trial: Trial) -> None:
    """Tools that are made for each request, with another name."""

    class Tools(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            def sh(command: str, mode: str = "own") -> str:
                """Runs a command."""
                return trial.bash(command, mode)

            return [FunctionTool(sh)]

    class Prefixed(TrialModel):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            async for response in super().generate_content_async(llm_request, stream):
                for part in response.content.parts:
                    if part.function_call:
                        part.function_call.name = "my_sh"
                yield response

    trial.options = {"kinds": {"my_sh": "shell"}, **trial.options}
    model = Prefixed(model="scripted", trial=trial)
    _run(trial, LlmAgent(name="main", model=model, tools=[Tools(tool_name_prefix="my")]))


class CodeModel(TrialModel):
    """Writes code as text."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        async for response in super().generate_content_async(llm_request, stream):
            calls = [part.function_call for part in response.content.parts if part.function_call]
            for call in calls:
                text = f"```python\n{call.args['command']}\n```"
                response.content.parts = [types.Part(text=text)]
            yield response


class Executor(BaseCodeExecutor):
    trial: Any

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> CodeExecutionResult:
        return CodeExecutionResult(stdout=self.trial.bash(code_execution_input.code))


def run_code(trial: Trial) -> None:
    trial.steps = [[command] for commands in trial.steps for command in commands]
    trial.options = {"kinds": {"python_interpreter": "shell"}, **trial.options}
    model = CodeModel(model="scripted", trial=trial)
    _run(trial, LlmAgent(name="main", model=model, code_executor=Executor(trial=trial)))


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    asked: dict[str, str] = {}

    async def go() -> None:
        plugin = HooklinePlugin(**trial.options)
        service = SqliteSessionService(str(place / "sessions.db"))
        runner = Runner(agent=make_agent(trial), app_name="app", plugins=[plugin], session_service=service)
        if answers is None:
            await service.create_session(app_name="app", user_id="u", session_id="s")
            parts = [types.Part(text=trial.prompt)]
        else:
            parts = [types.Part(function_response=_confirmation(id, yes)) for id, yes in answers.items()]
        message = types.Content(role="user", parts=parts)
        async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
            for part in event.content.parts if event.content else ():
                call = part.function_call
                if call and call.name == CONFIRM:
                    asked[call.id] = call.args["toolConfirmation"]["payload"]["input"]["command"]
        await plugin.close()

    asyncio.run(go())
    return asked


def _confirmation(id: str, yes: bool) -> Any:
    return types.FunctionResponse(id=id, name=CONFIRM, response={"confirmed": yes})


PATHS = {
    "code": run_code,
    "async": run,
    "streaming": run_streaming,
    "AgentTool": run_agent_tool,
    "transfer": run_transfer,
    "workflow": run_workflow,
    "confirmed": run_confirmed,
    "toolset": run_toolset,
}
AGENT_PATHS = ("async", "streaming")
