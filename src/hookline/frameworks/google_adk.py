"""Google ADK: `Runner(…, plugins=[HooklinePlugin()])`.

Callbacks of agents and other plugins may change a call that hooks have decided, answer before our plugin is asked, or take a
result before it. So each tool is wrapped: what reaches it is decided, and hooks see its result before anybody else.
"""

from __future__ import annotations

import copy
import functools
import inspect
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any, Final, Unpack

from hookline.errors import extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall, ResultAnswer, current_run
from hookline.frameworks.decided_call import DecidedCall
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions, hosted_tool_reason
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import DefaultSources, ToolDefaults, defaults_of
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import dataclasses

with extra_required("hookline.frameworks.google_adk needs Google ADK", "google-adk"):
    from google.adk.code_executors.base_code_executor import BaseCodeExecutor
    from google.adk.code_executors.built_in_code_executor import BuiltInCodeExecutor
    from google.adk.code_executors.code_execution_utils import CodeExecutionResult
    from google.adk.events.event import Event
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.plugins.plugin_manager import PluginManager
    from google.adk.tools.agent_tool import AgentTool
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

SUPPORT: Final = FrameworkSupport(
    name="google_adk",
    title="Google ADK",
    package="google-adk",
    extra="google-adk",
    version="2.13.0",
    installs_as="Runner(…, plugins=[HooklinePlugin()])",
    events=ALL_EVENTS,
    answers={
        "ask": "yes, as a tool confirmation",
        "continue": "no: the agent stops, and the log says so",
    },
    pauses=True,
    covers_subagents="yes: every agent of the runner",
)
_CODE_TOOL: Final = "python_interpreter"
_HOSTED_FOR_GEMINI: Final = {"VertexAiRagRetrieval"}  # ADK runs them itself for other models only
_TEXT_TOOLS: Final = {"preload_memory", "example_tool"}  # they only add text to a request
_HOOKED: Final = "_hookline"  # on a function that asks hooks
_AFTER_OTHERS: Final = (
    "on_user_message_callback",
    "before_model_callback",
    "before_tool_callback",
    "on_tool_error_callback",
)
"""Where our plugin comes after the others. Everywhere else it comes before them."""
_REPLACED: Final = {
    "on_user_message_callback": "user_message",
    "on_event_callback": "event",
    "after_model_callback": "llm_response",
    "after_tool_callback": "result",
}
"""The argument in whose place a callback's answer comes. Other answers end the callback."""
_decided_call: Final[ContextVar[tuple[Any, DecidedCall] | None]] = ContextVar("adk_decided_call", default=None)
"""The tool that is about to run, and what was decided about its call."""
_streaming_call: Final[ContextVar[DecidedCall | None]] = ContextVar("adk_streaming_call", default=None)
_log = logging.getLogger("hookline")


class ChangedToolError(Exception):
    """The error of a tool, as hooks left its text."""


class HooklinePlugin(BasePlugin):
    """Hooks around every agent of a runner. Its place among other plugins does not matter."""

    def __init__(self, *, allow_hosted: bool = False, **options: Unpack[HookOptions]) -> None:
        """allow_hosted: let agents have tools that the model's provider runs, which no hook can decide about."""
        super().__init__("hookline")
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._allow_hosted = allow_hosted
        self._refusals: dict[str, str] = {}  # by run
        _guard_order()

    async def close(self) -> None:
        """Ends the sessions; the runner calls it. Without it, they end with the program."""
        await self.hooks.aclose()

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        run = self._run_of(invocation_context)
        texts = [part.text for part in user_message.parts or () if part.text]
        answer = await run.start("\n".join(texts) if texts else None)
        if answer.refusal is not None:
            self._refusals[run.key] = answer.refusal
        if not answer.is_changed or not texts:
            return None
        others = [part for part in user_message.parts if not part.text]
        return types.Content(role=user_message.role, parts=[types.Part(text=answer.prompt), *others])

    async def before_run_callback(self, *, invocation_context: Any) -> Any:
        refusal = self._refusals.pop(invocation_context.invocation_id, None)
        return None if refusal is None else _content("model", refusal)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        await self._run_of(invocation_context).finish()

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> Any:
        """An agent that another one transfers to takes the run over."""
        run = self._run_of(callback_context)
        run.change_agent(agent.name)
        self._guard_executor(agent)
        if callback_context._invocation_context.live_request_queue is None or self._allow_hosted:
            return None
        hosted = await _hosted_tool_of(agent)  # a live session has no callback before the model
        if hosted is None:
            return None
        run.halt(hosted_tool_reason(hosted))
        return _content("model", f"Stopped by a hook: {run.halted}")

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        run = self._run_of(callback_context)
        self._guard_executor(callback_context._invocation_context.agent)
        hosted = _hosted_tool(llm_request.config.tools)
        if hosted is not None and not self._allow_hosted:
            run.halt(hosted_tool_reason(hosted))
        pieces = [_Piece(content, part) for content in llm_request.contents for part in content.parts or ()]
        given = llm_request.config.system_instruction
        system = given if isinstance(given, str) else None if given is None else value_text(to_plain_value(given))
        answer = await run.before_model(pieces, FORMAT, system)
        if answer.halted is not None:
            return _stopped(answer.halted)
        if answer.messages is not None:
            llm_request.contents = _contents(answer.messages)
        if answer.system is not None:
            llm_request.config.system_instruction = answer.system
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        if llm_response.partial or llm_response.content is None:
            return None
        run, parts = self._run_of(callback_context), llm_response.content.parts or []
        calls = [part.function_call for part in parts if part.function_call]
        text = "".join(part.text for part in parts if part.text)
        left = await run.after_model(text, [_plain_call(call) for call in calls])
        if not calls and run.halted is None and await run.stop(left) is not None:
            _log.warning("a hook denied the stop of %s, but Google ADK cannot make an agent go on", run.agent)
        if left == text:
            return None
        others = [part for part in parts if not part.text]
        content = types.Content(role=llm_response.content.role, parts=[types.Part(text=left), *others])
        return llm_response.model_copy(update={"content": content})

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> Any:
        run = self._run_of(callback_context)
        await run.model_failed(error)
        return None if run.halted is None else _stopped(run.halted)

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        _decided_call.set(None)
        if isinstance(tool, AgentTool) and not tool.include_plugins:
            return {"error": f"Not run: hooks cannot decide about the tools of {tool.name}. Set include_plugins=True."}
        run, call = self._run_of(tool_context), _call_of(tool, tool_args, tool_context)
        confirmed = tool_context.tool_confirmation
        approved = None if confirmed is None else confirmed.confirmed is True
        answered = _question_about(tool_context) if approved else None
        answer = await run.before_tool(call, approved=approved, answered=answered)
        if answer.question is not None and confirmed is not None:  # ADK asks once about a call
            answer = await run.before_tool(call, approved=False)
        if answer.question is not None:
            asked = answer.question
            shown = {"hook": asked.hook, "input": asked.input, "question_id": question_id(asked)}
            tool_context.request_confirmation(hint=asked.reason, payload=shown)
            tool_context.actions.skip_summarization = True
            return {"error": f"{asked.reason} A person is asked."}
        if answer.input is None:
            return {"error": answer.refusal}
        if answer.is_changed:  # in place: the tool gets these
            tool_args.clear()
            tool_args.update(copy.deepcopy(answer.input))
        _decided_call.set((tool, DecidedCall(run, call, answer.input)))
        _guard_run(tool)
        _guard_stream(tool)
        return None

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> Any:
        return {"error": str(error)} if isinstance(error, ChangedToolError) else None

    def _guard_executor(self, agent: Any) -> None:
        """Code that the model writes as text is run without the callbacks of tools."""
        executor = getattr(agent, "code_executor", None)
        if executor is not None and not isinstance(executor, _HookedExecutor | BuiltInCodeExecutor):
            agent.code_executor = _HookedExecutor(executor, self)

    def execute_code(self, executor: Any, context: Any, given: Any) -> Any:
        """Called in a thread of its own."""
        run, call = self._run_of(context), FrameworkCall(_CODE_TOOL, {"code": given.code})
        answer = self.hooks.run_sync(run.before_tool(call, approved=False))
        if answer.input is None:
            return CodeExecutionResult(stderr=answer.refusal or "Not approved.")
        code = answer.input.get("code")
        if not isinstance(code, str):
            return CodeExecutionResult(stderr="A hook replaced the code with something else.")
        with run.tool_context():
            result = executor.execute_code(context, dataclasses.replace(given, code=code))
        error = result.stderr or None
        after = self.hooks.run_sync(
            run.after_tool(call, result.stdout if error is None else None, input=answer.input, error=error)
        )
        if not after.is_changed and not after.notes:
            return result
        shown = {"stdout": after.text, "stderr": ""} if after.ok else {"stdout": "", "stderr": after.text}
        return dataclasses.replace(result, **shown)

    def _run_of(self, context: Any) -> AgentRun:
        name = getattr(context, "agent_name", None) or getattr(getattr(context, "agent", None), "name", None)
        return self.hooks.run_of(context.invocation_id, thread=context.session.id, agent=str(name or ""))


class _HookedExecutor(BaseCodeExecutor):
    """Runs the agent's code. The code is a call of `python_interpreter`."""

    def __init__(self, inner: Any, plugin: HooklinePlugin) -> None:
        super().__init__(**{name: getattr(inner, name) for name in BaseCodeExecutor.model_fields})
        self._inner, self._plugin = inner, plugin

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> Any:
        return self._plugin.execute_code(self._inner, invocation_context, code_execution_input)


def _hosted_tool(tools: Any) -> str | None:
    """The name of a tool that Google runs, if there is one."""
    for tool in tools or ():
        if isinstance(tool, types.Tool):
            named = tool.model_dump(exclude_none=True, exclude={"function_declarations"})
            if named:
                return str(next(iter(named)))
    return None


async def _hosted_tool_of(agent: Any) -> str | None:
    if isinstance(getattr(agent, "code_executor", None), BuiltInCodeExecutor):
        return "code_execution"
    tools = await agent.canonical_tools() if hasattr(agent, "canonical_tools") else ()
    return next((str(tool.name) for tool in tools if _is_hosted(tool)), None)


def _is_hosted(tool: Any) -> bool:
    if type(tool).run_async is BaseTool.run_async:
        return tool.name not in _TEXT_TOOLS
    return any(each.__name__ in _HOSTED_FOR_GEMINI for each in type(tool).__mro__)


def _guard_order() -> None:
    """Once for the process. The first plugin that answers keeps ADK from asking the next ones, so it asks ours by itself."""
    run_callbacks: Any = PluginManager._run_callbacks
    if hasattr(run_callbacks, "__wrapped__"):
        return

    @functools.wraps(run_callbacks)
    async def guarded(manager: Any, callback_name: str, **given: Any) -> Any:
        ours = [each for each in manager.plugins if isinstance(each, HooklinePlugin)]
        others = [each for each in manager.plugins if each not in ours]
        found, replaced = None, _REPLACED.get(callback_name)
        for plugins in (others, ours) if callback_name in _AFTER_OTHERS else (ours, others):
            part = copy.copy(manager)
            part.plugins = plugins
            answer = await run_callbacks(part, callback_name, **given)
            if answer is None:
                continue
            if replaced is None:
                return answer
            found = given[replaced] = answer
        return found

    PluginManager._run_callbacks = guarded


def _guard_run(tool: Any) -> None:
    function = tool.run_async
    if hasattr(function, _HOOKED):
        return

    @functools.wraps(function)
    async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
        decided = _decided_call.get()
        if decided is None:
            return await function(args=args, tool_context=tool_context)
        token = _decided_call.set(None)  # hooks do not decide here about calls that the tool makes itself
        try:
            return await _run_decided(*decided, function, args, tool_context)
        finally:
            _decided_call.reset(token)

    setattr(run_async, _HOOKED, True)
    tool.run_async = run_async


async def _run_decided(
    tool: Any, decided: DecidedCall, function: Callable[..., Any], args: dict[str, Any], context: Any
) -> Any:
    """Callbacks of the agent come after a plugin's: an input that they changed is decided about."""
    run, call = decided.run, _call_of(tool, args, context)
    answer = await decided.answer(call)
    if answer.input is None:
        return {"error": answer.refusal}
    if answer.is_changed:
        args.clear()
        args.update(copy.deepcopy(answer.input))
    decided.mark_running(call, answer.input)
    _streaming_call.set(decided)
    try:
        with run.tool_context():
            result = await function(args=args, tool_context=context)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        after = await run.after_tool(decided.call, None, input=decided.call.input, error=text)
        if after.is_changed or after.notes:
            raise ChangedToolError(after.text) from None
        raise
    if inspect.isasyncgen(result):  # a task of its own reads it
        current_run.set(run)
        return result
    return _result_for_model(result, await run.after_tool(decided.call, result, input=decided.call.input))


def _result_for_model(result: Any, after: ResultAnswer) -> Any:
    if not after.is_changed and not after.notes:
        return result
    if not after.ok:
        return {"error": after.text}
    left = after.value if after.is_changed else result
    if not after.notes:
        return left
    return {**(left if isinstance(left, dict) else {"result": left}), "note": after.notes}


def _guard_stream(tool: Any) -> None:
    """In a live session, the parts that a streaming tool yields go to the model without a callback."""
    function = getattr(tool, "func", None)
    if not inspect.isasyncgenfunction(function) or hasattr(function, _HOOKED):
        return

    @functools.wraps(function)
    async def stream(*arguments: Any, **named: Any) -> AsyncGenerator[Any, None]:
        decided = _streaming_call.get()
        async with aclosing(function(*arguments, **named)) as parts:
            async for part in parts:
                if decided is None or isinstance(part, Event):
                    yield part
                    continue
                after = await decided.run.after_tool(decided.call, part, input=decided.call.input)
                yield _result_for_model(part, after)
                if decided.run.halted is not None:
                    return

    setattr(stream, _HOOKED, True)
    tool.func = stream


def _question_about(context: Any) -> str | None:
    """The id of the question about this call. ADK stores it beside the call's result, where no model and no other agent writes."""
    for event in reversed(context.session.events):
        asked = event.actions.requested_tool_confirmations.get(context.function_call_id)
        if asked is not None and event.author == context.agent_name:
            found = asked.payload.get("question_id") if isinstance(asked.payload, dict) else None
            return found if isinstance(found, str) else None
    return None


def _call_of(tool: Any, arguments: dict[str, Any], context: Any) -> FrameworkCall:
    server = getattr(tool, "_mcp_tool", None)
    name = tool.name if server is None else f"mcp__{getattr(tool, 'server_name', None) or 'mcp'}__{tool.name}"
    input = to_plain_value(dict(arguments))
    return FrameworkCall(name, input, context.function_call_id or f"call_{id(arguments)}", _defaults_of(tool))


def _defaults_of(tool: Any) -> ToolDefaults:
    """Of a function, of the agent behind a tool, or what the tool's declaration says."""
    if isinstance(tool, AgentTool):
        return defaults_of(tool, DefaultSources(getattr(tool.agent, "input_schema", None)))
    ignored = getattr(tool, "_ignore_params", ())
    sources = DefaultSources(
        None, getattr(tool, "func", None), lambda: _schema_of(tool), validates=True, hidden=lambda: ignored
    )
    return defaults_of(tool, sources)


def _schema_of(tool: Any) -> Any:
    """The server's own for an MCP tool: Gemini does not take all of it."""
    server_tool = getattr(tool, "_mcp_tool", None)
    if server_tool is not None:
        return getattr(server_tool, "inputSchema", None) or getattr(server_tool, "input_schema", None)
    declared = tool._get_declaration()
    if declared is None or declared.parameters_json_schema is not None:
        return declared and declared.parameters_json_schema
    return declared.parameters and declared.parameters.model_dump(by_alias=True, exclude_none=True)


@dataclass(frozen=True, slots=True)
class _Piece:
    """One part of a content: a content can have a text and the results of several calls."""

    content: Any
    part: Any


def _contents(pieces: list[_Piece]) -> list[Any]:
    grouped: list[tuple[Any, list[Any]]] = []
    for piece in pieces:
        if not grouped or grouped[-1][0] is not piece.content:
            grouped.append((piece.content, []))
        grouped[-1][1].append(piece.part)
    return [types.Content(role=content.role, parts=parts) for content, parts in grouped]


def _plain_call(call: Any) -> dict[str, Any]:
    arguments = value_text(to_plain_value(call.args or {}))
    return {"id": call.id or call.name, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _read(piece: _Piece) -> PlainMessage:
    part = piece.part
    if part.function_call:
        return {"role": "assistant", "content": "", "tool_calls": [_plain_call(part.function_call)]}
    if part.function_response:
        given = part.function_response
        text = value_text(to_plain_value(given.response))
        return {"role": "tool", "content": text, "tool_call_id": given.id or given.name, "name": given.name}
    return {"role": "assistant" if piece.content.role == "model" else "user", "content": part.text or ""}


def _with_text(piece: _Piece, text: str) -> _Piece:
    given = piece.part.function_response
    if given:
        return _Piece(
            piece.content, types.Part(function_response=given.model_copy(update={"response": {"result": text}}))
        )
    return _Piece(piece.content, piece.part.model_copy(update={"text": text}))


def _create(role: str, text: str) -> _Piece:
    content = _content("model" if role == "assistant" else "user", text)
    return _Piece(content, content.parts[0])


FORMAT: Final[MessageFormat[_Piece]] = MessageFormat(_read, _with_text, _create)


def _content(role: str, text: str) -> Any:
    return types.Content(role=role, parts=[types.Part(text=text)])


def _stopped(reason: str) -> Any:
    return LlmResponse(content=_content("model", f"Stopped by a hook: {reason}"))
