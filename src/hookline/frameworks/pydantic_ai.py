"""pydantic-ai: `Agent(…, capabilities=[HooklineCapability()])`.

Toolsets that wrap others, and other capabilities that want the innermost place, may change a call that hooks have decided,
so the toolsets that run tools are wrapped too: a call that no hook has decided about is decided there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final, Unpack

from hookline.errors import extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall
from hookline.frameworks.decided_call import DecidedCall, find_decided_call
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions, hosted_tool_reason
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import (
    ALL_EVENTS,
    SESSION_EVENTS,
    SUBAGENT_EVENTS,
    TOOL_EVENTS,
    FrameworkSupport,
)
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import deep_equal
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question

with extra_required("hookline.frameworks.pydantic_ai needs pydantic-ai", "pydantic-ai"):
    from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolReturn
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.capabilities.abstract import CapabilityOrdering
    from pydantic_ai.exceptions import (
        AgentRunError,
        ApprovalRequired,
        CallDeferred,
        SkipToolExecution,
        ToolFailed,
    )
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

SUPPORT: Final = FrameworkSupport(
    name="pydantic_ai",
    title="pydantic-ai",
    package="pydantic-ai-slim",
    extra="pydantic-ai",
    version="2.66.0",
    installs_as="Agent(…, capabilities=[HooklineCapability()])",
    events=ALL_EVENTS,
    answers={
        "ask": "yes, as `DeferredToolRequests`",
        "halt": "yes: the run ends with `RunStopped`",
        "continue": "yes, except in `run_stream`",
    },
    pauses=True,
)

_METADATA_KEY: Final = "hookline"
_REALTIME_EVENTS: Final = (*SESSION_EVENTS, *TOOL_EVENTS, *SUBAGENT_EVENTS)


class RunStopped(AgentRunError):
    """A hook denied the prompt, or halted the agent. The message is its reason."""


class HooklineCapability(AbstractCapability[Any]):
    """Hooks around one agent. Sub-agents need it too; it may be the same object.

    allow_hosted: let the agent have tools that the model's provider runs, which no hook can decide about.
    """

    def __init__(self, *, allow_hosted: bool = False, **options: Unpack[HookOptions]) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._allow_hosted = allow_hosted

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        return toolset.visit_and_replace(_guard_toolset)

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        agent = getattr(ctx.agent, "name", None) or ""
        run = self.hooks.new_run(thread=ctx.conversation_id, agent=agent, key=ctx.run_id)
        if not isinstance(ctx.model, Model):
            self._check_realtime(ctx)
        try:
            answer = await run.start(None if ctx.prompt is None else _prompt_text(ctx.prompt))
            if answer.refusal is not None:
                raise RunStopped(answer.refusal)
            run.changed_prompt = answer.prompt if answer.is_changed else None
            return await handler()
        finally:
            await run.finish()

    def _check_realtime(self, ctx: Any) -> None:
        """A realtime session asks for no request, and shows only its tools."""
        hosted = [] if self._allow_hosted else _hosted_tools(ctx)
        if hosted:
            raise RunStopped(hosted_tool_reason(_hosted_name(hosted[0])))
        self.hooks.warn_about_silent_hooks("a realtime session of pydantic-ai", _REALTIME_EVENTS)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        run, given = self._run_of(ctx), request_context.model_request_parameters
        if given.native_tools and not self._allow_hosted:
            run.halt(hosted_tool_reason(_hosted_name(given.native_tools[0])))
        pieces = _pieces(request_context.messages)
        if run.changed_prompt is not None:
            pieces = _with_prompt(pieces, run.prompt_given, run.changed_prompt)
        system = "\n\n".join(part.content for part in given.instruction_parts or ())
        answer = await run.before_model(pieces, FORMAT, system or None)
        if answer.halted is not None:
            raise RunStopped(answer.halted)
        if answer.system is None and answer.messages is None and run.changed_prompt is None:
            return request_context
        if answer.system is not None:
            parts = [InstructionPart(answer.system)]
            given = dataclasses.replace(given, instruction_parts=parts)
        left = pieces if answer.messages is None else answer.messages
        return dataclasses.replace(request_context, messages=_messages(left), model_request_parameters=given)

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: ModelResponse) -> ModelResponse:
        run = self._run_of(ctx)
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        left = await run.after_model(text, [_plain_call(part) for part in calls])
        if left != text:
            others = [part for part in response.parts if not isinstance(part, TextPart)]
            response = dataclasses.replace(response, parts=[TextPart(left), *others])
        if not calls:
            reason = await run.stop(left)
            if reason is not None:
                ctx.enqueue(reason)
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> ModelResponse:
        run = self._run_of(ctx)
        await run.model_failed(error)
        if run.halted is not None:
            raise RunStopped(run.halted) from error
        raise error

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        run = self._run_of(ctx)
        defaults = _defaults_of(_tool_of(ctx, call.tool_name))
        made = FrameworkCall(call.tool_name, to_plain_value(dict(args)), call.tool_call_id, defaults)
        approved, answered = (True, _answered_question(ctx)) if ctx.tool_call_approved else (None, None)
        answer = await run.before_tool(made, approved=approved, answered=answered)
        if answer.question is not None:
            asked = answer.question
            if not _can_defer(ctx):
                answer = await run.before_tool(made, approved=False)
            else:
                id = _keep_question(ctx, asked)
                shown = {"reason": asked.reason, "hook": asked.hook, "input": asked.input, "question_id": id}
                raise ApprovalRequired(metadata=shown)
        if answer.input is None:
            raise ToolFailed(answer.refusal or "Not approved.")
        decided = DecidedCall(run, made, answer.input)
        try:
            with run.tool_context(), decided.pending(_call_key(ctx, call.tool_call_id)):
                result = await handler(_changed_args(args, made.input, answer.input))
        except SkipToolExecution as skipped:
            if not decided.has_run:
                raise
            result = skipped.result
        except (ApprovalRequired, CallDeferred):
            run.keep_decision(made, answer)
            raise
        except Exception as error:
            if decided.was_stopped:
                raise
            ran = decided.call
            after = await run.after_tool(ran, None, input=ran.input, error=_error_text(error))
            if after.is_changed or after.notes:
                raise ToolFailed(after.text) from None
            raise
        if decided.was_stopped:
            return result
        judged = result.return_value if isinstance(result, ToolReturn) and result.content is None else result
        after = await run.after_tool(decided.call, to_plain_value(judged), input=decided.call.input)
        if after.is_changed and not after.ok:
            raise ToolFailed(after.text)
        if after.is_changed or (after.notes and isinstance(result, str)):
            return after.text
        if not after.notes:
            return result
        return ToolReturn(return_value=judged, content=after.notes)

    async def wrap_output_process(self, ctx: Any, *, output_context: Any, output: Any, handler: Any) -> Any:
        """An output function is code that the model calls with arguments of its own."""
        if not output_context.has_function or ctx.partial_output:
            return await handler(output)
        run = self._run_of(ctx)
        part = output_context.tool_call
        name = output_context.function_name or (part.tool_name if part is not None else "output")
        input = to_plain_value(output)
        made = FrameworkCall(name, input if isinstance(input, dict) else {"output": input})
        answer = await run.before_tool(made, approved=False)
        if answer.input is None or answer.is_changed:
            raise RunStopped(answer.refusal or f"A hook changed the arguments of {name}, which cannot be changed.")
        with run.tool_context():
            result = await handler(output)
        after = await run.after_tool(made, to_plain_value(result), input=answer.input)
        return after.value if after.is_changed else result

    async def handle_deferred_tool_calls(self, ctx: Any, *, requests: Any) -> Any:
        """Tools that the program runs itself: a denied call is answered here."""
        run, results = self._run_of(ctx), DeferredToolResults()
        for call in requests.calls:
            defaults = _defaults_of(_tool_of(ctx, call.tool_name))
            made = FrameworkCall(call.tool_name, to_plain_value(call.args_as_dict()), call.tool_call_id, defaults)
            answer = await run.before_tool(made, approved=False)
            if answer.input is None or answer.is_changed:
                results.calls[call.tool_call_id] = (
                    answer.refusal or "A hook changed the input, which is not possible here."
                )
        return results if results.calls else None

    def _run_of(self, ctx: Any) -> AgentRun:
        return self.hooks.run_of(ctx.run_id, thread=ctx.conversation_id, agent=getattr(ctx.agent, "name", None) or "")


def _hosted_tools(ctx: Any) -> list[Any]:
    """The tools that the model's provider may run in a realtime session: the agent's, and those of `Agent.override`."""
    override = getattr(ctx.agent, "_override_native_tools", None)
    replaced = None if override is None else override.get()
    listed = [*ctx.root_capability.get_native_tools(), *(() if replaced is None else replaced.value)]
    return [each for each in listed if not (type(each).__name__ == "ToolSearchTool" and each.optional)]  # never sent


def _hosted_name(tool: Any) -> str:
    """A function may choose the tool."""
    return getattr(tool, "__name__", type(tool).__name__)


class _GuardedToolset(WrapperToolset[Any]):
    """The last of the toolsets, which runs the tool."""

    @property
    def id(self) -> str | None:
        return self.wrapped.id

    async def for_run(self, ctx: Any) -> Any:
        """A toolset may be made by a function, for a run or for a step of it."""
        return (await self.wrapped.for_run(ctx)).visit_and_replace(_guard_toolset)

    async def for_run_step(self, ctx: Any) -> Any:
        return (await self.wrapped.for_run_step(ctx)).visit_and_replace(_guard_toolset)

    def visit_and_replace(self, visitor: Callable[[AbstractToolset[Any]], AbstractToolset[Any]]) -> Any:
        return visitor(self)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        decided = find_decided_call(_call_key(ctx, ctx.tool_call_id))
        if decided is None:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        is_renamed = ctx.tool_call_id == decided.call.id and ctx.tool_name == name  # by a prefix or a map of names
        shown = decided.call.name if is_renamed else name
        id = ctx.tool_call_id or decided.call.id
        call = FrameworkCall(shown, to_plain_value(tool_args), id, _defaults_of(tool))
        answer = await decided.answer(call)
        if answer.input is None:
            raise ToolFailed(answer.refusal or "Not approved.")
        with decided.running(call, answer.input):
            return await self.wrapped.call_tool(name, _changed_args(tool_args, call.input, answer.input), ctx, tool)


def _tool_of(ctx: Any, name: str) -> Any:
    """The toolset's own tool, inside of those of the toolsets around it."""
    tool: Any = (getattr(ctx.tool_manager, "tools", None) or {}).get(name)
    while hasattr(tool, "source_tool"):
        tool = tool.source_tool
    return tool


def _defaults_of(tool: Any) -> ToolDefaults:
    """pydantic-ai puts the defaults of a function in by itself, unless the tool is made of a schema."""
    if tool is None:
        return NO_DEFAULTS
    made_of: Any = getattr(getattr(tool, "call_func", None), "__self__", None)
    if getattr(made_of, "function", None) is None:  # as that of an MCP server
        return defaults_of(tool.tool_def, DefaultSources(schema=tool.tool_def.parameters_json_schema))
    schema = made_of.json_schema if made_of.single_arg_name is None else None  # that of its only argument
    return defaults_of(made_of, DefaultSources(None, made_of.function, schema))


def _call_key(ctx: Any, id: str | None) -> str:
    """A toolset gets another context, and maybe another definition of the tool."""
    return f"{ctx.run_id}/{id}"


def _guard_toolset(toolset: Any) -> Any:
    return toolset if isinstance(toolset, _GuardedToolset) else _GuardedToolset(toolset)


def _keep_question(ctx: Any, question: Question) -> str:
    """In the metadata of the message with the call, which belong to the program and which no model writes."""
    id, message = question_id(question), _message_of_call(ctx)
    if message is not None:
        asked = {**_questions_in(message), ctx.tool_call_id: id}
        message.metadata = {**(message.metadata or {}), _METADATA_KEY: asked}
    return id


def _answered_question(ctx: Any) -> str | None:
    """What the program gives back with the answer, or what the history has."""
    message, given = _message_of_call(ctx), ctx.tool_call_metadata
    found = given.get("question_id") if isinstance(given, dict) else None
    if found is None and message is not None:
        found = _questions_in(message).get(ctx.tool_call_id)
    return found if isinstance(found, str) else None


def _message_of_call(ctx: Any) -> ModelResponse | None:
    responses = (each for each in reversed(ctx.messages) if isinstance(each, ModelResponse))
    return next((each for each in responses if any(c.tool_call_id == ctx.tool_call_id for c in each.tool_calls)), None)


def _questions_in(message: ModelResponse) -> dict[str, Any]:
    """By the ids of their calls."""
    found = (message.metadata or {}).get(_METADATA_KEY)
    return found if isinstance(found, dict) else {}


def _can_defer(ctx: Any) -> bool:
    """Without this output type, a deferred call is an error."""
    wanted = getattr(ctx.agent, "output_type", None)
    given = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    return DeferredToolRequests in given or any("DeferredToolRequests" in str(each) for each in given)


def _changed_args(args: Any, given: dict[str, Any], left: dict[str, Any]) -> Any:
    """Only what hooks changed is replaced; other arguments stay the same objects."""
    if deep_equal(given, left):
        return args
    changed = {name: value for name, value in left.items() if name not in given or not deep_equal(given[name], value)}
    for name in changed:
        if name in args and not deep_equal(to_plain_value(args[name]), args[name]):
            raise ToolFailed(f"A hook changed {name}, which is not plain data.")
    return {**{name: value for name, value in args.items() if name in left}, **changed}


def _error_text(error: Exception) -> str:
    for name in ("tool_failed", "tool_retry"):  # what ToolFailed and ModelRetry become
        part = getattr(error, name, None)
        if part is not None:
            return value_text(to_plain_value(part.content))
    return f"{type(error).__name__}: {error}"


@dataclasses.dataclass
class _Piece:
    """One part of a message. A request has the prompt and the results of several calls in one message."""

    message: ModelMessage
    part: Any


def _pieces(messages: list[ModelMessage]) -> list[_Piece]:
    return [_Piece(message, part) for message in messages for part in message.parts]


def _messages(pieces: list[_Piece]) -> list[ModelMessage]:
    grouped: list[tuple[Any, list[Any]]] = []
    for piece in pieces:
        if not grouped or grouped[-1][0] is not piece.message:
            grouped.append((piece.message, []))
        grouped[-1][1].append(piece.part)
    return [dataclasses.replace(message, parts=parts) for message, parts in grouped]


def _prompt_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in content if isinstance(part, str))


def _with_prompt(pieces: list[_Piece], old: str, new: str) -> list[_Piece]:
    for at in range(len(pieces) - 1, -1, -1):
        part = pieces[at].part
        if isinstance(part, UserPromptPart) and _prompt_text(part.content) == old:
            return [*pieces[:at], _with_text(pieces[at], new), *pieces[at + 1 :]]
    return pieces


def _plain_call(part: ToolCallPart) -> dict[str, Any]:
    return {
        "id": part.tool_call_id,
        "type": "function",
        "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
    }


def _read(piece: _Piece) -> PlainMessage:
    part = piece.part
    if isinstance(part, ToolCallPart):
        return {"role": "assistant", "content": "", "tool_calls": [_plain_call(part)]}
    if isinstance(part, ToolReturnPart):
        text = value_text(to_plain_value(part.content))
        return {"role": "tool", "content": text, "tool_call_id": part.tool_call_id, "name": part.tool_name}
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _prompt_text(part.content)}
    if isinstance(part, TextPart):
        return {"role": "assistant", "content": part.content}
    role = "user" if isinstance(piece.message, ModelRequest) else "assistant"
    return {"role": role, "content": value_text(to_plain_value(getattr(part, "content", ""))), "name": part.part_kind}


def _with_text(piece: _Piece, text: str) -> _Piece:
    part = piece.part
    content: Any = text
    if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        content = [text, *(each for each in part.content if not isinstance(each, str))]
    return _Piece(piece.message, dataclasses.replace(part, content=content))


def _create(role: str, text: str) -> _Piece:
    if role == "assistant":
        return _Piece(ModelResponse(parts=[]), TextPart(text))
    return _Piece(ModelRequest(parts=[]), SystemPromptPart(text) if role == "system" else UserPromptPart(text))


FORMAT: Final[MessageFormat[_Piece]] = MessageFormat(_read, _with_text, _create)
