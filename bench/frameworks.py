"""The loops of other agent frameworks beside our runtime: the same conversation, tools and waiting for the model.

Ours has five hooks and stores every step. The others have no hooks; pydantic-ai stores nothing, the other two use their own
SQLite storage. All run in this process, one after the other, several times; the best run of each counts.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from bench.conversation import ANSWER, EXCHANGES, SYSTEM, TURNS, Conversation, current, write_workspace
from bench.goals import Goal, goal_rows
from bench.sessions import open_sessions
from bench.table import table
from bench.timing import format_seconds

Session = Callable[[str], Awaitable[None]]
"""One conversation of EXCHANGES prompts; the argument is its name."""

SESSIONS = 100
_ROUNDS = 3


class LoopCost(NamedTuple):
    turns_per_second: float
    cpu: float  # seconds of a turn, in all threads


def _tools(place: Path) -> list[Callable[..., Awaitable[str]]]:
    """What our built-in tools of the same names do."""

    async def read_file(path: str) -> str:
        """Returns the text of a file."""
        return (place / path).read_text()

    async def list_directory(path: str) -> str:
        """Lists a directory."""
        return "\n".join(sorted(os.listdir(place / path)))

    async def storage(action: str, key: str, value: str | None = None) -> str:
        """Sets or gets a stored value."""
        stored = current.get().stored
        if action == "set":
            stored[key] = value or ""
        return stored.get(key, "")

    return [read_file, list_directory, storage]


@asynccontextmanager
async def _pydantic_ai(place: Path) -> AsyncIterator[Session]:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        call = await current.get().next_call()
        if call is None:
            return ModelResponse(parts=[TextPart(ANSWER)])
        id, tool, input = call
        return ModelResponse(parts=[ToolCallPart(tool, input, id)])

    agent = Agent(FunctionModel(answer), instructions=SYSTEM, tools=_tools(place))

    async def converse(name: str) -> None:
        history: list[ModelMessage] = []
        for number in range(EXCHANGES):
            result = await agent.run(f"{name}.{number}", message_history=history)
            assert result.output == ANSWER
            history = result.all_messages()

    yield converse


@asynccontextmanager
async def _openai_agents(place: Path) -> AsyncIterator[Session]:
    from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)  # it would send traces to a server

    class ScriptedModel(Model):
        async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
            call = await current.get().next_call()
            return ModelResponse([self._text_message() if call is None else self._tool_call(*call)], Usage(), None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

        def _text_message(self) -> ResponseOutputMessage:
            text = ResponseOutputText(annotations=[], text=ANSWER, type="output_text")
            return ResponseOutputMessage(
                id="message", content=[text], role="assistant", status="completed", type="message"
            )

        def _tool_call(self, id: str, tool: str, input: dict[str, Any]) -> ResponseFunctionToolCall:
            return ResponseFunctionToolCall(arguments=json.dumps(input), call_id=id, name=tool, type="function_call")

    tools = [function_tool(function) for function in _tools(place)]
    agent = Agent(name="helper", instructions=SYSTEM, model=ScriptedModel(), tools=[*tools])

    async def converse(name: str) -> None:
        session = SQLiteSession(name, place / "openai-agents.db")
        try:
            for number in range(EXCHANGES):
                result = await Runner.run(agent, f"{name}.{number}", session=session)
                assert result.final_output == ANSWER
        finally:
            session.close()

    yield converse


@asynccontextmanager
async def _langgraph(place: Path) -> AsyncIterator[Session]:
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    async def model(state: MessagesState) -> dict[str, Any]:
        call = await current.get().next_call()
        if call is None:
            return {"messages": [AIMessage(ANSWER)]}
        id, tool, input = call
        return {"messages": [AIMessage("", tool_calls=[{"id": id, "name": tool, "args": input}])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(_tools(place)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")

    async with AsyncSqliteSaver.from_conn_string(str(place / "langgraph.db")) as saver:
        compiled = graph.compile(checkpointer=saver)

        async def converse(name: str) -> None:
            for number in range(EXCHANGES):
                said = {"messages": [HumanMessage(f"{name}.{number}")]}
                state = await compiled.ainvoke(said, {"configurable": {"thread_id": name}})
                assert state["messages"][-1].content == ANSWER

        yield converse


_LOOPS: dict[str, Callable[[Path], AbstractAsyncContextManager[Session]]] = {
    "hookline": open_sessions,
    "pydantic-ai": _pydantic_ai,
    "openai-agents": _openai_agents,
    "LangGraph": _langgraph,
}


def loop_costs(sessions: int = SESSIONS) -> dict[str, LoopCost]:
    """Measured in a process of its own: what other benchmarks have loaded would slow down the garbage collector."""
    run = [sys.executable, "-m", "bench.frameworks", "--measure", str(sessions)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return {name: LoopCost(*cost) for name, cost in json.loads(done.stdout).items()}


async def _measure_all(sessions: int) -> dict[str, LoopCost]:
    costs: dict[str, LoopCost] = {}
    for _ in range(_ROUNDS):
        for name, open_loop in _LOOPS.items():
            cost = await _measure(open_loop, sessions)
            best = costs.get(name, cost)
            costs[name] = LoopCost(max(best.turns_per_second, cost.turns_per_second), min(best.cpu, cost.cpu))
    return costs


async def _measure(open_loop: Callable[[Path], AbstractAsyncContextManager[Session]], sessions: int) -> LoopCost:
    async with AsyncExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_workspace(place)
        converse = await stack.enter_async_context(open_loop(place))
        await _hold(converse, "warm up")
        gc.collect()
        begun, cpu = perf_counter(), process_time()
        await asyncio.gather(*(_hold(converse, f"task {number}") for number in range(sessions)))
        seconds, cpu = perf_counter() - begun, process_time() - cpu
    turns = sessions * TURNS
    return LoopCost(turns / seconds, cpu / turns)


async def _hold(converse: Session, name: str) -> None:
    current.set(Conversation())
    await converse(name)


def rows(costs: dict[str, LoopCost]) -> list[dict[str, str]]:
    return [
        {
            f"{SESSIONS} conversations at once": name,
            "turns a second": f"{cost.turns_per_second:,.0f}",
            "processor, a turn": format_seconds(cost.cpu),
        }
        for name, cost in costs.items()
    ]


def goals(costs: dict[str, LoopCost]) -> list[Goal]:
    ours = costs["hookline"].turns_per_second
    limits = (("pydantic-ai", "bare", 2), ("openai-agents", "with SQLite", 3), ("LangGraph", "with SQLite", 4))
    return [
        Goal("turns a second, 5 hooks and SQLite", ours / costs[name].turns_per_second, limit, f"× {name} {how}", True)
        for name, how, limit in limits
    ]


def main() -> None:
    if "--measure" in sys.argv:
        print(json.dumps(asyncio.run(_measure_all(int(sys.argv[-1])))))
        return
    costs = loop_costs(int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS)
    print(table(rows(costs)), table(goal_rows(goals(costs))), sep="\n\n")


if __name__ == "__main__":
    main()
