"""Microsoft Agent Framework: `Agent(client, …, middleware=hookline_middleware())`.

Middleware after ours, also that of a single run, may change a call that hooks have decided, and middleware before ours may run
a tool itself. So the methods that run the middleware and the tools are wrapped too: a call that no hook has decided about is
decided where the tool runs.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final, Unpack

from hookline.errors import extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall
from hookline.frameworks.decided_call import DecidedCall, find_decided_call, new_undecided_call, without_hooks
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions, hosted_tool_reason
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question, new_call_id
from hookline.lazy_dataclasses import dataclass

with extra_required("hookline.frameworks.agent_framework needs Microsoft's Agent Framework", "agent-framework"):
    from agent_framework import (
        AgentMiddleware,
        ChatMiddleware,
        Content,
        FunctionMiddleware,
        FunctionTool,
        Message,
        MiddlewareFailure,
        MiddlewareTermination,
        ResponseStream,
    )
    from agent_framework._middleware import ChatMiddlewarePipeline, FunctionMiddlewarePipeline
    from agent_framework.exceptions import ToolException, UserInputRequiredException

SUPPORT: Final = FrameworkSupport(
    name="agent_framework",
    title="Microsoft Agent Framework",
    package="agent-framework-core",
    extra="agent-framework",
    version="1.23.0",
    installs_as="Agent(…, middleware=hookline_middleware())",
    events=ALL_EVENTS,
    answers={
        "ask": "yes, as a function approval request",
        "halt": "yes: the run ends with `RunStopped`",
        "continue": "yes, except in streams",
    },
    pauses=True,
)
CallNext = Callable[[], Awaitable[None]]
_agent_run: Final[ContextVar[AgentRun | None]] = ContextVar("agent_framework_run", default=None)


class RunStopped(MiddlewareFailure):
    """A hook denied the prompt, or halted the agent. The message is its reason."""


def hookline_middleware(*, allow_hosted: bool = False, **options: Unpack[HookOptions]) -> list[Any]:
    """The middleware for one agent. Sub-agents need it too; it may be the same list.

    allow_hosted: let the agent have tools that the model's provider runs, which no hook can decide about.
    """
    shared = _Shared(FrameworkHooks(SUPPORT, options), allow_hosted)
    _guard_tools()
    return [HooklineAgentMiddleware(shared), HooklineChatMiddleware(shared), HooklineFunctionMiddleware(shared)]


class _Shared:
    """What the three middleware of one agent know."""

    def __init__(self, hooks: FrameworkHooks, allow_hosted: bool) -> None:
        self.hooks = hooks
        self.allow_hosted = allow_hosted
        self._last: dict[str, AgentRun] = {}  # session → its last run

    def begin(self, context: Any) -> AgentRun:
        session = _session_id(context)
        run = self.hooks.new_run(thread=session, agent=getattr(context.agent, "name", None) or "")
        self._last[session or ""] = run
        _agent_run.set(run)
        return run

    async def take_answer(self, run: AgentRun, context: Any, content: Any) -> None:
        """The framework does not call a rejected tool, and its own words do not say why."""
        call = content.function_call
        if content.approved is True:
            return
        given, tool = to_plain_value(call.parse_arguments() or {}), _find_tool(context, call.name)
        asked = FrameworkCall(call.name, given, call.call_id, NO_DEFAULTS if tool is None else _defaults_of(tool))
        refused = await run.before_tool(asked, approved=False)
        if refused.refusal is not None:
            run.add_note(refused.refusal)

    def run_of(self, context: Any) -> AgentRun:
        """A stream is consumed outside of the call that started it, so the session's last run counts there."""
        run = _agent_run.get()
        if run is not None and run.hooks is self.hooks and not run.is_over:
            return run
        session = _session_id(context)
        return self._last.get(session or "") or self.hooks.new_run(thread=session)


class HooklineAgentMiddleware(AgentMiddleware):
    def __init__(self, shared: _Shared) -> None:
        self._shared = shared

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self._shared.hooks.close()

    async def process(self, context: Any, call_next: CallNext) -> None:
        outer = _agent_run.get()
        run = self._shared.begin(context)
        try:
            contents = [content for message in context.messages for content in message.contents]
            for content in contents:
                if content.type == "function_approval_response":
                    await self._shared.take_answer(run, context, content)
            last = next((each for each in reversed(context.messages) if each.role == "user" and each.text), None)
            answer = await run.start(None if last is None else last.text)
            if answer.refusal is not None:
                raise RunStopped(answer.refusal)
            if answer.is_changed and last is not None:
                context.messages = [
                    _with_text(each, answer.prompt) if each is last else each for each in context.messages
                ]
            await call_next()
            if context.stream:
                context.result = _bound_stream(run, context.result)
            else:
                await run.finish()
        finally:
            _agent_run.set(outer)


class HooklineChatMiddleware(ChatMiddleware):
    def __init__(self, shared: _Shared) -> None:
        self._shared = shared

    async def process(self, context: Any, call_next: CallNext) -> None:
        run = self._shared.run_of(context)
        while True:
            await self._before(run, context)
            if context.stream:
                context.stream_result_hooks.append(lambda response: _after_stream(run, response))
            try:
                await call_next()
            except (MiddlewareTermination, RunStopped):
                raise
            except Exception as error:
                await _report_failure(run, error)
                raise
            if context.stream:
                context.result = _reporting_stream(run, context.result)
                return
            reason = await _after(run, context.result)
            if reason is None:
                return
            context.messages = [*context.messages, *context.result.messages, Message("user", [reason])]

    def stop_if_hosted(self, context: Any) -> None:
        """Raises RunStopped if the request has a tool that the model's provider runs."""
        run = self._shared.run_of(context)
        self._halt_if_hosted(run, context.options or {})
        if run.halted is not None:
            raise RunStopped(run.halted)

    def _halt_if_hosted(self, run: AgentRun, options: Mapping[str, Any]) -> None:
        hosted = None if self._shared.allow_hosted else _hosted_tool(options.get("tools"))
        if hosted is not None:
            run.halt(hosted_tool_reason(hosted))

    async def _before(self, run: AgentRun, context: Any) -> None:
        options = context.options or {}
        system = options.get("instructions")
        self._halt_if_hosted(run, options)
        pieces = [_Piece(message, content) for message in context.messages for content in message.contents]
        answer = await run.before_model(pieces, FORMAT, system)
        if answer.halted is not None:
            raise RunStopped(answer.halted)
        if answer.messages is not None:
            context.messages = _messages(answer.messages)
        if answer.system is not None:
            context.options = {**options, "instructions": answer.system}


def _hosted_tool(tools: Any) -> str | None:
    """The name of a tool that the model's provider runs, if there is one."""
    given = tools if isinstance(tools, list | tuple) else [] if tools is None else [tools]
    for tool in given:
        if isinstance(tool, Mapping):
            return str(tool.get("type") or tool.get("name") or "a tool of the model's provider")
        if not isinstance(tool, FunctionTool) and not callable(tool):
            return type(tool).__name__
    return None


class HooklineFunctionMiddleware(FunctionMiddleware):
    def __init__(self, shared: _Shared) -> None:
        self._shared = shared

    def run_of(self, context: Any) -> AgentRun:
        return self._shared.run_of(context)

    async def process(self, context: Any, call_next: CallNext) -> None:
        run, given = self.run_of(context), context.arguments
        plain = to_plain_value(given)
        name = context.function.name
        call = FrameworkCall(name, plain, _call_id(context) or new_call_id(), _defaults_of(context.function))
        answer = await run.before_tool(call, approved=_approval(context), answered=_answered_question(context, call))
        if answer.question is not None:
            question = answer.question
            request_id = f"{new_call_id()}-{question_id(question)}"  # models may give several calls the same id
            runs = call.with_shown(question.input).input  # the framework runs the tool with these
            asked = Content.from_function_call(call.id, name, arguments=runs, id=request_id)
            more = {"hookline": {"reason": question.reason, "hook": question.hook, "input": question.input}}
            context.result = Content.from_function_approval_request(
                id=request_id, function_call=asked, additional_properties=more
            )
            raise MiddlewareTermination(question.reason)
        if answer.input is None:
            context.result = answer.refusal
            return
        if answer.is_changed:
            context.arguments = _arguments_like(given, answer.input)
        decided = DecidedCall(run, call, answer.input)
        try:
            with run.tool_context(), decided.pending(context, [context.function]):
                await call_next()
        except Exception as error:
            await _after_error(decided, context, error)
            return
        if not decided.was_stopped:
            await _after_tool(decided, context)


async def _after_error(decided: DecidedCall, context: Any, error: Exception) -> None:
    """What middleware ends the loop with is a result, if the tool has run."""
    if isinstance(error, MiddlewareTermination):
        if decided.has_run:
            context.result = error.result if context.result is None else context.result
            await _after_tool(decided, context)
        raise error
    if isinstance(error, MiddlewareFailure | UserInputRequiredException):
        raise error
    if decided.was_stopped:
        context.result = decided.refusal
        return
    call, text = decided.call, f"{type(error).__name__}: {error}"
    after = await decided.run.after_tool(call, None, input=call.input, error=text)
    if not after.is_changed and not after.notes:
        raise error
    context.result = after.text


async def _after_tool(decided: DecidedCall, context: Any) -> None:
    texts, call = _texts(context.result), decided.call
    value = "".join(texts) if texts is not None else to_plain_value(context.result)
    after = await decided.run.after_tool(call, value, input=call.input)
    if after.is_changed or (after.notes and texts is not None):
        context.result = after.text
    elif after.notes:
        held = context.result if isinstance(context.result, list) else [context.result]
        context.result = [*held, Content.from_text(after.notes)]


def _guard_tools() -> None:
    """Once for the process. Calls of agents without hooks stay as they are."""
    if not hasattr(FunctionTool.invoke, "__wrapped__"):
        _guard_invoke()
        _guard_function()
        _guard_pipeline()
        _guard_chat_pipeline()


def _guard_pipeline() -> None:
    """Decides about calls that middleware before ours makes itself, and sees their results."""
    execute: Any = FunctionMiddlewarePipeline.execute

    @functools.wraps(execute)
    async def guarded(pipeline: Any, context: Any, final_handler: Any) -> Any:
        ours = next((each for each in pipeline._middleware if isinstance(each, HooklineFunctionMiddleware)), None)
        if ours is None:
            with without_hooks():
                return await execute(pipeline, context, final_handler)
        undecided = new_undecided_call(ours.run_of(context), _call_id(context))
        try:
            with undecided.pending(context, [context.function]):
                result = await execute(pipeline, context, final_handler)
        except Exception as error:
            if not undecided.was_reached:
                raise
            await _after_error(undecided, context, error)
            return context.result
        if not undecided.has_run:
            return result
        await _after_tool(undecided, context)
        return context.result

    FunctionMiddlewarePipeline.execute = guarded


def _guard_chat_pipeline() -> None:
    """Looks at the tools of a request after all middleware."""
    execute: Any = ChatMiddlewarePipeline.execute

    @functools.wraps(execute)
    async def guarded(pipeline: Any, context: Any, final_handler: Any) -> Any:
        ours = next((each for each in pipeline._middleware if isinstance(each, HooklineChatMiddleware)), None)
        if ours is None:
            return await execute(pipeline, context, final_handler)

        def last(sent: Any) -> Any:
            ours.stop_if_hosted(sent)
            return final_handler(sent)

        return await execute(pipeline, context, last)

    ChatMiddlewarePipeline.execute = guarded


def _guard_invoke() -> None:
    invoke: Any = FunctionTool.invoke

    @functools.wraps(invoke)
    async def guarded(tool: Any, *, arguments: Any = None, context: Any = None, **kwargs: Any) -> Any:
        decided = find_decided_call(context, tool=tool if context is None else None)
        if decided is None:
            return await invoke(tool, arguments=arguments, context=context, **kwargs)
        given = _given_arguments(arguments, context, kwargs)
        id = kwargs.get("tool_call_id") or decided.call.id
        call = FrameworkCall(tool.name, to_plain_value(given), id, _defaults_of(tool))
        answer = await decided.answer(call)
        if answer.input is None:
            return [Content.from_text(answer.refusal or "Not approved.")]
        if answer.is_changed:
            arguments = _arguments_like(given, answer.input)
        with decided.running(call, answer.input):
            return await invoke(tool, arguments=arguments, context=context, **kwargs)

    FunctionTool.invoke = guarded


def _guard_function() -> None:
    """A tool can be called as the function that it is, too."""
    call_function: Any = FunctionTool.__call__

    @functools.wraps(call_function)
    def guarded(tool: Any, *args: Any, **kwargs: Any) -> Any:
        decided = find_decided_call(tool=tool)
        if decided is None:
            return call_function(tool, *args, **kwargs)
        given = {**dict(zip(tool.parameters().get("properties", {}), args, strict=False)), **kwargs}
        call = FrameworkCall(tool.name, to_plain_value(given), decided.call.id, _defaults_of(tool))
        answer = decided.answer_sync(call)
        if answer.input is None:
            raise ToolException(answer.refusal or "Not approved.")
        with decided.running(call, answer.input):
            return call_function(tool, **answer.input) if answer.is_changed else call_function(tool, *args, **kwargs)

    FunctionTool.__call__ = guarded


def _given_arguments(arguments: Any, context: Any, kwargs: dict[str, Any]) -> Any:
    """Where `invoke` looks for them."""
    if arguments is not None:
        return arguments
    named = {name: value for name, value in kwargs.items() if name not in ("tool_call_id", "skip_parsing")}
    return named or (context.arguments if context is not None else {})


def _arguments_like(given: Any, input: dict[str, Any]) -> Any:
    return type(given)(**input) if hasattr(given, "model_dump") else input


def _defaults_of(tool: Any) -> ToolDefaults:
    """The function's own: the framework drops those of its model. The schema of other tools says what they do."""
    function = tool.func.func if isinstance(tool.func, FunctionTool) else tool.func
    return defaults_of(tool, DefaultSources(None, function, tool.parameters, hidden=lambda: _hidden_names(tool)))


def _hidden_names(tool: Any) -> list[str]:
    """What the framework injects, and names of the function's under which a call cannot give an argument."""
    fields = {} if tool.input_model is None else tool.input_model.model_fields
    return [
        str(tool._context_parameter_name),
        *(name for name, field in fields.items() if field.alias not in (None, name)),
    ]


def _find_tool(context: Any, name: str) -> Any:
    """One of the agent, or of its run."""
    own = getattr(context.agent, "default_options", {}).get("tools")
    for each in (own, context.tools, (context.options or {}).get("tools")):
        listed = each if isinstance(each, list | tuple) else [each]
        found = next((tool for tool in listed if isinstance(tool, FunctionTool) and tool.name == name), None)
        if found is not None:
            return found
    return None


def _call_id(context: Any) -> str:
    return str((context.metadata or {}).get("call_id") or "")


def _approval(context: Any) -> bool | None:
    """What a person answered to the request for this very call."""
    response = (context.metadata or {}).get("approval_response")
    return True if response is not None and response.approved is True else None


def _answered_question(context: Any, call: FrameworkCall) -> str | None:
    """The end of the request's id. The framework runs the call in the request that it stored."""
    response = (context.metadata or {}).get("approval_response")
    if response is None:
        return None
    found = str(response.id or "").rpartition("-")[2]
    return found if found == question_id(Question("", call.name, call.shown, None)) else None


def _session_id(context: Any) -> str | None:
    found = getattr(context.session, "session_id", None)
    return found if isinstance(found, str) else None


def _texts(result: Any) -> list[str] | None:
    """None if the result has anything but texts."""
    if isinstance(result, str):
        return [result]
    if isinstance(result, list) and all(getattr(each, "type", "") == "text" for each in result):
        return [each.text or "" for each in result]
    return None


async def _after(run: AgentRun, response: Any) -> str | None:
    """Changes the response in place. Returns what the model reads if it must go on."""
    contents = [content for message in response.messages for content in message.contents]
    calls = [content for content in contents if content.type == "function_call"]
    texts = [content for content in contents if content.type == "text"]
    text = "".join(content.text or "" for content in texts)
    left = await run.after_model(text, [_plain_call(content) for content in calls])
    if left != text:
        for content in texts:
            content.text = left if content is texts[0] else ""
    return None if calls else await run.stop(left)


async def _report_failure(run: AgentRun, error: Exception) -> None:
    await run.model_failed(error)
    if run.halted is not None:
        raise RunStopped(run.halted) from error


def _reporting_stream(run: AgentRun, stream: Any) -> Any:
    """A stream calls its model when it is consumed."""

    async def updates() -> Any:
        try:
            async for update in stream:
                yield update
        except Exception as error:
            await _report_failure(run, error)
            raise

    return ResponseStream(updates(), finalizer=lambda _: stream.get_final_response())


def _bound_stream(run: AgentRun, stream: Any) -> Any:
    """The agent works while its stream is consumed, maybe in turns with another."""

    async def updates() -> Any:
        parts = aiter(stream)
        try:
            while True:
                outer = _agent_run.get()
                _agent_run.set(run)
                try:
                    update = await anext(parts)
                except StopAsyncIteration:
                    return
                finally:
                    _agent_run.set(outer)
                yield update
        finally:
            await run.finish()

    return ResponseStream(updates(), finalizer=lambda _: stream.get_final_response())


async def _after_stream(run: AgentRun, response: Any) -> Any:
    await _after(run, response)
    return response


def _with_text(message: Any, text: str) -> Any:
    others = [content for content in message.contents if content.type != "text"]
    return Message(message.role, [Content.from_text(text), *others])


@dataclass(frozen=True, slots=True)
class _Piece:
    message: Any
    content: Any


def _messages(pieces: list[_Piece]) -> list[Any]:
    grouped: list[tuple[Any, list[Any]]] = []
    for piece in pieces:
        if not grouped or grouped[-1][0] is not piece.message:
            grouped.append((piece.message, []))
        grouped[-1][1].append(piece.content)
    return [Message(message.role, contents) for message, contents in grouped]


def _plain_call(content: Any) -> dict[str, Any]:
    arguments = (
        content.arguments if isinstance(content.arguments, str) else value_text(to_plain_value(content.arguments))
    )
    return {"id": content.call_id, "type": "function", "function": {"name": content.name, "arguments": arguments}}


def _read(piece: _Piece) -> PlainMessage:
    content = piece.content
    if content.type == "function_call":
        return {"role": "assistant", "content": "", "tool_calls": [_plain_call(content)]}
    if content.type == "function_result":
        texts = _texts(content.result)
        text = "".join(texts) if texts is not None else value_text(to_plain_value(content.result))
        return {"role": "tool", "content": text, "tool_call_id": content.call_id}
    role = str(piece.message.role)
    return {"role": role if role in ("user", "assistant", "system") else "user", "content": content.text or ""}


def _piece_with_text(piece: _Piece, text: str) -> _Piece:
    if piece.content.type == "function_result":
        return _Piece(piece.message, Content.from_function_result(piece.content.call_id, result=text))
    return _Piece(piece.message, Content.from_text(text))


def _create(role: str, text: str) -> _Piece:
    return _Piece(Message(role, []), Content.from_text(text))


FORMAT: Final[MessageFormat[_Piece]] = MessageFormat(_read, _piece_with_text, _create)
