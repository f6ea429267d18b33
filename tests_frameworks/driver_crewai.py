"""Runs a trial with CrewAI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, ClassVar

from crewai import Agent, Crew, Flow, Process, Task
from crewai.flow.flow import start
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool, tool
from trial import Trial

from hookline.frameworks.crewai import HooklineHooks, RunStopped

PAUSES = False
CANNOT = {"continue": True}


class TrialModel(BaseLLM):
    trial: Any = None
    writes_text: bool = False

    def __init__(self, trial: Trial, writes_text: bool = False) -> None:
        super().__init__(model="trial", trial=trial, writes_text=writes_text)

    def supports_function_calling(self) -> bool:
        return not self.writes_text

    def call(self, messages: Any, tools: Any = None, **kwargs: Any) -> Any:
        step = self.trial.next_step("\n".join(str(each.get("content")) for each in messages))
        if self.writes_text:
            return _as_text(step)
        if isinstance(step, str):
            return step
        return [_call(self.trial.call_id(i), "bash", {"command": command}) for i, command in enumerate(step)]

    async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        return self.call(messages, *args, **kwargs)


def _call(id: str, name: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _as_text(step: list[str] | str) -> str:
    if isinstance(step, str):
        return f"Thought: I know.\nFinal Answer: {step}"
    return f"Thought: I need it.\nAction: bash\nAction Input: {json.dumps({'command': step[0]})}"


def make_tool(trial: Trial) -> BaseTool:
    class Bash(BaseTool):
        name: str = "bash"
        description: str = "Runs a command."

        def _run(self, command: str, mode: str = "own") -> str:
            return trial.bash(command, mode)

    return Bash()


class ListedBash(BaseTool):
    """A tool that a flow's file can name."""

    ran: ClassVar[list[str]] = []
    name: str = "bash"
    description: str = "Runs a command."

    def _run(self, command: str) -> str:
        self.ran.append(command)
        return "s3cret"


def make_agent(trial: Trial, **more: Any) -> Agent:
    options = {"role": "main", "llm": TrialModel(trial), "tools": [make_tool(trial)], "max_retry_limit": 0, **more}
    return Agent(goal="Work.", backstory="You work.", verbose=False, **options)


def make_crew(trial: Trial, agent: Agent | None = None, **more: Any) -> Crew:
    worker = agent or make_agent(trial)
    task = Task(description=trial.prompt, expected_output="The result.", agent=worker)
    return Crew(agents=[worker], tasks=[task], verbose=False, **more)


def _with_hooks(trial: Trial, work: Callable[[], Any], **more: Any) -> None:
    hooks = HooklineHooks(**{**more, **trial.options}).install()
    try:
        trial.final = str(work())
    except RunStopped as stopped:
        trial.halted = str(stopped)
    finally:
        hooks.close()


def run(trial: Trial) -> None:
    _with_hooks(trial, lambda: make_crew(trial).kickoff())


def run_async(trial: Trial) -> None:
    _with_hooks(trial, lambda: asyncio.run(make_crew(trial).akickoff()))


def run_thread(trial: Trial) -> None:
    _with_hooks(trial, lambda: asyncio.run(make_crew(trial).kickoff_async()))


def run_stream(trial: Trial) -> None:
    def go() -> Any:
        output = make_crew(trial, stream=True).kickoff()
        for _ in output:
            pass
        return output.result

    _with_hooks(trial, go)


def run_each(trial: Trial) -> None:
    _with_hooks(trial, lambda: make_crew(trial).kickoff_for_each(inputs=[{}])[0])


def run_agent(trial: Trial) -> None:
    """Without a crew."""
    _with_hooks(trial, lambda: make_agent(trial).kickoff(trial.prompt))


def run_agent_async(trial: Trial) -> None:
    _with_hooks(trial, lambda: asyncio.run(make_agent(trial).kickoff_async(trial.prompt)))


def run_async_task(trial: Trial) -> None:
    def go() -> Any:
        agent = make_agent(trial)
        task = Task(description=trial.prompt, expected_output="The result.", agent=agent, async_execution=True)
        return Crew(agents=[agent], tasks=[task], verbose=False).kickoff()

    _with_hooks(trial, go)


def run_decorated(trial: Trial) -> None:
    """A tool made of a function."""

    @tool("bash")
    def bash(command: str, mode: str = "own") -> str:
        """Runs a command."""
        return trial.bash(command, mode)

    _with_hooks(trial, lambda: make_crew(trial, make_agent(trial, tools=[bash])).kickoff())


class OneByOne(Trial):
    """For models that write one call at a time."""

    def __init__(self, trial: Trial) -> None:
        self.__dict__ = trial.__dict__
        self.steps = [[command] for commands in trial.steps for command in commands]


def run_react(trial: Trial) -> None:
    one = OneByOne(trial)
    model = TrialModel(one, writes_text=True)
    _with_hooks(one, lambda: make_crew(one, make_agent(one, llm=model)).kickoff())


def run_react_async(trial: Trial) -> None:
    one = OneByOne(trial)
    model = TrialModel(one, writes_text=True)
    _with_hooks(one, lambda: asyncio.run(make_crew(one, make_agent(one, llm=model)).akickoff()))


class Outer(TrialModel):
    def call(self, messages: Any, tools: Any = None, **kwargs: Any) -> Any:
        if any(each.get("role") == "tool" for each in messages):
            return "outer"
        arguments = {"task": self.trial.prompt, "context": "All of it.", "coworker": "main"}
        return [_call("o", "delegate_work_to_coworker", arguments)]


def run_delegation(trial: Trial) -> None:
    def go() -> Any:
        inner, outer = make_agent(trial), make_agent(trial, role="outer", llm=Outer(trial), allow_delegation=True)
        task = Task(description="Delegate it.", expected_output="The result.", agent=outer)
        return Crew(agents=[outer, inner], tasks=[task], verbose=False).kickoff()

    _with_hooks(trial, go)


def run_hierarchy(trial: Trial) -> None:
    def go() -> Any:
        return make_crew(trial, process=Process.hierarchical, manager_llm=Outer(trial)).kickoff()

    _with_hooks(trial, go)


def run_flow(trial: Trial) -> None:
    def go() -> Any:
        class Work(Flow):
            @start()
            def work(self) -> Any:
                return make_crew(trial).kickoff()

        return Work().kickoff()

    _with_hooks(trial, go)


def _each_command(trial: Trial, call: Callable[[str], Any]) -> None:
    trial.requests.append("")
    for commands in trial.steps:
        for command in commands:
            call(command)


def run_direct(trial: Trial) -> None:
    """Flows, agents of other frameworks and programs run a tool without CrewAI's hooks."""
    made = make_tool(trial)
    calls = [
        lambda c: made.run(c),
        lambda c: made.run(command=c),
        lambda c: made.to_structured_tool().invoke({"command": c}),
    ]
    _with_hooks(trial, lambda: _each_command(trial, lambda command: calls[ord(command[-1]) % 3](command)))


def run_changed_after(trial: Trial) -> None:
    """Another hook changes the input after ours has decided."""
    from crewai.hooks import InterceptionPoint
    from crewai.hooks.dispatch import register, unregister

    def swap(context: Any) -> None:
        context.tool_input["command"] = context.tool_input["command"].removeprefix("echo safe ")

    safe = OneByOne(trial)
    safe.steps = [[f"echo safe {command}" for command in commands] for commands in trial.steps]

    def go() -> Any:
        register(InterceptionPoint.PRE_TOOL_CALL, swap)
        return make_crew(trial).kickoff()

    try:
        _with_hooks(trial, go)
    finally:
        unregister(InterceptionPoint.PRE_TOOL_CALL, swap)


PATHS = {
    "sync": run,
    "async": run_async,
    "thread": run_thread,
    "stream": run_stream,
    "for each": run_each,
    "agent": run_agent,
    "async agent": run_agent_async,
    "async task": run_async_task,
    "decorated": run_decorated,
    "ReAct": run_react,
    "async ReAct": run_react_async,
    "delegation": run_delegation,
    "hierarchy": run_hierarchy,
    "flow": run_flow,
    "direct": run_direct,
    "changed after": run_changed_after,
}
AGENT_PATHS = ("sync", "async", "thread", "stream", "agent", "decorated")
