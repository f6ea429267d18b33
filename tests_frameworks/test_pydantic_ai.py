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
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.toolsets import WrapperToolset
from trial import CONFIG, Trial, record

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


class Processes:
    """Each run is of a new agent with new hooks, which have only the messages."""

    def __init__(self, trial: Trial, config: Any = CONFIG, **more: Any) -> None:
        self.trial, self.config, self.more = trial, config, more
        self.messages: Any = None
        self.metadata: dict[str, Any] = {}

    def run(self, **more: Any) -> list[str]:
        """Returns the commands that are asked about."""
        hooks, tools = HooklineCapability(config=self.config), FunctionToolset[Any]()
        tools.add_function(self._bash, **self.more)
        output_type = [str, DeferredToolRequests]
        agent: Any = Agent(make_model(self.trial), toolsets=[tools], capabilities=[hooks], output_type=output_type)
        given = "Go." if self.messages is None else None
        result = agent.run_sync(given, message_history=self.messages, **more)
        hooks.close()
        self.messages = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
        if not isinstance(result.output, DeferredToolRequests):
            return []
        self.metadata = result.output.metadata
        calls = result.output.approvals
        return [self.metadata.get(call.tool_call_id, {}).get("input", call.args)["command"] for call in calls]

    def approve(self, **more: Any) -> list[str]:
        (call,) = self.messages[-1].tool_calls
        return self.run(deferred_tool_results=DeferredToolResults(approvals={call.tool_call_id: True}, **more))

    def _bash(self, command: str) -> str:
        """Runs a command."""
        return self.trial.bash(command)


def test_an_approval_that_hooks_did_not_ask_for_is_none_of_their_questions(own_state: Any) -> None:
    """The person read the call before hooks changed it."""
    change = "{id: change, on: tool.before, then: {replace: {in: input.command, pattern: push a, with: push b}}}"
    config = own_state / "hookline.yaml"
    config.write_text(f"hooks: [{change}, {{id: ask, on: tool.before, then: {{ask: Really?}}}}]")
    trial = Trial([["git push a"]])
    processes = Processes(trial, config, name="bash", requires_approval=True)
    assert processes.run() == ["git push a"]
    assert processes.approve() == ["git push b"]
    assert trial.ran == []
    assert processes.approve() == []
    assert trial.ran == ["git push b"]


@pytest.mark.parametrize("gives_back", [True, False])
def test_a_program_that_keeps_no_metadata_of_messages_gives_back_those_of_the_question(gives_back: bool) -> None:
    trial = Trial([["git push a"]])
    processes = Processes(trial, name="bash")
    assert processes.run() == ["git push a"]
    processes.messages[-1].metadata = None
    assert processes.approve(metadata=processes.metadata if gives_back else {}) == (
        [] if gives_back else ["git push a"]
    )
    assert trial.ran == (["git push a"] if gives_back else [])
