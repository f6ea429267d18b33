"""Runs a trial with LangChain's `create_agent`, and in graphs of one's own."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from trial import Trial

from hookline.frameworks.langchain import HooklineMiddleware


class ScriptedModel(BaseChatModel):
    trial: Any
    calls_made: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        step = self.trial.next_step("\n".join(str(each.content) for each in messages))
        if isinstance(step, str):
            message = AIMessage(step)
        else:
            calls = [{"name": "bash", "args": {"command": c}, "id": self.trial.call_id(i)} for i, c in enumerate(step)]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def make_tool(trial: Trial) -> Any:
    @tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    bash.handle_tool_error = False
    return bash


def make_agent(trial: Trial, **more: Any) -> tuple[Any, HooklineMiddleware]:
    hooks = HooklineMiddleware(**trial.options)
    tools = [make_tool(trial)]
    agent = create_agent(ScriptedModel(trial=trial), tools, middleware=[hooks], name="main", **more)
    return agent, hooks


def _finish(trial: Trial, state: Any) -> None:
    trial.final = str(state["messages"][-1].content)


def run(trial: Trial) -> None:
    """Sync, with a checkpointer; a question is answered as `trial.approves` says."""
    agent, hooks = make_agent(trial, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t1"}}
    state = agent.invoke({"messages": [("user", trial.prompt)]}, config)
    while "__interrupt__" in state:
        for each in state["__interrupt__"]:
            trial.asked.append(each.value["action_requests"][0]["description"])
        answer = {"decisions": [{"type": "approve" if trial.approves else "reject"}]}
        resume = {each.id: answer for each in state["__interrupt__"]}
        state = agent.invoke(Command(resume=resume), config)
    _finish(trial, state)
    hooks.close()


def run_async(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    _finish(trial, asyncio.run(agent.ainvoke({"messages": [("user", trial.prompt)]})))
    hooks.close()


def run_stream(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    for state in agent.stream({"messages": [("user", trial.prompt)]}, stream_mode="values"):
        _finish(trial, state)
    hooks.close()


def run_stream_messages(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    for _ in agent.stream({"messages": [("user", trial.prompt)]}, stream_mode="messages"):
        pass
    hooks.close()


def run_async_stream(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        async for state in agent.astream({"messages": [("user", trial.prompt)]}, stream_mode="values"):
            _finish(trial, state)

    asyncio.run(go())
    hooks.close()


def run_batch(trial: Trial) -> None:
    agent, hooks = make_agent(trial)
    _finish(trial, agent.batch([{"messages": [("user", trial.prompt)]}])[0])
    hooks.close()


def run_events(trial: Trial) -> None:
    agent, hooks = make_agent(trial)

    async def go() -> None:
        async for _ in agent.astream_events({"messages": [("user", trial.prompt)]}, version="v2"):
            pass

    asyncio.run(go())
    hooks.close()


def run_tool_node(trial: Trial) -> None:
    """A graph of one's own, without an agent."""
    hooks = HooklineMiddleware(**trial.options)
    node = ToolNode([make_tool(trial)], wrap_tool_call=hooks.wrap_node_call, awrap_tool_call=hooks.awrap_node_call)
    graph = _own_graph(trial, node)
    _finish(trial, graph.invoke({"messages": [("user", trial.prompt)]}))
    hooks.close()


def run_tool_node_async(trial: Trial) -> None:
    hooks = HooklineMiddleware(**trial.options)
    node = ToolNode([make_tool(trial)], wrap_tool_call=hooks.wrap_node_call, awrap_tool_call=hooks.awrap_node_call)
    graph = _own_graph(trial, node)
    _finish(trial, asyncio.run(graph.ainvoke({"messages": [("user", trial.prompt)]})))
    hooks.close()


def _own_graph(trial: Trial, node: ToolNode) -> Any:
    model = ScriptedModel(trial=trial)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    return graph.compile()


def run_subagent(trial: Trial) -> None:
    """The outer agent has one tool, which runs the trial in another agent with the same middleware."""
    inner, hooks = make_agent(trial)

    @tool
    def delegate(task: str) -> str:
        """Gives the task to another agent."""
        return str(inner.invoke({"messages": [("user", task)]})["messages"][-1].content)

    class Outer(ScriptedModel):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            if isinstance(messages[-1], HumanMessage):
                calls = [{"name": "delegate", "args": {"task": trial.prompt}, "id": "outer"}]
                return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])
            return ChatResult(generations=[ChatGeneration(message=AIMessage(str(messages[-1].content)))])

    outer = create_agent(Outer(trial=trial), [delegate], middleware=[hooks], name="outer")
    _finish(trial, outer.invoke({"messages": [("user", "Delegate it.")]}))
    hooks.close()


def run_restored(trial: Trial) -> None:
    """Every step of the graph is another process's, which has only the checkpoint."""
    saved = InMemorySaver()
    config = {"configurable": {"thread_id": "t1"}}
    given: Any = {"messages": [("user", trial.prompt)]}
    while True:
        agent, hooks = make_agent(trial, checkpointer=saved, interrupt_before=["tools"])
        state = agent.invoke(given, config)
        given = None
        hooks.close()
        if not agent.get_state(config).next:
            return _finish(trial, state)


def run_forged(trial: Trial) -> None:
    """The program writes calls into the state, as if the model had made them."""
    agent, hooks = make_agent(Trial([], options=trial.options), checkpointer=InMemorySaver())
    trial.requests.append("no model")
    inner = make_tool(trial)
    agent.nodes["tools"].bound.tools_by_name["bash"] = inner
    config = {"configurable": {"thread_id": "t1"}}
    for number, commands in enumerate(trial.steps):
        calls = [{"name": "bash", "args": {"command": c}, "id": f"f{number}-{i}"} for i, c in enumerate(commands)]
        agent.update_state(config, {"messages": [AIMessage("", tool_calls=calls)]}, as_node="model")
        agent.invoke(None, config)
    hooks.close()


def run_approved(trial: Trial) -> None:
    """A person approves each call in LangChain's own way, and hooks decide afterwards."""
    hooks = HooklineMiddleware(**trial.options)
    person = HumanInTheLoopMiddleware(interrupt_on={"bash": True})
    agent = create_agent(
        ScriptedModel(trial=trial), [make_tool(trial)], middleware=[person, hooks], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t1"}}
    state = agent.invoke({"messages": [("user", trial.prompt)]}, config)
    while "__interrupt__" in state:
        (asked,) = state["__interrupt__"]
        decisions = [{"type": "approve"} for _ in asked.value["action_requests"]]
        state = agent.invoke(Command(resume={"decisions": decisions}), config)
    _finish(trial, state)
    hooks.close()


def run_retried(trial: Trial) -> None:
    hooks = HooklineMiddleware(**trial.options)

    class Inner(ToolRetryMiddleware):
        """LangChain takes each class once."""

    around, inside = (kind(max_retries=1, initial_delay=0, jitter=False) for kind in (ToolRetryMiddleware, Inner))
    agent = create_agent(ScriptedModel(trial=trial), [make_tool(trial)], middleware=[around, hooks, inside])
    _finish(trial, agent.invoke({"messages": [("user", trial.prompt)]}))
    hooks.close()


def run_late_tool(trial: Trial) -> None:
    """Middleware gives the model a tool that the agent does not know, and runs it."""
    late = make_tool(trial)

    class Adding(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(tools=[*request.tools, late]))

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(tool=late))

    hooks = HooklineMiddleware(**trial.options)
    agent = create_agent(ScriptedModel(trial=trial), [], middleware=[Adding(), hooks])
    _finish(trial, agent.invoke({"messages": [("user", trial.prompt)]}))
    hooks.close()


class FileSaver(InMemorySaver):
    """A checkpointer whose checkpoints another process reads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        if file.exists():
            kept = pickle.loads(file.read_bytes())
            for thread, spaces in kept["storage"].items():
                self.storage[thread].update(spaces)
            self.writes.update(kept["writes"])
            self.blobs.update(kept["blobs"])

    def save(self) -> None:
        kept = {
            "storage": {thread: dict(spaces) for thread, spaces in self.storage.items()},
            "writes": dict(self.writes),
            "blobs": dict(self.blobs),
        }
        self.file.write_bytes(pickle.dumps(kept))


def run_until_pause(trial: Trial, place: Path, answers: dict[str, bool] | None) -> dict[str, str]:
    saver = FileSaver(place / "checkpoints")
    agent, hooks = make_agent(trial, checkpointer=saver)
    config = {"configurable": {"thread_id": "t1"}}
    if answers is None:
        state = agent.invoke({"messages": [("user", trial.prompt)]}, config)
    else:
        resume = {id: {"decisions": [{"type": "approve" if yes else "reject"}]} for id, yes in answers.items()}
        state = agent.invoke(Command(resume=resume if len(resume) > 1 else next(iter(resume.values()))), config)
    saver.save()
    hooks.close()
    return {each.id: each.value["action_requests"][0]["args"]["command"] for each in state.get("__interrupt__", ())}


PATHS = {
    "sync": run,
    "async": run_async,
    "stream": run_stream,
    "stream of messages": run_stream_messages,
    "async stream": run_async_stream,
    "batch": run_batch,
    "events": run_events,
    "ToolNode": run_tool_node,
    "ToolNode, async": run_tool_node_async,
    "sub-agent": run_subagent,
    "restored checkpoint": run_restored,
    "forged call": run_forged,
    "approved by LangChain": run_approved,
    "retried": run_retried,
    "late tool": run_late_tool,
}
AGENT_PATHS = ("sync", "async", "stream", "async stream", "batch")
PAUSES = True
