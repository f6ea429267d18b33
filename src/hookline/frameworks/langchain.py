"""LangChain and LangGraph: `create_agent(model, tools, middleware=[HooklineMiddleware()])`.

Middleware after ours may change a call that hooks have decided, and middleware before ours may run a tool itself. So the
methods that run tools are wrapped too: a call that no hook has decided about is decided there.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from inspect import signature
from types import FunctionType, MethodType
from typing import Annotated, Any, Final, NotRequired, Unpack, get_args

from hookline.errors import HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, CallAnswer, FrameworkCall, RequestAnswer, ResultAnswer
from hookline.frameworks.decided_call import DecidedCall, find_decided_call, new_undecided_call, without_hooks
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions, hosted_tool_reason
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.shape_readers import hints_of
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question, new_call_id

with extra_required("hookline.frameworks.langchain needs LangChain", "langchain"):
    from langchain.agents import factory
    from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
    from langchain.agents.middleware.types import ModelResponse, PrivateStateAttr
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, Tool, ToolException
    from langchain_core.utils.pydantic import get_fields
    from langgraph.config import get_config
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolNode
    from langgraph.types import Command, interrupt

SUPPORT: Final = FrameworkSupport(
    name="langchain",
    title="LangChain and LangGraph",
    package="langchain",
    extra="langchain",
    version="1.4.7, langgraph 1.2.20",
    installs_as="create_agent(…, middleware=[HooklineMiddleware()])",
    events=ALL_EVENTS,
    answers={"ask": "yes, with `interrupt` and a checkpointer"},
    pauses=True,
)

_RUN_KEY: Final = "hookline_run"
_QUESTION_KEY: Final = "hookline_question"  # in a question, and in an answer that was matched with it
_NO_TASK: Final = "00000000-0000-0000-0000-000000000000"  # of an answer without an id
_ROLES: Final = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


class _HookedState(AgentState[Any]):
    """The run that a node belongs to: nodes may run in any thread, or in another process after an interrupt."""

    hookline_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class HooklineMiddleware(AgentMiddleware[Any, Any, Any]):
    """Hooks around one agent. Sub-agents need it too; it may be the same object.

    For a graph of your own: `ToolNode(tools, wrap_tool_call=hooks.wrap_node_call, awrap_tool_call=hooks.awrap_node_call)`.
    allow_hosted: let the agent have tools that the model's provider runs, which no hook can decide about.
    """

    state_schema = _HookedState

    def __init__(self, *, allow_hosted: bool = False, **options: Unpack[HookOptions]) -> None:
        super().__init__()
        self._allow_hosted = allow_hosted
        self.hooks = FrameworkHooks(SUPPORT, options)
        _guard_tools()

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return self.hooks.run_sync(self.abefore_agent(state, runtime))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        run = self.hooks.new_run(thread=_thread_of(runtime), agent=_agent_name())
        last = next((each for each in reversed(state["messages"]) if isinstance(each, HumanMessage)), None)
        answer = await run.start("" if last is None else _text_of(last))
        found: dict[str, Any] = {_RUN_KEY: run.key}
        if answer.refusal is not None:
            await run.finish()
            return {**found, "jump_to": "end", "messages": [AIMessage(answer.refusal)]}
        if answer.is_changed and last is not None:
            return {**found, "messages": [_with_text(last, answer.prompt)]}
        if answer.is_changed:
            return {**found, "messages": [HumanMessage(answer.prompt)]}
        return found

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        run = self._run_of(request.state, request.runtime)
        answer = self.hooks.run_sync(self._before_model(run, request))
        if answer.halted is not None:
            return _stopped(answer.halted)
        try:
            response = handler(_changed_request(request, answer))
        except GraphBubbleUp:
            raise
        except Exception as error:
            self.hooks.run_sync(run.model_failed(error))
            if run.halted is not None:
                return _stopped(run.halted)
            raise
        return self.hooks.run_sync(_after_model(run, response))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        run = self._run_of(request.state, request.runtime)
        answer = await self._before_model(run, request)
        if answer.halted is not None:
            return _stopped(answer.halted)
        try:
            response = await handler(_changed_request(request, answer))
        except GraphBubbleUp:
            raise
        except Exception as error:
            await run.model_failed(error)
            if run.halted is not None:
                return _stopped(run.halted)
            raise
        return await _after_model(run, response)

    @hook_config(can_jump_to=["model", "end"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        return self.hooks.run_sync(self.aafter_model(state, runtime))

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, AIMessage) or last.tool_calls:
            return None
        run = self._run_of(state, runtime)
        if run.halted is not None:
            return {"jump_to": "end"}
        reason = await run.stop(_text_of(last))
        return None if reason is None else {"jump_to": "model", "messages": [HumanMessage(reason)]}

    def after_agent(self, state: Any, runtime: Any) -> None:
        self.hooks.run_sync(self._run_of(state, runtime).finish())

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        await self._run_of(state, runtime).finish()

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return self._wrap_call(request, handler, can_pause=True)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await self._awrap_call(request, handler, can_pause=True)

    def wrap_node_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """For a `ToolNode` of your own graph."""
        return self._wrap_call(request, handler, can_pause=_is_only_call(request))

    async def awrap_node_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await self._awrap_call(request, handler, can_pause=_is_only_call(request))

    def _wrap_call(self, request: Any, handler: Callable[[Any], Any], *, can_pause: bool) -> Any:
        questions = _TaskQuestions(request.runtime.config, can_pause)
        if questions.has_answers:
            questions.load(questions.saver.get_tuple(questions.place))
        try:
            return self._decide_call(request, handler, questions)
        except GraphBubbleUp:
            if questions.must_forget_answer:
                questions.saver.put_writes(*questions.forgotten_answer)
            raise

    async def _awrap_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]], *, can_pause: bool) -> Any:
        questions = _TaskQuestions(request.runtime.config, can_pause)
        if questions.has_answers:
            questions.load(await questions.saver.aget_tuple(questions.place))
        try:
            return await self._adecide_call(request, handler, questions)
        except GraphBubbleUp:
            if questions.must_forget_answer:
                await questions.saver.aput_writes(*questions.forgotten_answer)
            raise

    def _decide_call(self, request: Any, handler: Callable[[Any], Any], questions: _TaskQuestions) -> Any:
        run, call = self._run_of(request.state, request.runtime), _call_of(request)
        answer = self.hooks.run_sync(run.before_tool(call))
        keep = run.keep_decision if answer.question is None else run.keep_question
        if answer.question is not None:
            approved, id = questions.ask(answer.question), question_id(answer.question)
            answer = self.hooks.run_sync(run.before_tool(call, approved=approved, answered=id))
        if answer.input is None:
            return _refusal(request, answer)
        decided = DecidedCall(run, call, answer.input, questions.ask)
        try:
            with run.tool_context(), decided.pending(request.runtime.config, _tools_of(request)):
                result = handler(_changed_call(request, answer))
        except GraphBubbleUp:
            keep(call, answer)
            raise
        except Exception as error:
            return self.hooks.run_sync(_judge_error(request.tool_call, decided, error))
        if decided.was_stopped:
            return result
        return self.hooks.run_sync(_judge_result(request.tool_call, decided, result))

    async def _adecide_call(
        self, request: Any, handler: Callable[[Any], Awaitable[Any]], questions: _TaskQuestions
    ) -> Any:
        run, call = self._run_of(request.state, request.runtime), _call_of(request)
        answer = await run.before_tool(call)
        keep = run.keep_decision if answer.question is None else run.keep_question
        if answer.question is not None:
            approved, id = questions.ask(answer.question), question_id(answer.question)
            answer = await run.before_tool(call, approved=approved, answered=id)
        if answer.input is None:
            return _refusal(request, answer)
        decided = DecidedCall(run, call, answer.input, questions.ask)
        try:
            with run.tool_context(), decided.pending(request.runtime.config, _tools_of(request)):
                result = await handler(_changed_call(request, answer))
        except GraphBubbleUp:
            keep(call, answer)
            raise
        except Exception as error:
            return await _judge_error(request.tool_call, decided, error)
        return result if decided.was_stopped else await _judge_result(request.tool_call, decided, result)

    def new_undecided_call(self, runtime: Any) -> DecidedCall:
        """Around all middleware of a call."""
        return new_undecided_call(self._run_of(runtime.state, runtime), runtime.tool_call_id)

    def halt_if_hosted(self, request: Any) -> Any:
        """What to answer instead of sending a request with a tool that the model's provider runs. None if it has none."""
        given = [*request.tools, *(request.model_settings.get("tools") or ())]
        hosted = None if self._allow_hosted else _hosted_tool(given)
        if hosted is None:
            return None
        reason = hosted_tool_reason(hosted)
        self._run_of(request.state, request.runtime).halt(reason)
        return ModelResponse([_stopped(reason)])

    async def _before_model(self, run: AgentRun, request: Any) -> RequestAnswer:
        self.halt_if_hosted(request)
        return await run.before_model(request.messages, FORMAT, request.system_prompt)

    def _run_of(self, state: Any, runtime: Any) -> AgentRun:
        thread = _thread_of(runtime)
        key = state.get(_RUN_KEY) if isinstance(state, Mapping) else None
        return self.hooks.run_of(key or f"{thread or ''}-{_prompt_index(state)}", thread=thread, agent=_agent_name())


def _guard_tools() -> None:
    """Once for the process. Calls of agents without hooks stay as they are."""
    wrappers = ((ToolNode, _NODE_METHODS), (BaseTool, _TOOL_METHODS), (factory, _CHAIN_FUNCTIONS))
    for owner, methods in wrappers:
        for name, wrap in methods.items():
            inner = getattr(owner, name, None)
            if inner is None:
                raise HooklineError(f"hookline does not know this version of LangChain: {owner.__name__} has no {name}")
            if not hasattr(inner, "__wrapped__"):
                setattr(owner, name, wrap(inner))


def _middleware_of(node: Any) -> HooklineMiddleware | None:
    """A node has only a function that is made of all middleware."""
    return _find_middleware(node._wrap_tool_call, node._awrap_tool_call)


def _find_middleware(*functions: Any) -> HooklineMiddleware | None:
    """Ours, if it is in their closures."""
    waiting, seen = list(functions), set[int]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, HooklineMiddleware):
            return each
        if id(each) in seen or not isinstance(each, FunctionType | MethodType | functools.partial):
            continue
        seen.add(id(each))
        waiting += [getattr(each, name, None) for name in ("__self__", "__wrapped__", "__func__", "func")]
        waiting += [cell.cell_contents for cell in getattr(each, "__closure__", None) or () if _has_contents(cell)]
    return None


def _has_contents(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # not assigned yet
        return False


def _guard_chain(chain: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """Looks at the tools of a request after all middleware."""

    @functools.wraps(chain)
    def guarded(handlers: Any) -> Any:
        chained, hooks = chain(handlers), _find_middleware(*handlers)
        return chained if hooks is None else functools.partial(run, chained, hooks)

    return guarded


def _run_chain(
    chained: Callable[..., Any], hooks: HooklineMiddleware, request: Any, handler: Callable[[Any], Any]
) -> Any:
    return chained(request, lambda each: hooks.halt_if_hosted(each) or handler(each))


async def _run_async_chain(
    chained: Callable[..., Awaitable[Any]],
    hooks: HooklineMiddleware,
    request: Any,
    handler: Callable[[Any], Awaitable[Any]],
) -> Any:
    async def last(each: Any) -> Any:
        return hooks.halt_if_hosted(each) or await handler(each)

    return await chained(request, last)


def _guard_call(run_one: Callable[..., Any]) -> Callable[..., Any]:
    """Decides about calls that middleware before ours makes itself, and sees their results."""

    @functools.wraps(run_one)
    def guarded(node: Any, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        hooks = _middleware_of(node)
        if hooks is None:
            with without_hooks():
                return run_one(node, call, input_type, tool_runtime)
        undecided = hooks.new_undecided_call(tool_runtime)
        try:
            with undecided.pending(tool_runtime.config, node.tools_by_name.values()):
                result = run_one(node, call, input_type, tool_runtime)
        except Exception as error:
            if not undecided.was_reached or isinstance(error, GraphBubbleUp):
                raise
            return hooks.hooks.run_sync(_judge_error(call, undecided, error))
        return hooks.hooks.run_sync(_judge_result(call, undecided, result)) if undecided.has_run else result

    return guarded


def _guard_async_call(run_one: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run_one)
    async def guarded(node: Any, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        hooks = _middleware_of(node)
        if hooks is None:
            with without_hooks():
                return await run_one(node, call, input_type, tool_runtime)
        undecided = hooks.new_undecided_call(tool_runtime)
        try:
            with undecided.pending(tool_runtime.config, node.tools_by_name.values()):
                result = await run_one(node, call, input_type, tool_runtime)
        except Exception as error:
            if not undecided.was_reached or isinstance(error, GraphBubbleUp):
                raise
            return await _judge_error(call, undecided, error)
        return await _judge_result(call, undecided, result) if undecided.has_run else result

    return guarded


def _guard_node(execute: Callable[..., Any]) -> Callable[..., Any]:
    """Decides after all middleware."""

    @functools.wraps(execute)
    def guarded(node: Any, request: Any, input_type: Any, config: Any) -> Any:
        decided = find_decided_call(config)
        if decided is None:
            return execute(node, request, input_type, config)
        call = _call_of(request)
        answer = decided.answer_sync(call)
        if answer.input is None:
            return _refusal(request, answer)
        with decided.running(call, answer.input):
            return execute(node, _changed_call(request, answer), input_type, config)

    return guarded


def _guard_async_node(execute: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(execute)
    async def guarded(node: Any, request: Any, input_type: Any, config: Any) -> Any:
        decided = find_decided_call(config)
        if decided is None:
            return await execute(node, request, input_type, config)
        call = _call_of(request)
        answer = await decided.answer(call)
        if answer.input is None:
            return _refusal(request, answer)
        with decided.running(call, answer.input):
            return await execute(node, _changed_call(request, answer), input_type, config)

    return guarded


def _guard_run(run: Callable[..., Any]) -> Callable[..., Any]:
    """Middleware may run a tool itself, without its handler."""

    @functools.wraps(run)
    def guarded(tool: Any, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        decided = find_decided_call(tool=tool)
        if decided is None:
            return run(tool, tool_input, *args, **kwargs)
        call = _direct_call(tool, tool_input, kwargs)
        answer = decided.answer_sync(call)
        with _run_or_refuse(decided, call, answer):
            return run(tool, answer.input if answer.is_changed else tool_input, *args, **kwargs)

    return guarded


def _guard_async_run(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    async def guarded(tool: Any, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        decided = find_decided_call(tool=tool)
        if decided is None:
            return await run(tool, tool_input, *args, **kwargs)
        call = _direct_call(tool, tool_input, kwargs)
        answer = await decided.answer(call)
        with _run_or_refuse(decided, call, answer):
            return await run(tool, answer.input if answer.is_changed else tool_input, *args, **kwargs)

    return guarded


_NODE_METHODS: Final = {
    "_run_one": _guard_call,
    "_arun_one": _guard_async_call,
    "_execute_tool_sync": _guard_node,
    "_execute_tool_async": _guard_async_node,
}
_CHAIN_FUNCTIONS: Final = {
    "_chain_model_call_handlers": functools.partial(_guard_chain, run=_run_chain),
    "_chain_async_model_call_handlers": functools.partial(_guard_chain, run=_run_async_chain),
}
_TOOL_METHODS: Final = {"run": _guard_run, "arun": _guard_async_run}


def _direct_call(tool: Any, tool_input: Any, kwargs: dict[str, Any]) -> FrameworkCall:
    given = tool_input if isinstance(tool_input, dict) else {next(iter(tool.args), "input"): tool_input}
    id = kwargs.get("tool_call_id")
    return _make_call(tool, tool.name, given, id)


def _run_or_refuse(decided: DecidedCall, call: FrameworkCall, answer: CallAnswer) -> AbstractContextManager[None]:
    """Raises the refusal, or is the context in which the tool runs."""
    if answer.input is None:
        raise ToolException(answer.refusal or "Not approved.")
    return decided.running(call, answer.input)


def _messages_of(state: Any) -> list[Any]:
    found = state.get("messages", []) if isinstance(state, Mapping) else getattr(state, "messages", state)
    return found if isinstance(found, list) else []


def _prompt_index(state: Any) -> str:
    """Names the run in a graph that is not an agent: it begins with a prompt."""
    messages = _messages_of(state)
    last = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), None)
    return "" if last is None else f"{last}-{messages[last].id or _text_of(messages[last])}"


def _thread_of(runtime: Any) -> str | None:
    info = getattr(runtime, "execution_info", None)
    return None if info is None else info.thread_id


def _agent_name() -> str:
    try:
        found = get_config().get("metadata", {}).get("lc_agent_name")
    except RuntimeError:  # outside of a graph
        return ""
    return found if isinstance(found, str) else ""


def _text_of(message: Any) -> str:
    return message.content if isinstance(message.content, str) else str(message.text)


def _with_text(message: Any, text: str) -> Any:
    """Images and other parts stay; all text becomes one part."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    others = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
    return message.model_copy(update={"content": [{"type": "text", "text": text}, *others]})


def _read(message: BaseMessage) -> PlainMessage:
    plain: PlainMessage = {"role": _ROLES.get(message.type, "user"), "content": _text_of(message)}
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = [_plain_call(call) for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        plain |= {"tool_call_id": message.tool_call_id, "name": message.name or ""}
    return plain


def _plain_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": call.get("id") or "",
        "type": "function",
        "function": {"name": call["name"], "arguments": value_text(to_plain_value(call["args"]))},
    }


def _create(role: str, text: str) -> BaseMessage:
    return {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}[role](text)


FORMAT: Final[MessageFormat[Any]] = MessageFormat(_read, _with_text, _create)


def _hosted_tool(tools: list[Any]) -> str | None:
    """The name of a tool that the model's provider runs, if there is one. A tool of the agent may have its name."""
    own = {tool.name for tool in tools if not isinstance(tool, dict)}
    for tool in tools:
        if isinstance(tool, dict) and tool.get("type") != "function" and tool.get("name") not in own:
            return str(tool.get("type") or tool.get("name") or "a tool of the model's provider")
    return None


def _changed_request(request: Any, answer: RequestAnswer) -> Any:
    changes: dict[str, Any] = {}
    if answer.messages is not None:
        changes["messages"] = answer.messages
    if answer.system is not None:
        changes["system_message"] = SystemMessage(answer.system)
    return request.override(**changes) if changes else request


async def _after_model(run: AgentRun, response: Any) -> Any:
    """The response may be a message, or have several."""
    messages = response.result if hasattr(response, "result") else [response]
    for at, message in enumerate(messages):
        if not isinstance(message, AIMessage):
            continue
        text = _text_of(message)
        left = await run.after_model(text, [_plain_call(call) for call in message.tool_calls])
        if left != text:
            messages[at] = _with_text(message, left)
    return response if hasattr(response, "result") else messages[0]


def _stopped(reason: str) -> Any:
    return AIMessage(f"Stopped by a hook: {reason}")


def _call_of(request: Any) -> FrameworkCall:
    """Middleware may put another tool in the place of the one that the model named."""
    call, tool = request.tool_call, request.tool
    return _make_call(tool, call["name"] if tool is None else tool.name, call["args"], call.get("id"))


def _tools_of(request: Any) -> list[Any]:
    return [] if request.tool is None else [request.tool]


def _make_call(tool: Any, name: str, given: Any, id: str | None) -> FrameworkCall:
    return FrameworkCall(name, to_plain_value(given), id or new_call_id(), _defaults_of(tool))


def _defaults_of(tool: Any) -> ToolDefaults:
    """A model validates the arguments. Without one, they go to the function as they are."""
    if tool is None:
        return NO_DEFAULTS
    schema = tool.args_schema
    if isinstance(schema, type):
        return defaults_of(tool, DefaultSources(schema, hidden=lambda: _not_asked_for(tool, schema)))
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool._run
    return defaults_of(tool, DefaultSources(None, function, schema, hidden=lambda: _not_given(tool, function)))


def _not_asked_for(tool: Any, schema: Any) -> set[str]:
    """What LangChain injects, and the names that it makes for `*args` and `**kwargs`."""
    asked = get_fields(tool.tool_call_schema)
    return {"args", "kwargs", *(name for name in get_fields(schema) if name not in asked)}


def _not_given(tool: Any, function: Any) -> set[str]:
    """What LangChain injects. A tool with a single argument is given it under another name."""
    configs = [name for name, hint in hints_of(function).items() if RunnableConfig in (hint, *get_args(hint))]
    only = list(signature(function).parameters)[:1] if isinstance(tool, Tool) else []
    return {"run_manager", "callbacks", *configs, *only, *tool._injected_args_keys}


def _is_only_call(request: Any) -> bool:
    """LangGraph gives answers to the questions of one node by their order, which is not fixed for calls in threads."""
    last = next((each for each in reversed(_messages_of(request.state)) if isinstance(each, AIMessage)), None)
    return last is not None and len(last.tool_calls) == 1


class _TaskQuestions:
    """What a task of a graph asks. LangGraph gives a task its answers by their order only, also if the task has changed.

    It stores a question in the checkpoint, and the answers when the task asks again. So a question has an id and the place of
    its answer, and the answer gets the id before anybody reads it.
    """

    def __init__(self, config: Any, can_pause: bool) -> None:
        self._config: dict[str, Any] = config.get("configurable", {})
        self._task = str(self._config.get("__pregel_task_id"))
        self._answers = self._config.get("__pregel_scratchpad")
        self.saver = self._config.get("__pregel_checkpointer")
        self._can_ask = can_pause and self.saver not in (None, False)  # otherwise, nobody could ever answer
        self._asked: dict[str, Any] = {}  # the question that waits
        self._has_new_answer = self._can_ask and self._answers.get_null_resume(False) is not None
        self.must_forget_answer = False

    @property
    def has_answers(self) -> bool:
        return self._can_ask and bool(self._has_new_answer or self._answers.resume)

    @property
    def place(self) -> Any:
        """The checkpoint that has the question."""
        return self._checkpoint(str(self._config.get("checkpoint_ns", "")).rpartition("|")[0])

    @property
    def forgotten_answer(self) -> tuple[Any, list[tuple[str, None]], str]:
        """What to write into the first graph's checkpoint: LangGraph gives an answer without an id to a later question, too."""
        return self._checkpoint(""), [("__resume__", None)], _NO_TASK

    def _checkpoint(self, namespace: str) -> Any:
        about = {"thread_id": self._config.get("thread_id"), "checkpoint_ns": namespace}
        return {"configurable": {**about, "checkpoint_id": self._config.get("checkpoint_map", {}).get(namespace)}}

    def load(self, saved: Any) -> None:
        for task, channel, value in () if saved is None else saved.pending_writes or ():
            if task == self._task and channel == "__interrupt__":
                shown = value[-1].value if value else None
                asked = shown.get(_QUESTION_KEY) if isinstance(shown, dict) else None
                self._asked = asked if isinstance(asked, dict) else {}

    def ask(self, question: Question) -> bool:
        """Pauses the graph, which starts the task again with the answer. The question has the form of LangChain's own."""
        if not self._can_ask:
            return False
        id = f"{self._task}-{question_id(question)}"
        self._mark_answer(id)
        action = {"name": question.tool, "args": question.input, "description": question.reason}
        review = {"action_name": question.tool, "allowed_decisions": ["approve", "reject"]}
        asked: dict[str, Any] = {"id": id}
        shown = {"action_requests": [action], "review_configs": [review], "hook": question.hook, _QUESTION_KEY: asked}
        while True:
            try:
                answer = interrupt(shown)
            except GraphBubbleUp:
                asked["place"] = len(self._answers.resume)
                self.must_forget_answer = self._has_new_answer
                raise
            if isinstance(answer, dict) and answer.get(_QUESTION_KEY) == id:
                return _is_approval(answer.get("answer"))

    def _mark_answer(self, id: str) -> None:
        """The answer to the question that waits, if it is this one."""
        place, answers = self._asked.get("place"), self._answers.resume
        if self._asked.get("id") != id or not isinstance(place, int):
            return
        new = self._answers.get_null_resume(True) if place == len(answers) else None
        if new is not None:
            answers.append(new)
        if place < len(answers):
            answers[place] = {_QUESTION_KEY: id, "answer": answers[place]}


def _is_approval(answer: Any) -> bool:
    decisions = answer.get("decisions") if isinstance(answer, dict) else None
    if isinstance(decisions, list):
        return len(decisions) == 1 and isinstance(decisions[0], dict) and decisions[0].get("type") == "approve"
    return answer is True


def _refusal(request: Any, answer: CallAnswer) -> Any:
    return _error_message(request.tool_call, answer.refusal or "Not approved.")


def _error_message(call: Mapping[str, Any], text: str) -> Any:
    return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")


def _changed_call(request: Any, answer: CallAnswer) -> Any:
    if not answer.is_changed:
        return request
    return request.override(tool_call={**request.tool_call, "args": answer.input})


async def _judge_result(call: Mapping[str, Any], decided: DecidedCall, result: Any) -> Any:
    """A tool may return several messages, and commands with messages among other updates."""
    if isinstance(result, list):
        return [await _judge_result(call, decided, each) for each in result]
    if isinstance(result, ToolMessage):
        return await _judge_message(decided, result)
    update = result.update if isinstance(result, Command) else result
    messages = update.get("messages", ()) if isinstance(update, dict) else ()
    if not any(isinstance(each, ToolMessage) for each in messages):
        text = value_text(to_plain_value(update))
        after = await decided.run.after_tool(decided.call, text, input=decided.call.input)
        return _error_message(call, after.text) if after.is_changed else result
    left = [await _judge_message(decided, each) if isinstance(each, ToolMessage) else each for each in messages]
    return dataclasses.replace(result, update={**update, "messages": left})


async def _judge_message(decided: DecidedCall, message: ToolMessage) -> ToolMessage:
    call, text = decided.call, isinstance(message.content, str)
    value = message.content if text else to_plain_value(message.content)
    error = value_text(value) if message.status == "error" else None
    after = await decided.run.after_tool(call, value, input=call.input, error=error)
    if not after.is_changed and not after.notes:
        return message
    content = after.text if after.is_changed or text else _appended(message, after)
    changes: dict[str, Any] = {"content": content, "status": "success" if after.ok else "error"}
    if after.is_changed:
        changes["artifact"] = None  # it may have what hooks removed
    return message.model_copy(update=changes)


async def _judge_error(call: Mapping[str, Any], decided: DecidedCall, error: Exception) -> Any:
    if decided.was_stopped:
        return _error_message(call, decided.refusal or "")
    text = f"{type(error).__name__}: {error}"
    after = await decided.run.after_tool(decided.call, None, input=decided.call.input, error=text)
    if not after.is_changed and not after.notes:
        raise error
    return _error_message(call, after.text)


def _appended(message: Any, after: ResultAnswer) -> list[Any]:
    return [*message.content, {"type": "text", "text": after.notes}]
