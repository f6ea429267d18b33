"""Haystack: `Agent(…, hooks=hookline_hooks())`.

No hook of Haystack's is told that a run failed, so the methods that run an agent are wrapped too. Haystack puts values from the
state into a call after its hooks, so those that run a tool are wrapped as well: a call that no hook has decided about is decided
there.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Unpack, get_args

from hookline.errors import HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, CallAnswer, FrameworkCall, current_run
from hookline.frameworks.decided_call import DecidedCall
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.shape_readers import hints_of
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import deep_equal
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import new_call_id

with extra_required("hookline.frameworks.haystack needs Haystack", "haystack"):
    from haystack.components.agents import Agent
    from haystack.components.agents.state import State, replace_values
    from haystack.dataclasses import ChatMessage, TextContent
    from haystack.tools import Tool
    from haystack.tools.errors import ToolInvocationError

SUPPORT: Final = FrameworkSupport(
    name="haystack",
    title="Haystack",
    package="haystack-ai",
    extra="haystack",
    version="3.4.0",
    installs_as="Agent(…, hooks=hookline_hooks())",
    events=ALL_EVENTS,
    answers={
        "ask": "your function; without one it is a no",
        "halt": "yes: the reason is the run's `exit_reason`",
        "request": "yes, and the change stays in the agent's messages",
    },
    keeps_requests=True,
)


def hookline_hooks(**options: Unpack[HookOptions]) -> dict[str, list[Any]]:
    """A value for the agent's `hooks`. To add hooks of your own, put them before these in the lists."""
    _watch_runs()
    _guard_tools()
    shared = _Shared(FrameworkHooks(SUPPORT, options))
    points = ("before_run", "before_llm", "before_tool", "after_tool", "on_exit", "after_run")
    return {point: [HooklineHook(point, shared)] for point in points}


class _WatchedRun:
    """A run between its first and its last line, if the agent has hooks of ours."""

    def __init__(self) -> None:
        self.run: AgentRun | None = None
        self.is_requesting = False  # the model is being called

    async def end(self, error: BaseException | None) -> None:
        """The run that failed is over: what comes next in this context is no part of it."""
        if self.run is None or self.run.is_over:
            return
        if self.is_requesting and isinstance(error, Exception):
            await self.run.model_failed(error)
        await self.run.finish()


_watched_run: Final[ContextVar[_WatchedRun | None]] = ContextVar("haystack_watched_run", default=None)
_decided_calls: Final[ContextVar[Sequence[DecidedCall]]] = ContextVar("haystack_decided_calls", default=())
"""Those that the agent is about to run. Empty inside of a tool."""


def _check_order(agent: Any) -> None:
    """A hook after ours could change a call that is decided already."""
    listed = agent.hooks.get("before_tool", [])
    if any(isinstance(each, HooklineHook) for each in listed) and not isinstance(listed[-1], HooklineHook):
        raise HooklineError(
            "put your own hooks for before_tool before those of hookline: a later one can change a call"
        )


@contextmanager
def _watching(agent: Any) -> Iterator[_WatchedRun]:
    _check_order(agent)
    watched, outer = _WatchedRun(), current_run.get()
    token, calls = _watched_run.set(watched), _decided_calls.set(())
    try:
        yield watched
    finally:
        _decided_calls.reset(calls)
        _watched_run.reset(token)
        current_run.set(outer)


def _watch_runs() -> None:
    """Once for the process. Runs of agents without hooks of ours stay as they are."""
    if hasattr(Agent.run, "__wrapped__"):
        return
    run, run_async = Agent.run, Agent.run_async

    @functools.wraps(run)
    def watched_run(agent: Any, *args: Any, **kwargs: Any) -> Any:
        with _watching(agent) as watched:
            try:
                return run(agent, *args, **kwargs)
            except BaseException as error:
                if watched.run is not None:
                    watched.run.hooks.run_sync(watched.end(error))
                raise

    @functools.wraps(run_async)
    async def watched_run_async(agent: Any, *args: Any, **kwargs: Any) -> Any:
        with _watching(agent) as watched:
            try:
                return await run_async(agent, *args, **kwargs)
            except BaseException as error:
                await watched.end(error)
                raise

    Agent.run, Agent.run_async = watched_run, watched_run_async


def _guard_tools() -> None:
    """Once for the process. Calls of agents without hooks of ours stay as they are."""
    if hasattr(Tool.invoke, "__wrapped__"):
        return
    invoke, invoke_async = Tool.invoke, Tool.invoke_async

    @functools.wraps(invoke)
    def guarded(tool: Any, **kwargs: Any) -> Any:
        found = _find_decided(tool, kwargs)
        if found is None:
            return invoke(tool, **kwargs)
        decided, call = found
        given = _allowed(tool, decided, call, decided.answer_sync(call), kwargs)
        with _inside_tool():
            return invoke(tool, **given)

    @functools.wraps(invoke_async)
    async def guarded_async(tool: Any, **kwargs: Any) -> Any:
        found = _find_decided(tool, kwargs)
        if found is None:
            return await invoke_async(tool, **kwargs)
        decided, call = found
        given = _allowed(tool, decided, call, await decided.answer(call), kwargs)
        with _inside_tool():
            return await invoke_async(tool, **given)

    Tool.invoke, Tool.invoke_async = guarded, guarded_async


def _find_decided(tool: Any, kwargs: dict[str, Any]) -> tuple[DecidedCall, FrameworkCall] | None:
    """The decision that is nearest to the call, and the call as it is now."""
    listed = [each for each in _decided_calls.get() if each.call.name == tool.name]
    if not listed:
        return None
    input = to_plain_value({name: value for name, value in kwargs.items() if not _is_injected(name, value)})
    same = [each for each in listed if deep_equal(each.call.input, input)]
    less = [each for each in listed if deep_equal(each.call.input, {key: input.get(key) for key in each.call.input})]
    decided = (same or less or listed)[0]
    return decided, FrameworkCall(tool.name, input, decided.call.id, _defaults_of(tool))


def _is_injected(name: str, value: Any) -> bool:
    """What is Haystack's own, and no value."""
    return isinstance(value, State) or (name == "streaming_callback" and callable(value))


def _allowed(
    tool: Any, decided: DecidedCall, call: FrameworkCall, answer: CallAnswer, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments to run with. Raises the refusal."""
    if answer.input is None:
        raise ToolInvocationError(answer.refusal or "Not approved.", tool_name=tool.name)
    decided.mark_running(call, answer.input)
    if not answer.is_changed:
        return kwargs
    return {**{name: value for name, value in kwargs.items() if _is_injected(name, value)}, **answer.input}


@contextmanager
def _inside_tool() -> Iterator[None]:
    token = _decided_calls.set(())
    try:
        yield
    finally:
        _decided_calls.reset(token)


class HooklineHook:
    """One point of the agent's loop."""

    def __init__(self, point: str, shared: _Shared) -> None:
        self.allowed_hook_points = (point,)
        self._answer: Callable[[Any], Awaitable[None]] = getattr(shared, point)
        self._shared = shared

    def run(self, state: Any) -> None:
        self._shared.hooks.run_sync(_awaited(self._answer(state)))
        self._shared.set_current(state, self.allowed_hook_points[0])

    async def run_async(self, state: Any) -> None:
        await self._answer(state)
        self._shared.set_current(state, self.allowed_hook_points[0])

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self._shared.hooks.close()

    def to_dict(self) -> dict[str, Any]:
        raise HooklineError("hooks of hookline cannot be serialised: add them where you load the agent")


async def _awaited(work: Awaitable[None]) -> None:
    await work


class _Shared:
    """What the hooks of one agent know. Its methods are named after the points."""

    def __init__(self, hooks: FrameworkHooks) -> None:
        self.hooks = hooks
        self._runs: weakref.WeakKeyDictionary[Any, AgentRun] = weakref.WeakKeyDictionary()
        self._running: weakref.WeakKeyDictionary[Any, list[tuple[Any, DecidedCall]]] = weakref.WeakKeyDictionary()
        """The calls that run: as Haystack has them, and what was decided. Not every model gives them an id."""

    def set_current(self, state: Any, point: str) -> None:
        """Tools run after `before_tool`: an agent that one of them starts is a sub-agent."""
        if point in ("before_tool", "after_tool"):
            running = self._running.get(state, []) if point == "before_tool" else []
            _decided_calls.set(tuple(decided for _, decided in running))
            current_run.set(self._run_of(state) if point == "before_tool" else None)
        watched = _watched_run.get()
        if watched is not None:
            watched.run, watched.is_requesting = self._run_of(state), point == "before_llm"

    async def before_run(self, state: Any) -> None:
        run = self._run_of(state)
        messages = list(state.data["messages"])
        last = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role.value == "user"), None)
        answer = await run.start(None if last is None else _text_of(messages[last]))
        if answer.refusal is not None:
            _set(state, [*messages, ChatMessage.from_assistant(answer.refusal)])
            state.set("stop_run", answer.refusal)
        elif answer.is_changed and last is not None:
            messages[last] = _with_text(messages[last], answer.prompt)
            _set(state, messages)

    async def before_llm(self, state: Any) -> None:
        if state.data.get("stop_run") is not None:
            return
        run = self._run_of(state)
        messages = list(state.data["messages"])
        has_system = bool(messages) and messages[0].role.value == "system"
        first, rest = (messages[:1], messages[1:]) if has_system else ([], messages)
        answer = await run.before_model(rest, FORMAT, _text_of(first[0]) if first else None)
        if answer.halted is not None:
            state.set("stop_run", answer.halted)
        elif answer.system is not None or answer.messages is not None:
            first = first if answer.system is None else [_create("system", answer.system)]
            _set(state, [*first, *(rest if answer.messages is None else answer.messages)])

    async def before_tool(self, state: Any) -> None:
        """The calls of the last message run. A refused one gets its result before it, and is taken out."""
        run = self._run_of(state)
        messages = list(state.data["messages"])
        last = await self._after_model(run, messages[-1])
        kept, refused = [], []
        running = self._running[state] = list[tuple[Any, DecidedCall]]()
        tools = {tool.name: tool for tool in state.data.get("tools") or ()}
        for call in last.tool_calls:
            made = _call_of(call, tools.get(call.tool_name))
            answer = await run.before_tool(made)
            if answer.input is None:
                error = ChatMessage.from_tool(tool_result=answer.refusal or "Not approved.", origin=call, error=True)
                refused += [ChatMessage.from_assistant(tool_calls=[call]), error]
                continue
            changed = dataclasses.replace(call, arguments=answer.input) if answer.is_changed else call
            kept.append(changed)
            running.append((changed, DecidedCall(run, made, answer.input)))
        if kept == list(last.tool_calls) and last is messages[-1]:
            return
        rest = [ChatMessage.from_assistant(text=_text_of(last) or None, tool_calls=kept)] if kept else []
        _set(state, [*messages[:-1], *refused, *rest])

    async def after_tool(self, state: Any) -> None:
        messages = list(state.data["messages"])
        for at in range(len(messages) - 1, -1, -1):
            results = messages[at].tool_call_results
            if messages[at].tool_calls:
                break
            if not results:  # a hook before ours has put a message there
                continue
            decided = self._take_running(state, results[0].origin)
            if decided is not None and not decided.was_stopped:
                messages[at] = await self._after_result(decided, messages[at])
        _set(state, messages)

    def _take_running(self, state: Any, call: Any) -> DecidedCall | None:
        """None for a refused call, which has a result too. Calls may be equal, share an id, or have none."""
        running = self._running.get(state, [])
        if not running:
            return None
        return running.pop(next((at for at, (each, _) in enumerate(running) if each == call), 0))[1]

    async def _after_result(self, decided: DecidedCall, message: Any) -> Any:
        result, call = message.tool_call_results[0], decided.call
        value = to_plain_value(result.result)
        error = value_text(value) if result.error else None
        after = await decided.run.after_tool(call, None if result.error else value, input=call.input, error=error)
        if not after.is_changed and not after.notes:
            return message
        text = after.text if after.is_changed else f"{value_text(value)}\n{after.notes}"
        return ChatMessage.from_tool(tool_result=text, origin=result.origin, error=not after.ok)

    async def on_exit(self, state: Any) -> None:
        run = self._run_of(state)
        messages = list(state.data["messages"])
        if messages and messages[-1].role.value == "assistant":
            messages[-1] = await self._after_model(run, messages[-1])
            _set(state, messages)
        reason = await run.stop(_text_of(messages[-1]) if messages else "")
        if reason is not None:
            _set(state, [*messages, ChatMessage.from_user(reason)])
            state.set("continue_run", True)

    async def after_run(self, state: Any) -> None:
        await self._run_of(state).finish()

    async def _after_model(self, run: AgentRun, message: Any) -> Any:
        text = _text_of(message)
        left = await run.after_model(text, [_plain_call(call) for call in message.tool_calls])
        return message if left == text else _with_text(message, left)

    def _run_of(self, state: Any) -> AgentRun:
        run = self._runs.get(state)
        if run is None:
            run = self._runs[state] = self.hooks.new_run()
            self.hooks.drop_run(run)
        return run


def _set(state: Any, messages: list[Any]) -> None:
    state.set("messages", messages, handler_override=replace_values)


def _call_of(call: Any, tool: Any) -> FrameworkCall:
    """Haystack puts values from the state in later. Only then is it known which of their defaults apply."""
    defaults = NO_DEFAULTS if tool is None else _defaults_of(tool)
    later = getattr(tool, "inputs_from_state", None)
    defaults = defaults.without(later.values()) if later else defaults
    return FrameworkCall(call.tool_name, to_plain_value(call.arguments), call.id or new_call_id(), defaults)


def _defaults_of(tool: Any) -> ToolDefaults:
    """A function gets the arguments as they are. The schema of other tools says what they do."""
    function = tool.function or tool.async_function
    return defaults_of(tool, DefaultSources(None, function, tool.parameters, hidden=lambda: _injected_names(function)))


def _injected_names(function: Any) -> list[str]:
    hints = hints_of(function).items()
    return ["streaming_callback", *(name for name, hint in hints if State in (hint, *get_args(hint)))]


def _plain_call(call: Any) -> dict[str, Any]:
    arguments = value_text(to_plain_value(call.arguments))
    return {"id": call.id or "", "type": "function", "function": {"name": call.tool_name, "arguments": arguments}}


def _read(message: Any) -> PlainMessage:
    if message.tool_call_results:
        result = message.tool_call_results[0]
        text = value_text(to_plain_value(result.result))
        return {"role": "tool", "content": text, "tool_call_id": result.origin.id or ""}
    plain: PlainMessage = {"role": message.role.value, "content": _text_of(message)}
    if message.tool_calls:
        plain["tool_calls"] = [_plain_call(call) for call in message.tool_calls]
    return plain


def _with_text(message: Any, text: str) -> Any:
    if message.tool_call_results:
        result = message.tool_call_results[0]
        return ChatMessage.from_tool(tool_result=text, origin=result.origin, error=result.error, meta=message.meta)
    if message.role.value == "assistant":
        calls = list(message.tool_calls) or None
        return ChatMessage.from_assistant(text=text, tool_calls=calls, meta=message.meta)
    if message.role.value == "user":
        others = [part for part in message._content if not isinstance(part, TextContent)]
        return ChatMessage.from_user(content_parts=[text, *others], name=message.name, meta=message.meta)
    return _create(message.role.value, text)


def _text_of(message: Any) -> str:
    """All of it: `message.text` is only the first of several."""
    return "\n".join(message.texts)


def _create(role: str, text: str) -> Any:
    make = {"user": ChatMessage.from_user, "system": ChatMessage.from_system, "assistant": ChatMessage.from_assistant}
    return make[role](text)


FORMAT: Final[MessageFormat[Any]] = MessageFormat(_read, _with_text, _create)
