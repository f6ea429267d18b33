"""What hooks cost a tool call in other frameworks: an agent of each, alone and with hookline's adapter.

`python -m bench.adapters` measures the frameworks that are installed. Both agents run in turns in this process; the best
run of each counts.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

from bench.table import table
from bench.timing import format_seconds

CALLS = 100  # tool calls of one run
_ROUNDS = 7
_HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: {command: rm}}}, then: {deny: Not rm.}}
  - {id: no-push, on: tool.before, when: {input: {command: {command: git push}}}, then: {ask: This pushes.}}
  - {id: https, on: tool.before, when: {input: {url: '^http:'}}, then: {deny: Use https.}}
  - {id: mask, on: tool.after, when: {result: sk-}, then: {replace: {in: result, pattern: 'sk-[a-z0-9]{20}', with: '***'}}}
  - {id: no-keys, on: prompt.submit, when: {prompt: sk-}, then: {deny: There is a key in it.}}
"""
Run = Callable[[], Awaitable[None]]


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
    return f"ran {command}"


_FRAMEWORKS = {
    "LangChain": ("langchain", _langchain),
    "OpenAI Agents SDK": ("agents", _openai_agents),
    "pydantic-ai": ("pydantic_ai", _pydantic_ai),
}


def measure() -> list[dict[str, str]]:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = place
        config = Path(place, "hookline.yaml")
        config.write_text(_HOOKS)
        for name, (package, make) in _FRAMEWORKS.items():
            if find_spec(package) is None:
                continue
            alone, hooked = make(None), make(config)
            best = [float("inf"), float("inf")]
            for _ in range(_ROUNDS):
                for at, run in enumerate((alone, hooked)):
                    best[at] = min(best[at], _cpu(run))
            cost = [each / CALLS for each in best]
            rows.append(
                {
                    "a turn with a tool call": name,
                    "alone": format_seconds(cost[0]),
                    "with 5 hooks": format_seconds(cost[1]),
                    "added": format_seconds(cost[1] - cost[0]),
                    "ratio": f"{cost[1] / cost[0]:.2f}",
                }
            )
    return rows


def _cpu(run: Run) -> float:
    begun = process_time()
    asyncio.run(run())  # type: ignore[arg-type]
    return process_time() - begun


if __name__ == "__main__":
    print(table(measure()))
