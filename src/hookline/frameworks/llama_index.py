"""LlamaIndex: `HooklineHooks().install(agent)`, for an agent, an `AgentWorkflow` or a tool.

LlamaIndex has no middleware. The agent and its tools get a subclass of their own class in place, and the agent a copy of
its LLM, so that whoever holds the agent runs it with hooks.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import itertools
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Unpack

from hookline.errors import HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall, current_run
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import deep_equal
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question, new_call_id
from hookline.lazy_dataclasses import dataclass, replace

with extra_required("hookline.frameworks.llama_index needs LlamaIndex", "llama-index"):
    from llama_index.core.agent.react.types import ObservationReasoningStep
    from llama_index.core.agent.workflow import AgentWorkflow, ReActAgent
    from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
    from llama_index.core.base.llms.types import ChatMessage, CompletionResponse, TextBlock, ToolCallBlock
    from llama_index.core.tools import AsyncBaseTool, BaseTool, ToolOutput
    from workflows.context import Context
    from workflows.errors import WorkflowRuntimeError
    from workflows.events import HumanResponseEvent, InputRequiredEvent
    from workflows.runtime.types.results import WaitingForEvent

SUPPORT: Final = FrameworkSupport(
    name="llama_index",
    title="LlamaIndex",
    package="llama-index-core",
    extra="llama-index",
    version="0.14.25",
    installs_as="HooklineHooks().install(agent)",
    events=ALL_EVENTS,
    answers={
        "ask": "yes, as an `InputRequiredEvent`",
        "halt": "yes: the run ends with `RunStopped`",
        "continue": "yes, except after a tool that returns directly",
    },
    pauses=True,
    covers_subagents="yes: the agents of an `AgentWorkflow`; put it in others",
)

_RUN_KEY: Final = "hookline_run"  # in the workflow's store
_THREAD_KEY: Final = "hookline_thread"
_MAX_ANSWERED: Final = 10_000
_QUESTION_KEY: Final = "hookline_question"  # in the event that calls a tool
_REQUESTS: Final = {
    "achat": ("messages", 0),
    "astream_chat": ("messages", 0),
    "achat_with_tools": ("chat_history", 2),
    "astream_chat_with_tools": ("chat_history", 2),
    "acomplete": ("prompt", 0),  # how a model that only completes text is asked for structured output
    "astream_complete": ("prompt", 0),
}
"""The argument that has what the model reads, and its place: decorators of LlamaIndex hide it from the signature."""


@dataclass(frozen=True, slots=True)
class _ToolStep:
    """The step of the workflow that calls a tool."""

    run: AgentRun
    context: Any
    id: str  # models may give several calls the same one
    prefix: str  # of the ids of its questions


class _Start:
    """A call of `run`, before its workflow has begun."""

    def __init__(self, has_thread: bool) -> None:
        self.has_thread = has_thread
        self.run: AgentRun | None = None


_tool_step: Final[ContextVar[_ToolStep | None]] = ContextVar("llama_index_tool_step", default=None)
_running_call: Final[ContextVar[FrameworkCall | None]] = ContextVar("llama_index_call", default=None)
_requesting_run: Final[ContextVar[AgentRun | None]] = ContextVar("llama_index_request", default=None)
_start: Final[ContextVar[_Start | None]] = ContextVar("llama_index_start", default=None)


class RunStopped(WorkflowRuntimeError):
    """A hook denied the prompt, or halted the agent. The message is its reason."""


class HooklineHooks:
    """Hooks for any number of agents and tools."""

    def __init__(self, **options: Unpack[HookOptions]) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._endings: set[asyncio.Future[None]] = set()
        self._answered: OrderedDict[str, None] = OrderedDict()  # questions whose call has begun

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    def install(self, target: Any) -> Any:
        """Puts the hooks around an agent, a workflow of agents or a tool, and returns it."""
        if isinstance(target, BaseTool):
            return self.guard_tool(target)
        if not isinstance(target, BaseWorkflowAgent | AgentWorkflow):
            raise HooklineError(f"{type(target).__name__} is not an agent, an AgentWorkflow or a tool of LlamaIndex")
        if not self._is_new(target):
            return target
        members = _workflow_members(type(target), self)
        if isinstance(target, BaseWorkflowAgent):
            members |= _agent_members(type(target), self)
        _change_class(target, members, self)
        for agent in target.agents.values() if isinstance(target, AgentWorkflow) else ():
            self.install(agent)
        if isinstance(target, BaseWorkflowAgent):
            self.hook_llm(target)
            for tool in target.tools or ():
                self.guard_tool(tool)
        return target

    def guard_tool(self, tool: Any) -> Any:
        """In place, so that calls by the program and by the LLM have a decision too."""
        if self._is_new(tool):
            _change_class(tool, _tool_members(type(tool), self), self)
        return tool

    def hook_llm(self, agent: Any) -> None:
        """A copy, because programs use the same LLM for other things than agents."""
        llm = agent.llm
        if getattr(llm, "hookline", None) is not self:
            agent.llm = copied = llm.model_copy()
            members = {name: _request_method(type(llm), name, self) for name in _REQUESTS if hasattr(llm, name)}
            _change_class(copied, members, self)

    def _is_new(self, target: Any) -> bool:
        owner = getattr(target, "hookline", None)
        if owner is not None and owner is not self:
            raise HooklineError(f"the {type(target).__name__} has other hooks already")
        return owner is None

    async def begin(self, workflow: Any, context: Any, start: Any) -> AgentRun:
        """Decides about the prompt in the event that starts the workflow. Raises RunStopped."""
        store, started = context.store, _start.get()
        thread = await store.get(_THREAD_KEY, default=None)
        if thread is None and started is not None and started.has_thread:
            thread = uuid.uuid4().hex
            await store.set(_THREAD_KEY, thread)
        run = self.hooks.new_run(thread=thread, agent=_name_of(workflow))
        if started is not None:
            started.run = run
        await store.set(_RUN_KEY, run.key)
        message = _prompt_message(start)
        prompt = _text_of(message)
        answer = await run.start(prompt)
        if answer.refusal is not None:
            await run.finish()
            raise RunStopped(answer.refusal)
        if answer.is_changed:
            _replace_prompt(start, message, answer.prompt)
        return run

    def finish_after(self, handler: Any, start: _Start) -> None:
        async def finish() -> None:
            with suppress(Exception, asyncio.CancelledError):  # for whoever awaits the handler
                await handler.stop_event_result()
            if start.run is not None:
                await start.run.finish()

        task = asyncio.ensure_future(finish())
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def run_of(self, context: Any, agent: str) -> AgentRun:
        """The run of a workflow's context; one that is resumed in another process is made."""
        key = await context.store.get(_RUN_KEY, default=None)
        if key is None:
            return self.current()
        return self.hooks.run_of(key, thread=await context.store.get(_THREAD_KEY, default=None), agent=agent)

    def current(self) -> AgentRun:
        found = current_run.get()
        return found if found is not None and not found.is_over else self.hooks.new_run()

    async def take_step(self, agent: Any, take: Callable[..., Any], context: Any, messages: list[Any]) -> Any:
        """One answer of the model, or several if hooks deny the stop. Raises RunStopped."""
        run = await self.run_of(context, agent.name)
        run.change_agent(agent.name)
        self.hook_llm(agent)
        while True:
            _raise_if_halted(run)
            with _requests_of(run):
                output = await take(messages)
            _raise_if_halted(run)
            if output.tool_calls or output.retry_messages:
                return output
            reason = await run.stop(output.response.content or "")
            if reason is None:
                return output
            messages = await _continue_with(agent, context, messages, output, reason)

    async def acall(self, tool: Any, call: FrameworkCall, asked: dict[str, Any], inner: Callable[..., Any]) -> Any:
        step = _tool_step.get()
        run = self.current() if step is None else step.run
        answer = await run.before_tool(call)
        keep = run.keep_decision if answer.question is None else run.keep_question
        event_id = ""
        if answer.question is not None:
            question = answer.question
            event_id = "" if step is None else _event_id(step, call, question)
            approved = step is not None and await _ask(step, event_id, question) and self._begins(event_id)
            answer = await run.before_tool(call, approved=approved, answered=question_id(question))
        if answer.input is None:
            return _error_output(tool, asked, answer.refusal or "Not approved.")
        try:
            with _execution(run, replace(call, input=answer.input)):
                output = await inner(_restored(asked, call.input, answer.input))
        except WaitingForEvent:
            keep(call, answer)  # the step starts from its beginning when the event comes
            self._answered.pop(event_id, None)
            raise
        except Exception as error:
            output = _error_output(tool, asked, str(error) or type(error).__name__)
        return await _after_tool(run, call, answer.input, output)

    def _begins(self, event_id: str) -> bool:
        """False if the call has begun: LlamaIndex starts its step again for each answer, and a person may send several."""
        if event_id in self._answered:
            return False
        self._answered[event_id] = None
        while len(self._answered) > _MAX_ANSWERED:
            self._answered.popitem(last=False)
        return True

    def call(self, tool: Any, call: FrameworkCall, asked: dict[str, Any], inner: Callable[..., Any]) -> Any:
        """Like acall, for a tool that is called without an event loop: nobody can be asked with an event."""
        step = _tool_step.get()
        run = self.current() if step is None else step.run
        answer = self.hooks.run_sync(run.before_tool(call))
        if answer.question is not None:
            answer = self.hooks.run_sync(run.before_tool(call, approved=False))
        if answer.input is None:
            return _error_output(tool, asked, answer.refusal or "Not approved.")
        try:
            with _execution(run, replace(call, input=answer.input)):
                output = inner(_restored(asked, call.input, answer.input))
        except Exception as error:
            output = _error_output(tool, asked, str(error) or type(error).__name__)
        return self.hooks.run_sync(_after_tool(run, call, answer.input, output))


def _change_class(target: Any, members: dict[str, Any], hookline: HooklineHooks) -> None:
    """Copies of the target have the hooks too."""
    kind: Any = type(target)
    metaclass: Any = type(kind)
    about = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    hooked = metaclass(kind.__name__, (kind,), {**about, "__annotations__": {"hookline": ClassVar[Any]}, **members})
    type.__setattr__(hooked, "hookline", hookline)
    try:
        object.__setattr__(target, "__class__", hooked)
    except TypeError as error:
        raise HooklineError(f"hooks cannot be put around a {kind.__name__}: {error}") from None


def _step_like(original: Any, function: Any) -> Any:
    """The workflow finds its steps by this mark."""
    function._step_config = original._step_config
    function.__name__ = original.__name__
    return function


def _workflow_members(kind: Any, hookline: HooklineHooks) -> dict[str, Any]:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        has_thread = any(isinstance(each, Context) for each in (*args, *kwargs.values()))
        start = _Start(has_thread)
        token = _start.set(start)
        try:
            handler = kind.run(self, *args, **kwargs)
        finally:
            _start.reset(token)
        hookline.finish_after(handler, start)
        return handler

    async def init_run(self: Any, ctx: Any, ev: Any) -> Any:
        await hookline.begin(self, ctx, ev)
        return await kind.init_run(self, ctx, ev)

    async def call_tool(self: Any, ctx: Any, ev: Any) -> Any:
        found = await hookline.run_of(ctx, _name_of(self))
        prefix = ev.get(_QUESTION_KEY, None) or new_call_id()
        setattr(ev, _QUESTION_KEY, prefix)  # the step starts from its beginning when an answer comes
        with _step(_ToolStep(found, ctx, ev.tool_id, prefix)):
            return await kind.call_tool(self, ctx, ev)

    async def parse_agent_output(self: Any, ctx: Any, ev: Any) -> Any:
        """It may ask the model for a structured answer, or for a last one."""
        with _requests_of(await hookline.run_of(ctx, _name_of(self))):
            return await kind.parse_agent_output(self, ctx, ev)

    async def get_tools(self: Any, *args: Any, **kwargs: Any) -> Any:
        for agent in self.agents.values() if isinstance(self, AgentWorkflow) else ():
            hookline.install(agent)  # it may have been added later
        return [hookline.guard_tool(tool) for tool in await kind.get_tools(self, *args, **kwargs)]

    steps = {each.__name__: each for each in (init_run, call_tool, parse_agent_output)}
    members = {name: _step_like(getattr(kind, name), step) for name, step in steps.items()}
    return {**members, "run": run, "get_tools": get_tools}


def _agent_members(kind: Any, hookline: HooklineHooks) -> dict[str, Any]:
    async def take_step(self: Any, ctx: Any, llm_input: list[Any], tools: Any, memory: Any) -> Any:
        guarded = [hookline.guard_tool(tool) for tool in tools]

        async def take(messages: list[Any]) -> Any:
            return await kind.take_step(self, ctx, messages, guarded, memory)

        return await hookline.take_step(self, take, ctx, llm_input)

    return {"take_step": take_step}


def _tool_members(kind: Any, hookline: HooklineHooks) -> dict[str, Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = _named(self, _inner_sync, args, kwargs)
        made = _new_call(self, asked)
        if made is None:
            return _inner_sync(self, *args, **kwargs)
        return hookline.call(self, made, asked, lambda given: _inner_sync(self, **given))

    async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = _named(self, kind.acall, args, kwargs)
        made = _new_call(self, asked)
        if made is None:
            return await kind.acall(self, *args, **kwargs)
        return await hookline.acall(self, made, asked, lambda given: kind.acall(self, **given))

    if issubclass(kind, AsyncBaseTool):
        _inner_sync = kind.call
        return {"call": call, "acall": acall, "__call__": call}
    _inner_sync = kind.__call__
    return {"__call__": call}


def _request_method(kind: Any, name: str, hookline: HooklineHooks) -> Any:
    inner = getattr(kind, name)
    (argument, place), is_stream = _REQUESTS[name], name.startswith("astream")

    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = _requesting_run.get()
        if run is None:
            return await inner(self, *args, **kwargs)
        if argument not in kwargs and len(args) > place:
            args = (*args[:place], await _change_request(run, args[place] or []), *args[place + 1 :])
        else:
            kwargs[argument] = await _change_request(run, kwargs.get(argument) or [])
        try:
            with _requests_of(None):
                response = await inner(self, *args, **kwargs)
        except Exception as error:
            await _model_failed(run, error)
            raise
        holds = hookline.hooks.session.book.hears("message.create")  # nothing is shown before they decide
        if is_stream:
            return _stream(run, response, holds)
        await _change_answer(run, response)
        return response

    return method


async def _stream(run: AgentRun, chunks: Any, holds: bool) -> Any:
    """The last chunk has the whole message. `holds`: no chunk is shown before hooks have seen that one."""
    held: list[Any] = []
    while True:
        try:
            with _requests_of(None):
                chunk = await anext(chunks, None)
        except Exception as error:
            await _model_failed(run, error)
            raise
        if chunk is None:
            break
        if held and not holds:
            yield held.pop()
        held.append(chunk)
    if held and await _change_answer(run, held[-1]):
        held = held[-1:]
    for chunk in held:
        yield chunk


async def _change_request(run: AgentRun, request: Any) -> Any:
    """The messages or the prompt to send. Raises RunStopped."""
    if not isinstance(request, str):
        return await _before_model(run, request)
    messages = await _before_model(run, [ChatMessage(role="user", content=request)])
    return "\n\n".join(each.content or "" for each in messages)


async def _before_model(run: AgentRun, messages: list[Any]) -> list[Any]:
    """The messages to send. Raises RunStopped."""
    has_system = bool(messages) and messages[0].role == "system"
    rest = list(messages[1:] if has_system else messages)
    answer = await run.before_model(rest, FORMAT, messages[0].content if has_system else None)
    if answer.halted is not None:
        await run.finish()
        raise RunStopped(answer.halted)
    first = messages[:1] if has_system else []
    if answer.system is not None:
        first = [ChatMessage(role="system", content=answer.system)]
    return [*first, *(rest if answer.messages is None else answer.messages)]


async def _change_answer(run: AgentRun, response: Any) -> bool:
    """Puts the text that hooks left into the answer. False: it is the model's own."""
    if isinstance(response, CompletionResponse):
        text = response.text
        response.text = await run.after_model(text)
        response.delta = response.text if response.text != text else response.delta
        return bool(response.text != text)
    message = response.message
    text = message.content or ""
    left = await run.after_model(text, _calls_of(message))
    if left == text:
        return False
    message.blocks = [TextBlock(text=left), *(each for each in message.blocks if not isinstance(each, TextBlock))]
    response.delta = left
    return True


async def _model_failed(run: AgentRun, error: Exception) -> None:
    await run.model_failed(error)
    _raise_if_halted(run)


async def _continue_with(agent: Any, context: Any, messages: list[Any], output: Any, reason: str) -> list[Any]:
    """Puts the reason where the agent keeps what happened since the prompt. Returns the messages for its next step."""
    store = context.store
    if isinstance(agent, ReActAgent):
        steps = [*await store.get(agent.reasoning_key, default=[]), ObservationReasoningStep(observation=reason)]
        await store.set(agent.reasoning_key, steps)
        return messages
    said = ChatMessage(role="user", content=reason)
    key = getattr(agent, "scratchpad_key", None)
    if key is None:
        return [*messages, output.response, said]
    await store.set(key, [*await store.get(key, default=[]), said])
    return messages


async def _ask(step: _ToolStep, id: str, question: Question) -> bool:
    """Waits for the answer to this question: parallel calls may wait, too."""
    about = {"tool_name": question.tool, "tool_kwargs": question.input, "tool_id": id}
    for number in itertools.count():
        try:
            answer = await step.context.wait_for_event(
                HumanResponseEvent,
                waiter_event=InputRequiredEvent(prefix=question.reason, **about),
                waiter_id=f"hookline-{id}-{number}",
                requirements={"tool_id": id},
                timeout=None,
            )
        except TimeoutError:
            return False
        if answer.get("tool_id", None) == id:  # a context that was restored forgets the requirements
            break
    return answer.get("response") is True or str(answer.get("response")).strip().lower() in ("y", "yes", "true")


def _event_id(step: _ToolStep, call: FrameworkCall, question: Question) -> str:
    """Another one for a call that has changed, or for which hooks leave another input."""
    text = f"{call.key}\n{question_id(question)}"
    return f"{step.prefix}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


async def _after_tool(run: AgentRun, call: FrameworkCall, input: dict[str, Any], output: Any) -> Any:
    only_text = all(isinstance(block, TextBlock) for block in output.blocks)
    value = output.content if only_text else to_plain_value([block.model_dump() for block in output.blocks])
    error = value_text(value) if output.is_error else None
    after = await run.after_tool(call, None if output.is_error else value, input=input, error=error)
    if not after.is_changed and not after.notes:
        return output
    if after.is_changed:
        return ToolOutput(
            tool_name=output.tool_name,
            content=after.text,
            raw_input=output.raw_input,
            raw_output=after.value,
            is_error=not after.ok,
        )
    output.blocks = [*output.blocks, TextBlock(text=after.notes)]
    return output


def _error_output(tool: Any, asked: dict[str, Any], text: str) -> Any:
    name = tool.metadata.get_name()
    return ToolOutput(tool_name=name, content=text, raw_input=_shown_input(tool, asked), raw_output=text, is_error=True)


def _raise_if_halted(run: AgentRun) -> None:
    if run.halted is not None:
        raise RunStopped(run.halted)


@contextmanager
def _requests_of(run: AgentRun | None) -> Iterator[None]:
    """None: the request is the run's already, and the LLM makes it in terms of its other methods."""
    token = _requesting_run.set(run)
    try:
        yield
    finally:
        _requesting_run.reset(token)


@contextmanager
def _step(step: _ToolStep) -> Iterator[None]:
    """Around a step of a workflow, which a tool of another workflow may have started."""
    call, outer = _running_call.set(None), _tool_step.set(step)
    try:
        yield
    finally:
        _tool_step.reset(outer)
        _running_call.reset(call)


@contextmanager
def _execution(run: AgentRun, running: FrameworkCall) -> Iterator[None]:
    """Around a tool's own code, which may call the tool's other methods."""
    call, step, request = _running_call.set(running), _tool_step.set(None), _requesting_run.set(None)
    try:
        with run.tool_context():
            yield
    finally:
        _requesting_run.reset(request)
        _tool_step.reset(step)
        _running_call.reset(call)


def _new_call(tool: Any, asked: dict[str, Any]) -> FrameworkCall | None:
    """None inside of the same call: many tools make one of their methods in terms of another."""
    name, plain = tool.metadata.get_name(), to_plain_value(_shown_input(tool, asked))
    step, running = _tool_step.get(), _running_call.get()
    call = FrameworkCall(name, plain, new_call_id() if step is None else step.id, _defaults_of(tool))
    return None if running is not None and running.name == name and running.has_input_of(call) else call


def _defaults_of(tool: Any) -> ToolDefaults:
    """A function, or the method of another tool, gets the arguments as they are. The schema says what they do with them."""
    kind = type(tool).__mro__[1]  # without hooks
    function = getattr(tool, "_real_fn", None) or getattr(kind, "call", kind.__call__)
    kept = {**getattr(tool, "_field_defaults", {}), **getattr(tool, "partial_params", {})}
    context, schema = str(getattr(tool, "ctx_param_name", None)), tool.metadata.get_parameters_dict
    return defaults_of(tool, DefaultSources(None, function, schema, kept, hidden=lambda: (context,)))


def _named(tool: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by their names. A method that takes any has those of the tool's schema."""
    if not args:
        return kwargs
    parameters = list(inspect.signature(method).parameters.values())[1:]
    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        names = list(tool.metadata.get_parameters_dict().get("properties") or {})
    if len(args) > len(names):
        raise TypeError(f"{tool.metadata.get_name()} takes {len(names)} arguments")
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _shown_input(tool: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Without the workflow's context, which the framework adds."""
    context = getattr(tool, "ctx_param_name", None)
    return {name: value for name, value in asked.items() if name != context}


def _restored(asked: dict[str, Any], plain: dict[str, Any], left: dict[str, Any]) -> dict[str, Any]:
    """Only what hooks changed is replaced; other arguments stay the same objects."""
    added = {name: value for name, value in asked.items() if name not in plain}
    same = {name: asked[name] for name in left if name in plain and deep_equal(plain[name], left[name])}
    return {**left, **same, **added}


def _name_of(workflow: Any) -> str:
    return str(workflow.root_agent if isinstance(workflow, AgentWorkflow) else workflow.name)


def _prompt_message(start: Any) -> Any:
    """The message that the user sent: a text, a ChatMessage, or None if there is none."""
    given = start.get("user_msg", None)
    if given:
        return given
    asked = [each for each in start.get("chat_history", None) or () if each.role == "user"]
    return asked[-1] if asked else None


def _text_of(message: Any) -> str | None:
    return message if message is None or isinstance(message, str) else message.content or ""


def _replace_prompt(start: Any, message: Any, text: str) -> None:
    new = text if isinstance(message, str) else _with_text(message, text)
    if start.get("user_msg", None):
        start.user_msg = new
    else:
        start.chat_history = [new if each is message else each for each in start.chat_history]


def _calls_of(message: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": block.tool_call_id or "",
            "type": "function",
            "function": {"name": block.tool_name, "arguments": value_text(to_plain_value(block.tool_kwargs))},
        }
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ] or to_plain_value(message.additional_kwargs.get("tool_calls") or [])


def _read(message: Any) -> PlainMessage:
    plain: PlainMessage = {"role": str(message.role.value), "content": message.content or ""}
    calls = _calls_of(message)
    if calls:
        plain["tool_calls"] = calls
    if message.role == "tool":
        plain["tool_call_id"] = message.additional_kwargs.get("tool_call_id", "")
    return plain


def _with_text(message: Any, text: str) -> Any:
    blocks = [each for each in message.blocks if not isinstance(each, TextBlock)]
    return message.model_copy(update={"blocks": [TextBlock(text=text), *blocks]})


def _create(role: str, text: str) -> Any:
    return ChatMessage(role=role, content=text)


FORMAT: Final[MessageFormat[Any]] = MessageFormat(_read, _with_text, _create)
