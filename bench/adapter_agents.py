"""For each Python framework, an agent that calls a tool CALLS times, alone or with hookline's adapter.

`python -m bench.adapter_agents NAME`, in the framework's own environment, prints what a call costs in seconds, as JSON. Both
agents run in turns in this process; the best run of each counts.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any

CALLS = 100  # tool calls of one run
_ROUNDS = 7
_SLOW_ROUNDS = {"claude_agent_sdk": 2}  # most of a run is Claude Code's
_HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: {command: rm}}}, then: {deny: Not rm.}}
  - {id: no-push, on: tool.before, when: {input: {command: {command: git push}}}, then: {ask: This pushes.}}
  - {id: https, on: tool.before, when: {input: {url: '^http:'}}, then: {deny: Use https.}}
  - {id: mask, on: tool.after, when: {result: sk-}, then: {replace: {in: result, pattern: 'sk-[a-z0-9]{20}', with: '***'}}}
  - {id: no-keys, on: prompt.submit, when: {prompt: sk-}, then: {deny: There is a key in it.}}
"""
Run = Callable[[], Awaitable[None]]
_made: list[str] = []  # the calls of this run


def _pydantic_ai(config: Path | None) -> Run:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import UsageLimits

    from hookline.frameworks.pydantic_ai import HooklineCapability

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        if len(messages) > 2 * CALLS:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("bash", {"command": "ls"}, f"c{len(messages)}")])

    hooks = [] if config is None else [HooklineCapability(config=config)]
    agent = Agent(FunctionModel(answer), tools=[bash], capabilities=hooks)

    async def run() -> None:
        await agent.run("Go.", usage_limits=UsageLimits(request_limit=None))

    return run


def _openai_agents(config: Path | None) -> Run:
    from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
    from agents.testing import assistant_message, function_call

    from hookline.frameworks.openai_agents import HooklineHooks

    set_tracing_disabled(True)

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
            at = len(input)
            call = function_call("bash", {"command": "ls"}, call_id=f"c{at}")
            return ModelResponse([assistant_message("done") if at > 2 * CALLS else call], Usage(), None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    agent = Agent("bench", model=Scripted(), tools=[function_tool(bash)])
    if config is not None:
        HooklineHooks(config=config).install(agent)

    async def run() -> None:
        await Runner.run(agent, "Go.", max_turns=CALLS + 2)

    return run


def _langchain(config: Path | None) -> Run:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from hookline.frameworks.langchain import HooklineMiddleware

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            call = {"name": "bash", "args": {"command": "ls"}, "id": f"c{len(messages)}"}
            message = AIMessage("done") if len(messages) > 2 * CALLS else AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=message)])

    hooks = [] if config is None else [HooklineMiddleware(config=config)]
    agent = create_agent(Scripted(), [bash], middleware=hooks)

    async def run() -> None:
        await agent.ainvoke({"messages": [("user", "Go.")]}, {"recursion_limit": 10 * CALLS})

    return run


async def bash(command: str) -> str:
    """Runs a command."""
    _made.append(command)
    return f"ran {command}"


def _google_adk(config: Path | None) -> Run:
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from hookline.frameworks.google_adk import HooklinePlugin

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            at = len(llm_request.contents)
            call = types.FunctionCall(id=f"c{at}", name="bash", args={"command": "ls"})
            part = types.Part(text="done") if at > 2 * CALLS else types.Part(function_call=call)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    plugins = [] if config is None else [HooklinePlugin(config=config)]
    agent = LlmAgent(name="bench", model=Scripted(model="scripted"), tools=[bash])
    runner = InMemoryRunner(agent=agent, app_name="bench", plugins=plugins)

    async def run() -> None:
        session = await runner.session_service.create_session(app_name="bench", user_id="u")
        message, limits = types.Content(role="user", parts=[types.Part(text="Go.")]), RunConfig(max_llm_calls=0)
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message, run_config=limits):
            pass

    return run


def _strands(config: Path | None) -> Run:
    from strands import Agent, tool
    from strands.models import Model

    from hookline.frameworks.strands import HooklineHandler

    class Scripted(Model):
        def update_config(self, **config: Any) -> None: ...

        def get_config(self) -> Any:
            return {}

        def structured_output(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

        async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            at = len(messages)
            done = at > 2 * CALLS
            use = {} if done else {"toolUse": {"toolUseId": f"c{at}", "name": "bash"}}
            delta = {"text": "done"} if done else {"toolUse": {"input": '{"command": "ls"}'}}
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": use}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if done else "tool_use"}}

    hooks = [] if config is None else [HooklineHandler(config=config)]

    async def run() -> None:
        agent = Agent(model=Scripted(), tools=[tool(bash)], interventions=hooks, callback_handler=None)
        await agent.invoke_async("Go.")

    return run


def _agent_framework(config: Path | None) -> Run:
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatMiddlewareLayer,
        ChatResponse,
        Content,
        FunctionInvocationLayer,
        Message,
    )

    from hookline.frameworks.agent_framework import hookline_middleware

    class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc,type-arg]
        async def _inner_get_response(self, *, messages: Any, **kwargs: Any) -> Any:
            at = len(messages)
            call = Content.from_function_call(call_id=f"c{at}", name="bash", arguments={"command": "ls"})
            return ChatResponse(
                messages=[Message("assistant", [Content.from_text("done") if at > 2 * CALLS else call])]
            )

    client = Scripted()
    client.function_invocation_configuration["max_iterations"] = CALLS + 2
    agent = Agent(client, tools=[bash], middleware=None if config is None else hookline_middleware(config=config))

    async def run() -> None:
        await agent.run("Go.")

    return run


def _haystack(config: Path | None) -> Run:
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.tools import create_tool_from_function

    from hookline.frameworks.haystack import hookline_hooks

    @component
    class Scripted:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None) -> Any:
            at = len(messages)
            call = ChatMessage.from_assistant(tool_calls=[ToolCall("bash", {"command": "ls"}, id=f"c{at}")])
            return {"replies": [ChatMessage.from_assistant("done") if at > 2 * CALLS else call]}

    hooks = None if config is None else hookline_hooks(config=config)
    tools = [create_tool_from_function(sync_bash, name="bash")]
    agent = Agent(chat_generator=Scripted(), tools=tools, hooks=hooks, max_agent_steps=CALLS + 2)

    async def run() -> None:
        agent.run(messages=[ChatMessage.from_user("Go.")])

    return run


def _crewai(config: Path | None) -> Run:
    """The hooks are the process's, so they are put in force for each run."""
    from crewai import Agent, Crew, Task
    from crewai.llms.base_llm import BaseLLM
    from crewai.tools import tool

    from hookline.frameworks.crewai import HooklineHooks

    class Scripted(BaseLLM):
        def supports_function_calling(self) -> bool:
            return True

        def call(self, messages: Any, tools: Any = None, **kwargs: Any) -> Any:
            at = len(messages)
            arguments = json.dumps({"command": f"ls {at}"})  # CrewAI ends an agent that repeats a call
            done = sum(each["role"] == "tool" for each in messages) == CALLS
            return "done" if done else [_openai_call(f"c{at}", arguments)]

        async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            return self.call(messages)

    async def run() -> None:
        hooks = None if config is None else HooklineHooks(config=config).install()
        about = {"role": "bench", "goal": "Work.", "backstory": "You work.", "max_iter": CALLS + 2}
        agent = Agent(llm=Scripted(model="scripted"), tools=[tool("bash")(sync_bash)], **about)
        task = Task(description="Go.", expected_output="The result.", agent=agent)
        await Crew(agents=[agent], tasks=[task], cache=False).akickoff()
        if hooks is not None:
            hooks.close()

    return run


def _openai_call(id: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def _llama_index(config: Path | None) -> Run:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
    from llama_index.core.llms import MockLLM
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.llms.llm import ToolSelection

    from hookline.frameworks.llama_index import HooklineHooks

    class Scripted(MockLLM, FunctionCallingLLM):
        @property
        def metadata(self) -> Any:
            return super().metadata.model_copy(update={"is_function_calling_model": True})

        async def achat_with_tools(self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any) -> Any:
            at = len(chat_history)
            call = ToolCallBlock(tool_call_id=f"c{at}", tool_name="bash", tool_kwargs={"command": "ls"})
            return ChatResponse(message=ChatMessage("done" if at > 2 * CALLS else [call], role="assistant"))

        def get_tool_calls_from_response(self, response: Any, **kwargs: Any) -> Any:
            calls = [each for each in response.message.blocks if isinstance(each, ToolCallBlock)]
            return [
                ToolSelection(tool_id=call.tool_call_id, tool_name=call.tool_name, tool_kwargs=call.tool_kwargs)
                for call in calls
            ]

        def _prepare_chat_with_tools(self, tools: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    agent = FunctionAgent(llm=Scripted(), tools=[bash], streaming=False)
    if config is not None:
        HooklineHooks(config=config).install(agent)

    async def run() -> None:
        await agent.run("Go.", max_iterations=CALLS + 2)

    return run


def _smolagents(config: Path | None) -> Run:
    from smolagents import Model, ToolCallingAgent, tool
    from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction

    from hookline.frameworks.smolagents import HooklineHooks

    class Scripted(Model):
        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            at = len(messages)
            done = len(_made) == CALLS
            name, arguments = ("final_answer", {"answer": "done"}) if done else ("bash", {"command": "ls"})
            function = ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = ChatMessageToolCall(function=function, id=f"c{at}", type="function")
            return ChatMessage(role="assistant", content="", tool_calls=[call])

    agent = ToolCallingAgent(tools=[tool(sync_bash)], model=Scripted(), verbosity_level=0, max_steps=CALLS + 2)
    agent.tools["bash"] = agent.tools.pop("sync_bash")
    agent.tools["bash"].name = "bash"
    if config is not None:
        HooklineHooks(config=config).install(agent)

    async def run() -> None:
        agent.run("Go.")

    return run


def _claude_agent_sdk(config: Path | None) -> Run:
    """The SDK runs Claude Code, which starts for each run; the model is a server in this process."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests_frameworks"))
    from claude_agent_sdk import ClaudeSDKClient
    from driver_claude_agent_sdk import scripted_options  # type: ignore[import-not-found]
    from trial import Trial  # type: ignore[import-not-found]

    from hookline.frameworks.claude_agent_sdk import HooklineHooks

    class Scripted(Trial):  # type: ignore[misc]
        def bash(self, command: str) -> str:
            return sync_bash(command)

    async def run() -> None:
        hooks = None if config is None else HooklineHooks(config=config)
        with scripted_options(Scripted([["ls"]] * CALLS), hooks=hooks) as options:
            async with ClaudeSDKClient(options) as client:
                await client.query("Go.")
                async for _ in client.receive_response():
                    pass
        if hooks is not None:
            await hooks.hooks.aclose()

    return run


def sync_bash(command: str) -> str:
    """Runs a command.

    Args:
        command: the command
    """
    _made.append(command)
    return f"ran {command}"


MAKERS = {
    "agent_framework": _agent_framework,
    "claude_agent_sdk": _claude_agent_sdk,
    "crewai": _crewai,
    "google_adk": _google_adk,
    "haystack": _haystack,
    "langchain": _langchain,
    "llama_index": _llama_index,
    "openai_agents": _openai_agents,
    "pydantic_ai": _pydantic_ai,
    "smolagents": _smolagents,
    "strands": _strands,
}


def measure(name: str, config: Path) -> dict[str, float]:
    """Seconds of processor time for one call."""
    alone, hooked = MAKERS[name](None), MAKERS[name](config)
    best = [float("inf"), float("inf")]
    for _ in range(_SLOW_ROUNDS.get(name, _ROUNDS)):
        for at, run in enumerate((alone, hooked)):
            best[at] = min(best[at], _cpu(run))
    return {"alone": best[0] / CALLS, "hooked": best[1] / CALLS}


def _cpu(run: Run) -> float:
    _made.clear()
    begun = _processor_time()
    asyncio.run(run())  # type: ignore[arg-type]
    took = _processor_time() - begun
    assert len(_made) == CALLS, f"the agent made {len(_made)} calls"
    return took


def _processor_time() -> float:
    """Of this process, and of the programs that it started and that have ended."""
    ended = getrusage(RUSAGE_CHILDREN)
    return process_time() + ended.ru_utime + ended.ru_stime


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {"XDG_STATE_HOME": place, "OTEL_SDK_DISABLED": "true", "CREWAI_DISABLE_TELEMETRY": "true"}
        config = Path(place, "hookline.yaml")
        config.write_text(_HOOKS)
        title = import_module(f"hookline.frameworks.{name}").SUPPORT.title
        print(json.dumps({"title": title, **measure(name, config)}))


if __name__ == "__main__":
    main(sys.argv[1])
