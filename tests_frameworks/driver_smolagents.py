"""Runs a trial with smolagents."""

from __future__ import annotations

from typing import Any

from smolagents import CodeAgent, Model, Tool, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
from trial import Trial

from hookline.frameworks.smolagents import HooklineHooks, RunStopped

PAUSES = False


class TrialModel(Model):
    def __init__(self, trial: Trial, writes_code: bool = False) -> None:
        super().__init__()
        self.trial, self.writes_code = trial, writes_code

    def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
        step = self.trial.next_step("\n".join(str(each.content) for each in messages))
        if self.writes_code:
            lines = (
                [f'final_answer("{step}")'] if isinstance(step, str) else [f'print(bash(command="{c}"))' for c in step]
            )
            return ChatMessage(role="assistant", content="<code>\n" + "\n".join(lines) + "\n</code>")
        calls = (
            [("final_answer", {"answer": step})] if isinstance(step, str) else [("bash", {"command": c}) for c in step]
        )
        made = [
            ChatMessageToolCall(
                function=ChatMessageToolCallFunction(name=n, arguments=a), id=self.trial.call_id(i), type="function"
            )
            for i, (n, a) in enumerate(calls)
        ]
        return ChatMessage(role="assistant", content="", tool_calls=made)


def make_tool(trial: Trial) -> Tool:
    class Bash(Tool):
        name = "bash"
        description = "Runs a command."
        inputs = {  # noqa: RUF012
            "command": {"type": "string", "description": "the command"},
            "mode": {"type": "string", "description": "how to run it", "nullable": True},
        }
        output_type = "string"

        def forward(self, command: str, mode: str | None = "own") -> str:
            return trial.bash(command, mode)

    return Bash()


def _guarded(trial: Trial, hooks: HooklineHooks, work: Any) -> None:
    try:
        trial.final = str(work())
    except RunStopped as stopped:
        trial.halted = str(stopped)
    finally:
        hooks.close()


def _agent(trial: Trial, kind: Any = ToolCallingAgent, **more: Any) -> Any:
    model = TrialModel(trial, writes_code=kind is CodeAgent)
    return kind(tools=[make_tool(trial)], model=model, verbosity_level=0, max_steps=12, **{"name": "main", **more})


def run(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(_agent(trial))
    _guarded(trial, hooks, lambda: agent.run(trial.prompt))


def run_stream(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(_agent(trial))

    def go() -> Any:
        last = None
        for last in agent.run(trial.prompt, stream=True):  # noqa: B007
            pass
        return getattr(last, "output", last)

    _guarded(trial, hooks, go)


def run_decorated(trial: Trial) -> None:
    """A tool made of a function."""

    @tool
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command.

        Args:
            command: the command
            mode: how to run it
        """
        return trial.bash(command, mode)

    hooks = HooklineHooks(**trial.options)
    agent = ToolCallingAgent(tools=[bash], model=TrialModel(trial), verbosity_level=0, max_steps=12)
    hooks.install(agent)
    _guarded(trial, hooks, lambda: agent.run(trial.prompt))


def run_late_tool(trial: Trial) -> None:
    """A tool that is added while the agent runs."""
    hooks = HooklineHooks(**trial.options)

    def add(step: Any, agent: Any) -> None:
        agent.tools["bash"] = make_tool(trial)

    class Model(TrialModel):
        is_first = True

        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            if not self.is_first:
                return super().generate(messages, *args, **kwargs)
            self.is_first = False
            unknown = ChatMessageToolCallFunction(name="unknown", arguments={})
            return ChatMessage(
                role="assistant",
                content="",
                tool_calls=[ChatMessageToolCall(function=unknown, id="u", type="function")],
            )

    agent = ToolCallingAgent(tools=[], model=Model(trial), step_callbacks=[add], verbosity_level=0, max_steps=12)
    hooks.install(agent)
    _guarded(trial, hooks, lambda: agent.run(trial.prompt))


def run_code_with_late_tool(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(_agent(trial, CodeAgent))
    send = agent.python_executor.send_tools
    agent.python_executor.send_tools = lambda tools: send({**tools, "bash": make_tool(trial)})
    _guarded(trial, hooks, lambda: agent.run(trial.prompt))


def run_code(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    agent = hooks.install(_agent(trial, CodeAgent))
    _guarded(trial, hooks, lambda: agent.run(trial.prompt))


def run_managed(trial: Trial) -> None:
    hooks = HooklineHooks(**trial.options)
    inner = _agent(trial, name="inner", description="Another agent.")

    class Outer(TrialModel):
        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            done = any(
                "final answer" in str(each.content).lower() and "inner" in str(each.content) for each in messages[2:]
            )
            name, arguments = ("final_answer", {"answer": "outer"}) if done else ("inner", {"task": "Do it."})
            call = ChatMessageToolCall(
                function=ChatMessageToolCallFunction(name=name, arguments=arguments),
                id=f"o{len(messages)}",
                type="function",
            )
            return ChatMessage(role="assistant", content="", tool_calls=[call])

    outer = ToolCallingAgent(tools=[], managed_agents=[inner], model=Outer(trial), verbosity_level=0, max_steps=3)
    hooks.install(outer)
    _guarded(trial, hooks, lambda: outer.run("Delegate it."))


PATHS = {
    "sync": run,
    "stream": run_stream,
    "decorated": run_decorated,
    "late tool": run_late_tool,
    "code": run_code,
    "code with a late tool": run_code_with_late_tool,
    "managed agent": run_managed,
}
AGENT_PATHS = ("sync", "stream", "decorated")
