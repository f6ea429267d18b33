"""Runs a trial with LlamaIndex."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context
from trial import Trial
from workflows.events import HumanResponseEvent, InputRequiredEvent

from hookline.frameworks.llama_index import HooklineHooks, RunStopped

PAUSES = True


class TrialModel(FunctionCallingLLM):
    trial: Any
    writes: str = "calls"  # or "ReAct text", "code"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True)

    def answer(self, messages: Any) -> ChatResponse:
        step = self.trial.next_step("\n".join(str(each.content) for each in messages))
        return ChatResponse(message=ChatMessage(role="assistant", blocks=self.blocks(step)))

    def blocks(self, step: Any) -> list[Any]:
        if isinstance(step, str):
            return [TextBlock(text=f"Thought: I know.\nAnswer: {step}" if self.writes == "ReAct text" else step)]
        if self.writes == "ReAct text":
            call = json.dumps({"command": step[0]})
            return [TextBlock(text=f"Thought: I need it.\nAction: bash\nAction Input: {call}")]
        if self.writes == "code":
            return [TextBlock(text=f"<execute>{step[0]}</execute>")]
        return [
            ToolCallBlock(tool_call_id=self.trial.call_id(i), tool_name="bash", tool_kwargs={"command": command})
            for i, command in enumerate(step)
        ]

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.answer(messages)

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        async def chunks() -> Any:
            yield ChatResponse(message=ChatMessage(role="assistant", content=""), delta="")
            answer = self.answer(messages)
            answer.delta = answer.message.content
            yield answer

        return chunks()

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.answer(messages)

    def stream_chat(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def complete(self, *args: Any, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    stream_complete = acomplete = astream_complete = complete

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        asked = [ChatMessage(role="user", content=user_msg)] if isinstance(user_msg, str) else []
        return {"messages": [*(chat_history or []), *asked]}

    def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any) -> Any:
        return [
            ToolSelection(tool_id=each.tool_call_id, tool_name=each.tool_name, tool_kwargs=each.tool_kwargs)
            for each in response.message.blocks
            if isinstance(each, ToolCallBlock)
        ]


def make_tool(trial: Trial, **more: Any) -> FunctionTool:
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    return FunctionTool.from_defaults(bash, **more)


def make_agent(trial: Trial, **more: Any) -> FunctionAgent:
    options = {"name": "main", "description": "Works.", "tools": [make_tool(trial)], "streaming": False, **more}
    return FunctionAgent(llm=TrialModel(trial=trial), **options)


async def follow(trial: Trial, handler: Any) -> None:
    """As a program does that shows events, and whose user answers questions."""
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            trial.asked.append(event.prefix)
            answer = HumanResponseEvent(response="yes" if trial.approves else "no", tool_id=event.tool_id)
            handler.ctx.send_event(answer)
    trial.final = str(await handler)


def _go(trial: Trial, target: Any, hooks: HooklineHooks, **more: Any) -> None:
    async def go() -> None:
        try:
            await follow(trial, target.run(user_msg=trial.prompt, max_iterations=30, **more))
        except RunStopped as stopped:
            trial.halted = str(stopped)

    try:
        asyncio.run(go())
    finally:
        hooks.close()


def run(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    _go(trial, hooks.install(make_agent(trial)), hooks)


def run_stream(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    _go(trial, hooks.install(make_agent(trial, streaming=True)), hooks)


def run_workflow(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    _go(trial, hooks.install(AgentWorkflow(agents=[make_agent(trial)])), hooks)


def run_awaited(trial: Trial) -> None:
    """Nobody reads the events."""
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(make_agent(trial))

    async def go() -> None:
        try:
            trial.final = str(await agent.run(trial.prompt, max_iterations=30))
        except RunStopped as stopped:
            trial.halted = str(stopped)

    asyncio.run(go())
    hooks.close()


class OneByOne(Trial):
    """For models that write one call at a time."""

    def __init__(self, trial: Trial) -> None:
        self.__dict__ = trial.__dict__
        self.steps = [[command] for commands in trial.steps for command in commands]


def run_react(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    one = OneByOne(trial)
    agent = ReActAgent(name="main", tools=[make_tool(one)], llm=TrialModel(trial=one, writes="ReAct text"))
    _go(one, hooks.install(agent), hooks)


def run_code(trial: Trial) -> None:
    """Code that the model writes is a call of the tool that executes it."""
    hooks = HooklineHooks(**{"kinds": {"execute": "shell"}, **trial.options})
    one = OneByOne(trial)

    def execute(code: str) -> str:
        return trial.bash(code)

    agent = CodeActAgent(code_execute_fn=execute, llm=TrialModel(trial=one, writes="code"))
    _go(one, hooks.install(agent), hooks)


def run_handoff(trial: Trial) -> None:
    """The first agent hands off to the one that works."""
    hooks = HooklineHooks(**trial.options)

    class First(TrialModel):
        def answer(self, messages: Any) -> ChatResponse:
            call = ToolCallBlock(tool_call_id="h", tool_name="handoff", tool_kwargs={"to_agent": "main", "reason": "r"})
            return ChatResponse(message=ChatMessage(role="assistant", blocks=[call]))

    first = FunctionAgent(name="first", description="First.", llm=First(trial=trial), streaming=False)
    _go(trial, hooks.install(AgentWorkflow(agents=[first, make_agent(trial)], root_agent="first")), hooks)


class Outer(TrialModel):
    def answer(self, messages: Any) -> ChatResponse:
        done = any(each.role == "tool" for each in messages)
        call = ToolCallBlock(tool_call_id="o", tool_name="delegate", tool_kwargs={"task": self.trial.prompt})
        block = TextBlock(text="outer") if done else call
        return ChatResponse(message=ChatMessage(role="assistant", blocks=[block]))


def run_subagent(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)

    async def delegate(task: str) -> str:
        """Gives the task to an agent that is made for it."""
        return str(await hooks.install(make_agent(trial)).run(task))

    outer = FunctionAgent(name="outer", tools=[delegate], llm=Outer(trial=trial), streaming=False)
    _go(trial, hooks.install(outer), hooks)


def run_sync_tool(trial: Trial) -> None:
    """A tool that has no async method."""

    class Bash(BaseTool):
        @property
        def metadata(self) -> ToolMetadata:
            schema = make_tool(trial).metadata.fn_schema
            return ToolMetadata(name="bash", description="Runs a command.", fn_schema=schema)

        def __call__(self, input: Any = None, command: str = "") -> ToolOutput:
            text = trial.bash(command or input)
            return ToolOutput(tool_name="bash", content=text, raw_input={}, raw_output=text)

    class Model(TrialModel):
        def blocks(self, step: Any) -> list[Any]:
            made = super().blocks(step)
            for each in made:
                if isinstance(each, ToolCallBlock):
                    each.tool_kwargs = {"input": each.tool_kwargs["command"]}
            return made

    hooks = HooklineHooks(**{"kinds": {"bash": "shell"}, **trial.options})
    agent = FunctionAgent(name="main", tools=[Bash()], llm=Model(trial=trial), streaming=False)
    _go(trial, hooks.install(agent), hooks)


def run_late_tool(trial: Trial) -> None:
    """A tool that is added after the hooks."""
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(make_agent(trial, tools=[]))
    agent.tools = [make_tool(trial)]
    _go(trial, agent, hooks)


def run_copy(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    _go(trial, hooks.install(make_agent(trial)).model_copy(), hooks)


def run_context_tool(trial: Trial) -> None:
    """A tool that gets the workflow's context."""

    async def bash(ctx: Context, command: str, mode: str = "own") -> str:
        """Runs a command."""
        await ctx.store.set("seen", command)
        return trial.bash(command, mode)

    bash.__annotations__["ctx"] = Context  # LlamaIndex does not resolve the text
    hooks = HooklineHooks(**trial.options)
    _go(trial, hooks.install(make_agent(trial, tools=[bash])), hooks)


class Retriever:
    def __init__(self, tool: FunctionTool) -> None:
        self.tool = tool

    async def aretrieve(self, text: str) -> list[FunctionTool]:
        return [self.tool]


def run_retrieved_tool(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    agent = make_agent(trial, tools=[])
    agent.tool_retriever = Retriever(make_tool(trial))
    _go(trial, hooks.install(agent), hooks)


def _each_command(trial: Trial, call: Any) -> None:
    trial.requests.append("")
    for commands in trial.steps:
        for command in commands:
            call(command)


def run_direct(trial: Trial) -> None:
    """The program calls the agent's tool itself."""
    hooks = HooklineHooks(**trial.options)
    (tool,) = hooks.install(make_agent(trial)).tools
    calls = [lambda command: tool(command), lambda command: asyncio.run(tool.acall(command=command))]
    _each_command(trial, lambda command: calls[len(command) % 2](command))
    hooks.close()


def run_predict(trial: Trial) -> None:
    """The LLM calls the tools itself, without an agent."""
    hooks = HooklineHooks(**trial.options)
    tool = hooks.install(make_tool(trial))
    model = TrialModel(trial=trial)
    for _ in trial.steps:
        model.predict_and_call([tool], user_msg="Go.", allow_parallel_tool_calls=True)
    hooks.close()


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    """The run never ends by itself while a question is open."""
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(make_agent(trial))
    saved = place / "context.json"
    asked: dict[str, str] = {}

    async def go() -> None:
        if answers is None:
            handler = agent.run(user_msg=trial.prompt, ctx=Context(agent))
        else:
            context = Context.from_dict(agent, json.loads(saved.read_text()))
            await context.store.set("memory", ChatMemoryBuffer.from_defaults(llm=agent.llm))
            handler = agent.run(ctx=context)
            for id, yes in answers.items():
                handler.ctx.send_event(HumanResponseEvent(response="yes" if yes else "no", tool_id=id))
        try:
            async with asyncio.timeout(60) as limit:
                async for event in handler.stream_events():
                    if isinstance(event, InputRequiredEvent) and event.tool_id not in (answers or {}):
                        asked[event.tool_id] = event.tool_kwargs["command"]
                        limit.reschedule(asyncio.get_running_loop().time() + 1)
                await handler
        except TimeoutError:
            saved.write_text(json.dumps(handler.ctx.to_dict()))
            await handler.cancel_run()

    asyncio.run(go())
    hooks.close()
    return asked


PATHS = {
    "async": run,
    "awaited": run_awaited,
    "stream": run_stream,
    "workflow": run_workflow,
    "ReAct": run_react,
    "code": run_code,
    "handoff": run_handoff,
    "sub-agent": run_subagent,
    "sync tool": run_sync_tool,
    "tool with a context": run_context_tool,
    "tool added later": run_late_tool,
    "retrieved tool": run_retrieved_tool,
    "copy": run_copy,
    "direct": run_direct,
    "LLM": run_predict,
}
AGENT_PATHS = ("async", "awaited", "stream", "workflow", "ReAct")
