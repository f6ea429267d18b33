"""smolagents: `HooklineHooks().install(agent)`.

The agent's tools are wrapped in place, so that calls from generated code have a decision too, and so is its model.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from typing import Any, Final, Unpack

from hookline.errors import Denied, HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall, ResultAnswer, current_run
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import deep_equal
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import JudgedIterator, to_judged_value, to_plain_value

with extra_required("hookline.frameworks.smolagents needs smolagents", "smolagents"):
    from smolagents import AgentError, FinalAnswerTool, LocalPythonExecutor, MultiStepAgent, Tool
    from smolagents.local_python_executor import InterpreterError
    from smolagents.models import ChatMessage, MessageRole, agglomerate_stream_deltas
    from smolagents.tools import PipelineTool

SUPPORT: Final = FrameworkSupport(
    name="smolagents",
    title="smolagents",
    package="smolagents",
    extra="smolagents",
    version="1.26.0",
    installs_as="HooklineHooks().install(agent)",
    events=ALL_EVENTS,
    answers={
        "ask": "your function; without one it is a no",
        "halt": "yes: the run ends with `RunStopped`",
    },
    covers_subagents="yes: managed agents",
)
_CODE_TOOL: Final = "python_interpreter"
_COLLECTIONS: Final[tuple[Any, ...]] = (list, tuple, set, frozenset)
_ROLES: Final = {MessageRole.TOOL_CALL: "assistant", MessageRole.TOOL_RESPONSE: "user"}
"""What models read for the roles that only smolagents has."""


_in_model: Final[ContextVar[bool]] = ContextVar("hookline_in_model", default=False)


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
        executor = self.guard_executor(getattr(agent, "python_executor", None))
        agent.__class__ = _hooked_class(type(agent), self)
        if executor is not None:
            agent.python_executor = executor
        agent.final_answer_checks = [*agent.final_answer_checks, self._check_stop]
        self.guard_tools(agent)
        return agent

    def guard_tools(self, agent: Any) -> None:
        self.guard_model(agent.model)
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
        if type(tool).__call__ not in (Tool.__call__, PipelineTool.__call__):
            raise HooklineError(f"{tool.name} has a __call__ of its own, where hooks cannot decide: use forward")
        inner = tool.forward

        def forward(*args: Any, **kwargs: Any) -> Any:
            return self._call_tool(tool, inner, {**dict(zip(tool.inputs, args, strict=False)), **kwargs})

        forward.hookline = self  # type: ignore[attr-defined]
        tool.forward = forward

    def _call_tool(self, tool: Any, inner: Callable[..., Any], asked: dict[str, Any]) -> Any:
        call = FrameworkCall(tool.name, to_plain_value(asked), defaults=_defaults_of(tool, inner))
        run = self.current()
        answer = self.hooks.run_sync(run.before_tool(call))
        if answer.input is None:
            self._interrupt(run)
            return answer.refusal
        given = _restored(asked, call.input, answer.input)
        try:
            with run.tool_context():
                result = to_judged_value(inner(**given))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            after = self.hooks.run_sync(run.after_tool(call, None, input=answer.input, error=text))
            if after.is_changed or after.notes:
                raise RuntimeError(after.text) from None
            raise
        after = self.hooks.run_sync(run.after_tool(call, _hook_value(result), input=answer.input))
        self._interrupt(run)
        if after.notes:
            return after.text
        return after.value if after.is_changed else result

    def guard_executor(self, executor: Any) -> Any:
        """What runs the agent's code, with hooks around it."""
        if executor is None or isinstance(executor, _HookedExecutor):
            return executor
        if not isinstance(executor, LocalPythonExecutor):
            raise HooklineError("code that runs elsewhere calls tools there, where hooks cannot decide")
        return _HookedExecutor(executor, self)

    def guard_model(self, model: Any) -> Any:
        for name, wrap in (("generate", self._wrap_generate), ("generate_stream", self._wrap_stream)):
            inner = getattr(model, name, None)
            if inner is not None and getattr(inner, "hookline", None) is not self:
                wrapped = wrap(inner)
                wrapped.hookline = self  # type: ignore[attr-defined]
                setattr(model, name, wrapped)
        return model

    def _wrap_generate(self, inner: Any) -> Callable[..., Any]:
        def generate(messages: list[Any], *args: Any, **kwargs: Any) -> Any:
            run = self._running_agent()
            if run is None:
                return inner(messages, *args, **kwargs)
            sent = self._before_model(run, messages)
            message = self._call_model(run, lambda: inner(sent, *args, **kwargs))
            left = self._after_model(run, message)
            return message if left == _visible_text(message) else _with_visible_text(message, left)

        return generate

    def _wrap_stream(self, inner: Any) -> Callable[..., Any]:
        def generate_stream(messages: list[Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
            run = self._running_agent()
            if run is None:
                yield from inner(messages, *args, **kwargs)
                return
            sent, deltas = self._before_model(run, messages), []
            stream = iter(inner(sent, *args, **kwargs))
            while (delta := self._call_model(run, lambda: next(stream, None))) is not None:
                deltas.append(delta)
                yield delta
            self._after_model(run, agglomerate_stream_deltas(deltas))

        return generate_stream

    def _call_model(self, run: AgentRun, call: Callable[[], Any]) -> Any:
        token = _in_model.set(True)
        try:
            return call()
        except Exception as error:
            self.hooks.run_sync(run.model_failed(error))
            raise
        finally:
            _in_model.reset(token)

    def _running_agent(self) -> AgentRun | None:
        """None if the program itself, the model, or an agent without these hooks calls the model."""
        found = current_run.get()
        is_ours = found is not None and found in self._agents and not found.is_over
        return found if is_ours and not _in_model.get() else None

    def _before_model(self, run: AgentRun, messages: list[Any]) -> list[Any]:
        """The messages as the hooks left them. Raises RunStopped."""
        has_system = bool(messages) and messages[0].role == MessageRole.SYSTEM
        first, rest = (messages[:1], messages[1:]) if has_system else ([], messages)
        system = _text_of(first[0]) if first else None
        answer = self.hooks.run_sync(run.before_model(rest, FORMAT, system))
        if answer.halted is not None:
            raise RunStopped(answer.halted)
        if answer.system is not None:
            first = [_create("system", answer.system)]
        return [*first, *(rest if answer.messages is None else answer.messages)]

    def _after_model(self, run: AgentRun, message: Any) -> str:
        return self.hooks.run_sync(run.after_model(_visible_text(message), _calls_of(message)))

    def current(self) -> AgentRun:
        found = current_run.get()
        return found if found is not None and not found.is_over else self.hooks.new_run()

    def run_code(self, executor: Any, code: str) -> Any:
        """Runs the code as the hooks left it. What it prints and its last value are its result. Raises Denied."""
        run = self.current()
        call = FrameworkCall(_CODE_TOOL, {"code": code})
        answer = self.hooks.run_sync(run.before_tool(call))
        if answer.input is None:
            self._interrupt(run)
            raise Denied(answer.refusal or "Not approved.")
        left = answer.input.get("code")
        if not isinstance(left, str):
            raise Denied("a hook replaced the code with something else")
        try:
            output = executor(left)
        except Exception as error:
            text = _join_lines(executor.state.get("_print_outputs", ""), error)
            after = self.hooks.run_sync(run.after_tool(call, None, input=answer.input, error=text))
            if not after.is_changed and not after.notes:
                raise
            executor.state["_print_outputs"] = ""  # it is in the text
            raise InterpreterError(after.text) from None
        value = None if output.output is None else _hook_value(output.output)
        shown = value if not output.logs else _join_lines(output.logs, "" if value is None else value_text(value))
        after = self.hooks.run_sync(run.after_tool(call, shown, input=answer.input))
        return _code_output(output, after)

    def _interrupt(self, run: AgentRun) -> None:
        agent = self._agents.get(run)
        if run.halted is not None and agent is not None:
            agent.interrupt()

    def _check_stop(self, final_answer: Any, memory: Any, agent: Any = None) -> bool:
        reason = self.hooks.run_sync(self.current().stop(str(final_answer)))
        if reason is not None:
            raise ValueError(reason)  # the agent reads it and goes on
        return True


def _text_of(message: Any) -> str:
    content = message.content
    if not isinstance(content, list):
        return content or ""
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _visible_text(message: Any) -> str:
    """The message's text, or the answer if it only calls `final_answer`."""
    call = _answering_call(message)
    return _text_of(message) if call is None else str(call.function.arguments["answer"])


def _with_visible_text(message: Any, text: str) -> Any:
    call = _answering_call(message)
    if call is None:
        return dataclasses.replace(message, content=text)
    function = dataclasses.replace(call.function, arguments={**call.function.arguments, "answer": text})
    return dataclasses.replace(message, tool_calls=[dataclasses.replace(call, function=function)])


def _answering_call(message: Any) -> Any:
    calls = list(message.tool_calls or ())
    call = calls[0] if len(calls) == 1 and not _text_of(message) else None
    arguments = call.function.arguments if call is not None and call.function.name == FinalAnswerTool.name else None
    return call if isinstance(arguments, dict) and isinstance(arguments.get("answer"), str) else None


def _calls_of(message: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": value_text(to_plain_value(call.function.arguments))},
        }
        for call in message.tool_calls or ()
    ]


def _read(message: Any) -> PlainMessage:
    role = _ROLES.get(message.role, str(getattr(message.role, "value", message.role)))
    calls = _calls_of(message)
    return {"role": role, "content": _text_of(message), **({"tool_calls": calls} if calls else {})}


def _with_text(message: Any, text: str) -> Any:
    """Pictures stay."""
    content = message.content
    others = [part for part in content if part.get("type") != "text"] if isinstance(content, list) else []
    return dataclasses.replace(message, content=[{"type": "text", "text": text}, *others])


def _create(role: str, text: str) -> Any:
    return ChatMessage(role=MessageRole(role), content=[{"type": "text", "text": text}])


FORMAT: Final[MessageFormat[Any]] = MessageFormat(_read, _with_text, _create)


def _join_lines(*parts: Any) -> str:
    return "\n".join(text for part in parts if (text := str(part)))


def _code_output(output: Any, after: ResultAnswer) -> Any:
    """What the code has left, as the hooks left it."""
    if not after.is_changed:
        return dataclasses.replace(output, logs=_join_lines(output.logs, after.notes)) if after.notes else output
    if output.is_final_answer:
        return dataclasses.replace(output, output=after.value, logs="")
    return dataclasses.replace(output, output=None, logs=after.text)


def _hook_value(result: Any) -> Any:
    """Data as it is. Of another object, such as a table, the model reads its text."""
    return to_plain_value(result) if _is_data(result) else str(result)


def _is_data(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_data, value.values()))
    if isinstance(value, list | tuple | set | frozenset | JudgedIterator):
        return all(map(_is_data, value.items if isinstance(value, JudgedIterator) else value))
    has_fields = dataclasses.is_dataclass(value) or hasattr(type(value), "model_dump")
    return value is None or has_fields or isinstance(value, str | int | float | bytes)


def _defaults_of(tool: Any, function: Any) -> ToolDefaults:
    """A tool of an MCP server takes any arguments, and its inputs say what the server does."""
    return defaults_of(tool, DefaultSources(None, function, lambda: {"properties": tool.inputs}))


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
    members["model"] = _guarded_attribute("model", hookline.guard_model)
    if hasattr(kind, "create_python_executor"):
        members["python_executor"] = _guarded_attribute("python_executor", hookline.guard_executor)
    if hasattr(kind, "execute_tool_call"):
        members["execute_tool_call"] = execute_tool_call
    return type(kind.__name__, (kind,), members)


def _to_trusted_value(value: Any) -> Any:
    """What code gives a tool. A class that the code made could say one thing to hooks and another to the tool."""
    for kind in _COLLECTIONS:
        if isinstance(value, kind):
            items = kind(map(_to_trusted_value, kind.__iter__(value)))
            return value if _is_importable(type(value)) and all(map(operator.is_, items, value)) else items
    if isinstance(value, dict):
        return {_to_trusted_value(key): _to_trusted_value(held) for key, held in dict.items(value)}
    read = to_judged_value(value)
    if isinstance(read, JudgedIterator):
        return JudgedIterator(map(_to_trusted_value, read.items))
    return value if _is_importable(type(value)) else to_plain_value(value)


def _is_importable(kind: Any) -> bool:
    """False for classes that generated code made, and those inside of functions."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return kind is type(None) or found is kind


def _guarded_attribute(name: str, guard: Callable[[Any], Any]) -> property:
    """The program may put another object there, also while the agent runs."""

    def write(self: Any, value: Any) -> None:
        self.__dict__[name] = guard(value)

    return property(lambda self: self.__dict__[name], write)


class _HookedExecutor:
    """Runs the agent's code. The code itself is a call of `python_interpreter`."""

    def __init__(self, inner: Any, hookline: HooklineHooks) -> None:
        self._inner, self._hookline = inner, hookline
        self._context = copy_context()  # of the agent's step: smolagents runs the code in a thread without it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def send_tools(self, tools: dict[str, Any]) -> None:
        self._inner.send_tools({name: self._guard_value(tool) for name, tool in tools.items()})

    def send_variables(self, variables: dict[str, Any]) -> None:
        """The program may give the code a tool or an agent with its task."""
        self._inner.send_variables({name: self._guard_value(value) for name, value in variables.items()})

    def _guard_value(self, value: Any) -> Any:
        """A value for the code. Tools and agents in it have hooks."""
        if isinstance(value, Tool):
            self._hookline.guard_tool(value)
            return self._callable_only(value)
        if isinstance(value, MultiStepAgent):
            return self._callable_only(self._hookline.install(value))
        if type(value) is dict:
            given = {key: self._guard_value(held) for key, held in value.items()}
            return value if all(map(operator.is_, given.values(), value.values())) else given
        if type(value) in _COLLECTIONS:
            items = [self._guard_value(item) for item in value]
            return value if all(map(operator.is_, items, value)) else type(value)(items)
        return value

    def _callable_only(self, tool: Any) -> Callable[..., Any]:
        """Code can reach what an object has: the client of a tool, or the tools of a managed agent. A function has nothing."""

        def call(*args: Any, **kwargs: Any) -> Any:
            named = {name: _to_trusted_value(value) for name, value in kwargs.items()}
            return self._guard_value(self._context.copy().run(tool, *map(_to_trusted_value, args), **named))

        return call

    def __call__(self, code: str) -> Any:
        self._context = copy_context()
        return self._hookline.run_code(self._inner, code)
