"""smolagents: `HooklineHooks().install(agent)`.

The agent's tools are wrapped in place, so that calls from generated code have a decision too.
"""

from __future__ import annotations

import weakref
from typing import Any, Final, Unpack

from hookline.errors import Denied, HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall, current_run
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.support import PROMPT_EVENTS, SESSION_EVENTS, SUBAGENT_EVENTS, TOOL_EVENTS, FrameworkSupport
from hookline.hooks.event import deep_equal
from hookline.hosts.python.guard import to_plain_value

with extra_required("hookline.frameworks.smolagents needs smolagents", "smolagents"):
    from smolagents import AgentError, FinalAnswerTool, LocalPythonExecutor, MultiStepAgent, Tool

SUPPORT: Final = FrameworkSupport(
    name="smolagents",
    title="smolagents",
    package="smolagents",
    extra="smolagents",
    version="1.26.0",
    installs_as="HooklineHooks().install(agent)",
    events=(*SESSION_EVENTS, *PROMPT_EVENTS, *TOOL_EVENTS, *SUBAGENT_EVENTS, "stop"),
    answers={
        "ask": "your function; without one it is a no",
        "request": "no: hooks do not see requests",
        "halt": "yes: the run ends with `RunStopped`",
    },
    covers_subagents="yes: managed agents",
)
_CODE_TOOL: Final = "python_interpreter"


class RunStopped(Exception):
    """A hook denied the prompt, or halted the agent. The message is its reason."""


class HooklineHooks:
    """Hooks for any number of agents."""

    def __init__(self, **options: Unpack[HookOptions]) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._agents: weakref.WeakKeyDictionary[AgentRun, Any] = weakref.WeakKeyDictionary()

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    def install(self, agent: Any) -> Any:
        """Puts the hooks around the agent, its tools and its managed agents, and returns it."""
        if not isinstance(agent, MultiStepAgent):
            raise HooklineError(f"{type(agent).__name__} is not an agent of smolagents")
        if getattr(agent, "hookline", None) is self:
            return agent
        if hasattr(agent, "hookline"):
            raise HooklineError("the agent has hooks already")
        executor = getattr(agent, "python_executor", None)
        if executor is not None and not isinstance(executor, LocalPythonExecutor):
            raise HooklineError("code that runs elsewhere calls tools there, where hooks cannot decide")
        agent.__class__ = _hooked_class(type(agent), self)
        if executor is not None:
            agent.python_executor = _HookedExecutor(executor, self)
        agent.final_answer_checks = [*agent.final_answer_checks, self._check_stop]
        self.guard_tools(agent)
        return agent

    def guard_tools(self, agent: Any) -> None:
        for tool in agent.tools.values():
            self.guard_tool(tool)
        for managed in agent.managed_agents.values():
            self.install(managed)

    def begin(self, agent: Any, task: str) -> tuple[AgentRun, str]:
        """Raises RunStopped."""
        self.guard_tools(agent)
        run = self.hooks.new_run(agent=agent.name or "")
        answer = self.hooks.run_sync(run.start(task))
        if answer.refusal is not None:
            raise RunStopped(answer.refusal)
        self._agents[run] = agent
        return run, answer.prompt

    def guard_tool(self, tool: Any) -> None:
        """Of all tools, only the one that ends a run does nothing."""
        if type(tool) is FinalAnswerTool or getattr(tool.forward, "hookline", None) is self:
            return
        inner = tool.forward

        def forward(*args: Any, **kwargs: Any) -> Any:
            asked = {**dict(zip(tool.inputs, args, strict=False)), **kwargs}
            call = FrameworkCall(tool.name, to_plain_value(asked))
            run = self.current()
            answer = self.hooks.run_sync(run.before_tool(call))
            if answer.input is None:
                self._interrupt(run)
                return answer.refusal
            given = _restored(asked, call.input, answer.input)
            try:
                with run.tool_context():
                    result = inner(**given)
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                after = self.hooks.run_sync(run.after_tool(call, None, input=answer.input, error=text))
                if after.is_changed or after.notes:
                    raise RuntimeError(after.text) from None
                raise
            after = self.hooks.run_sync(run.after_tool(call, to_plain_value(result), input=answer.input))
            self._interrupt(run)
            return after.text if after.is_changed or after.notes else result

        forward.hookline = self  # type: ignore[attr-defined]
        tool.forward = forward

    def current(self) -> AgentRun:
        found = current_run.get()
        return found if found is not None and not found.is_over else self.hooks.new_run()

    def judge_code(self, code: str) -> str:
        """The code as the hooks left it. Raises Denied."""
        run = self.current()
        call = FrameworkCall(_CODE_TOOL, {"code": code})
        answer = self.hooks.run_sync(run.before_tool(call))
        if answer.input is None:
            self._interrupt(run)
            raise Denied(answer.refusal or "Not approved.")
        left = answer.input.get("code")
        if not isinstance(left, str):
            raise Denied("a hook replaced the code with something else")
        return left

    def _interrupt(self, run: AgentRun) -> None:
        agent = self._agents.get(run)
        if run.halted is not None and agent is not None:
            agent.interrupt()

    def _check_stop(self, final_answer: Any, memory: Any, agent: Any = None) -> bool:
        reason = self.hooks.run_sync(self.current().stop(str(final_answer)))
        if reason is not None:
            raise ValueError(reason)  # the agent reads it and goes on
        return True


def _restored(asked: dict[str, Any], plain: dict[str, Any], left: dict[str, Any]) -> dict[str, Any]:
    """Only what hooks changed is replaced; other arguments stay the same objects."""
    return {name: asked[name] if name in asked and deep_equal(plain[name], new) else new for name, new in left.items()}


def _hooked_class(kind: Any, hookline: HooklineHooks) -> type:
    def run(self: Any, task: str, stream: bool = False, **kwargs: Any) -> Any:
        begun, prompt = hookline.begin(self, task)
        steps = _stream(self, begun, prompt, kwargs)
        if stream:
            return steps
        token = current_run.set(begun)
        try:
            return kind.run(self, prompt, stream=False, **kwargs)
        except AgentError as error:
            if begun.halted is not None:
                raise RunStopped(begun.halted) from error
            raise
        finally:
            current_run.reset(token)
            hookline.hooks.run_sync(begun.finish())

    def _stream(self: Any, begun: AgentRun, prompt: str, kwargs: dict[str, Any]) -> Any:
        steps = iter(kind.run(self, prompt, stream=True, **kwargs))
        try:
            while True:
                token = current_run.set(begun)  # only while the agent works, not while the program does
                try:
                    step = next(steps)
                except StopIteration:
                    return
                except AgentError as error:
                    if begun.halted is not None:
                        raise RunStopped(begun.halted) from error
                    raise
                finally:
                    current_run.reset(token)
                yield step
        finally:
            hookline.hooks.run_sync(begun.finish())

    def execute_tool_call(self: Any, tool_name: str, arguments: Any) -> Any:
        hookline.guard_tools(self)  # a tool may have been added while the agent runs
        return kind.execute_tool_call(self, tool_name, arguments)

    members = {"run": run, "hookline": hookline, "__module__": kind.__module__, "__doc__": kind.__doc__}
    if hasattr(kind, "execute_tool_call"):
        members["execute_tool_call"] = execute_tool_call
    return type(kind.__name__, (kind,), members)


class _HookedExecutor:
    """Runs the agent's code. The code itself is a call of `python_interpreter`."""

    def __init__(self, inner: Any, hookline: HooklineHooks) -> None:
        self._inner, self._hookline = inner, hookline

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def send_tools(self, tools: dict[str, Any]) -> None:
        for tool in tools.values():
            if isinstance(tool, Tool):
                self._hookline.guard_tool(tool)
        self._inner.send_tools(tools)

    def __call__(self, code: str) -> Any:
        return self._inner(self._hookline.judge_code(code))
