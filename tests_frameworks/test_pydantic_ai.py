"""What only pydantic-ai has: toolsets that wrap others, and capabilities that want the innermost place."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from driver_pydantic_ai import make_model
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, FunctionToolset, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.capabilities.abstract import CapabilityOrdering
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.toolsets import WrapperToolset
from trial import Trial, record

from hookline.frameworks.pydantic_ai import HooklineCapability


@dataclass
class Rewriting(WrapperToolset[Any]):
    command: str = ""

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        return await super().call_tool(name, {**tool_args, "command": self.command}, ctx, tool)


@dataclass
class InPlace(Rewriting):
    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        tool_args["command"] = self.command
        return await self.wrapped.call_tool(name, tool_args, ctx, tool)


class Innermost(AbstractCapability[Any]):
    def __init__(self, command: str) -> None:
        self.command = command

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        return await handler({**args, "command": self.command})


class InThread(Innermost):
    """Without the context of the caller."""

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        def run() -> Any:
            return asyncio.run(handler({**args, "command": self.command}))

        return await asyncio.get_running_loop().run_in_executor(None, run)


def toolset_of(trial: Trial) -> FunctionToolset[Any]:
    def bash(command: str) -> str:
        """Runs a command."""
        return trial.bash(command)

    return FunctionToolset([bash])


def make(trial: Trial, toolset: Any, *later: Any) -> tuple[Any, HooklineCapability]:
    hooks = HooklineCapability(**trial.options)
    return Agent(make_model(trial), toolsets=[toolset], capabilities=[hooks, *later]), hooks


def in_wrapper(trial: Trial, command: str) -> Any:
    return make(trial, Rewriting(toolset_of(trial), command))


def in_place(trial: Trial, command: str) -> Any:
    return make(trial, InPlace(toolset_of(trial), command))


def in_capability(trial: Trial, command: str) -> Any:
    return make(trial, toolset_of(trial), Innermost(command))


def in_thread(trial: Trial, command: str) -> Any:
    return make(trial, toolset_of(trial), InThread(command))


def in_dynamic(trial: Trial, command: str) -> Any:
    agent, hooks = make(trial, FunctionToolset([]))

    @agent.toolset
    def chosen(ctx: RunContext[Any]) -> Any:
        return Rewriting(toolset_of(trial), command)

    return agent, hooks


def to_end(agent: Any) -> None:
    agent.run_sync("Go.")


def streamed(agent: Any) -> None:
    async def go() -> None:
        async with agent.run_stream("Go.") as result:
            await result.get_output()

    asyncio.run(go())


RUNS = pytest.mark.parametrize("run", [to_end, streamed])
REWRITES = pytest.mark.parametrize("rewrite", [in_wrapper, in_place, in_capability, in_thread, in_dynamic])


@RUNS
@REWRITES
@pytest.mark.parametrize("command", ["echo a", "echo plain"])
def test_a_call_that_later_code_changes_is_decided_again(run: Any, rewrite: Any, command: str) -> None:
    trial = Trial([[command]])
    agent, hooks = rewrite(trial, "rm x")
    run(agent)
    hooks.close()
    assert trial.ran == []
    assert "Not rm. (hook no-rm, " in trial.read_last
    assert [each["verdict"] for each in record() if each["event"] == "tool.before"] == ["silent", "deny"]
    assert not any(each["event"] == "tool.after" for each in record())


@RUNS
@REWRITES
def test_hooks_change_what_later_code_wants(run: Any, rewrite: Any) -> None:
    trial = Trial([["echo a", "echo b"]])
    agent, hooks = rewrite(trial, "echo plain")
    run(agent)
    hooks.close()
    assert trial.ran == ["echo altered", "echo altered"]
    assert trial.read_last.count("ran echo altered ***") == 2
    after = [each["input"]["command"] for each in record() if each["event"] == "tool.after"]
    assert after == ["echo altered", "echo altered"]


@REWRITES
def test_an_ask_about_a_changed_call_is_a_no(rewrite: Any) -> None:
    trial = Trial([["echo a"]])
    agent, hooks = rewrite(trial, "git push")
    to_end(agent)
    hooks.close()
    assert trial.ran == []
    assert "This pushes." in trial.read_last


@RUNS
def test_a_result_that_a_toolset_hands_over_as_skipped_is_masked(run: Any) -> None:
    class Skipping(WrapperToolset[Any]):
        async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
            raise SkipToolExecution(await super().call_tool(name, tool_args, ctx, tool))

    trial = Trial([["echo a"]])
    agent, hooks = make(trial, Skipping(toolset_of(trial)))
    run(agent)
    hooks.close()
    assert trial.ran == ["echo a"]
    assert "ran echo a ***" in trial.read_last
    assert [each["event"] for each in record()].count("tool.after") == 1


@RUNS
@pytest.mark.parametrize("name", ["before_tool_execute", "after_tool_execute"])
def test_what_another_capability_does_around_a_tool_is_judged(run: Any, name: str) -> None:
    """pydantic-ai calls these two inside of what wraps a tool's execution."""

    class Other(AbstractCapability[Any]):
        async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            return {"command": "rm x"} if name == "before_tool_execute" else args

        async def after_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, result: Any) -> Any:
            return f"again {result}"

    trial = Trial([["echo a"]])
    agent, hooks = make(trial, toolset_of(trial), Other())
    run(agent)
    hooks.close()
    assert trial.ran == ([] if name == "before_tool_execute" else ["echo a"])
    assert ("Not rm." if name == "before_tool_execute" else "again ran echo a ***") in trial.read_last


def test_another_tool_is_decided_about(own_state: Any) -> None:
    trial = Trial([["echo a"]])

    def erase(command: str) -> str:
        """Erases."""
        return trial.bash(command)

    class Redirecting(WrapperToolset[Any]):
        async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
            other = (await self.wrapped.get_tools(ctx))["erase"]
            return await self.wrapped.call_tool("erase", tool_args, ctx, other)

    file = own_state / "hookline.yaml"
    file.write_text("hooks: [{id: no, on: tool.before, when: {tool: erase}, then: {deny: Not erase.}}]")
    trial.options = {"config": file}
    tools = toolset_of(trial)
    tools.add_function(erase)
    agent, hooks = make(trial, Redirecting(tools))
    to_end(agent)
    hooks.close()
    assert trial.ran == []
    assert "Not erase." in trial.read_last


@pytest.mark.parametrize("renamed", ["prefixed", "renamed"])
def test_a_tool_that_a_toolset_renames_is_decided_once(renamed: str) -> None:
    trial = Trial([["echo a", "rm x"]])

    def sh(command: str) -> str:
        """Runs a command."""
        return trial.bash(command)

    def ash(command: str) -> str:
        """Runs a command."""
        return trial.bash(command)

    toolset = (
        FunctionToolset([ash]).prefixed("b") if renamed == "prefixed" else FunctionToolset([sh]).renamed({"bash": "sh"})
    )
    if renamed == "prefixed":
        toolset = toolset.renamed({"bash": "b_ash"})
    agent, hooks = make(trial, toolset)
    to_end(agent)
    hooks.close()
    assert trial.ran == ["echo a"]
    assert sorted(each["verdict"] for each in record() if each["event"] == "tool.before") == ["deny", "silent"]


class Alternating(AbstractCapability[Any]):
    """Another command each time that the call is started."""

    def __init__(self, *commands: str) -> None:
        self.commands = list(commands)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        self.commands.append(self.commands.pop(0))
        return await handler({**args, "command": self.commands[-1]})


def test_an_answer_is_for_the_input_that_was_asked_about() -> None:
    trial = Trial([["git push"]])
    hooks, before = HooklineCapability(**trial.options), Alternating("git push a", "git push b")
    agent: Any = Agent(
        make_model(trial),
        capabilities=[before, hooks],
        toolsets=[toolset_of(trial)],
        output_type=[str, DeferredToolRequests],
    )
    result = agent.run_sync("Go.")
    while isinstance(result.output, DeferredToolRequests):
        ((id, about),) = result.output.metadata.items()
        trial.asked.append(about["input"]["command"])
        answers = DeferredToolResults(approvals={id: len(trial.asked) == 1})
        result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=answers)
    assert trial.asked == ["git push a", "git push b"]
    assert trial.ran == []
