"""OpenAI Agents SDK: `HooklineHooks().install(agent)`.

The agent's tools, its model and the agents that it can call or hand off to are wrapped in place, so that every object that
holds the agent runs it with hooks.
"""

from __future__ import annotations

import inspect
import json
import weakref
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any, Final, Unpack

from hookline.errors import HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall, ResultAnswer
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import deep_equal
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question
from hookline.lazy_dataclasses import dataclass

with extra_required("hookline.frameworks.openai_agents needs the OpenAI Agents SDK", "openai-agents"):
    from agents import (
        Agent,
        AgentsException,
        ApplyPatchTool,
        CustomTool,
        FunctionTool,
        Handoff,
        LocalShellTool,
        Model,
        MultiProvider,
        ShellTool,
        handoff,
    )
    from agents.editor import ApplyPatchResult
    from agents.run_context import _ApprovalRecord

SUPPORT: Final = FrameworkSupport(
    name="openai_agents",
    title="OpenAI Agents SDK",
    package="openai-agents",
    extra="openai-agents",
    version="0.24.0",
    installs_as="HooklineHooks().install(agent)",
    events=ALL_EVENTS,
    answers={
        "ask": "yes, as an interruption of the run",
        "halt": "yes: the run ends with `RunStopped`",
    },
    pauses=True,
    covers_subagents="yes: handoffs and `as_tool` too",
)

_QUESTIONS: Final = "questions of hookline"  # no name of a tool
_agent_run: Final[ContextVar[AgentRun | None]] = ContextVar("openai_agents_run", default=None)
ThreadOf = Callable[[Any], "str | None"]


class RunStopped(AgentsException):
    """A hook denied the prompt, or halted the agent. The message is its reason."""


@dataclass(frozen=True, slots=True)
class _WaitingCall:
    run: AgentRun
    tool: str
    call: FrameworkCall
    question: Question


class HooklineHooks:
    """Hooks for any number of agents.

    thread_of: returns the thread from the context object that you pass to `Runner.run`. allow_hosted: let the agent have
    tools that OpenAI runs, which no hook can decide about.
    """

    def __init__(
        self, *, thread_of: ThreadOf | None = None, allow_hosted: bool = False, **options: Unpack[HookOptions]
    ) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._thread_of = thread_of
        self._allow_hosted = allow_hosted
        self._runs: weakref.WeakKeyDictionary[Any, AgentRun] = weakref.WeakKeyDictionary()
        self._waiting: dict[str, _WaitingCall] = {}  # by run and call: models may give calls the same id

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    def install(self, agent: Any) -> Any:
        """Puts the hooks around the agent and all that it can reach, and returns it."""
        if not isinstance(agent, Agent):
            raise HooklineError(f"{type(agent).__name__} is not an agent of the OpenAI Agents SDK that hookline knows")
        if getattr(agent, "hookline", None) is self:
            return agent
        if hasattr(agent, "hookline"):
            raise HooklineError(f"the agent {agent.name} has hooks already")
        agent.__class__ = _hooked_class(type(agent), self)
        agent.model = _HookedModel(agent.model, self)
        for tool in agent.tools:
            self.guard_tool(tool)
        self.guard_handoffs(agent)
        return agent

    def guard_handoffs(self, agent: Any) -> None:
        agent.handoffs = [self._guard_handoff(each, agent) for each in agent.handoffs]

    def question(self, item: Any) -> Question | None:
        """What the hooks ask about an item of `result.interruptions`."""
        asked = _parse(item.arguments or "{}")
        same = (each for each in self._waiting.values() if each.call.id == item.call_id and each.tool == item.name)
        return next((each.question for each in same if deep_equal(each.call.input, asked)), None)

    async def begin(self, context: Any, agent: Any) -> AgentRun:
        """The run with this context; a new one is started. Raises RunStopped."""
        run = self._runs.get(context) or await self._resumed_run(context)
        if run is None:
            thread = None if self._thread_of is None else self._thread_of(context.context)
            run = self._runs[context] = self.hooks.new_run(thread=thread, agent=agent.name)
            self.hooks.drop_run(run)
            answer = await run.start(_prompt_of(context.turn_input))
            if answer.refusal is not None:
                raise RunStopped(answer.refusal)
            run.changed_prompt = answer.prompt if answer.is_changed else None
        if run.halted is not None:
            raise RunStopped(run.halted)
        _agent_run.set(run)
        return run

    async def _resumed_run(self, context: Any) -> AgentRun | None:
        """A resumed run has a new context, which has a person's answers to the old one's calls."""
        thread = None if self._thread_of is None else self._thread_of(context.context)
        for key, waiting in list(self._waiting.items()):
            if thread not in (None, waiting.run.conversation.id):
                continue
            answer = context.is_tool_approved(waiting.tool, waiting.call.id)
            if answer is not None:
                self._runs[context] = waiting.run
            if answer is False:  # the SDK tells the model, and does not call the tool
                del self._waiting[key]
                await waiting.run.before_tool(waiting.call, approved=False)
        return self._runs.get(context)

    def current(self) -> AgentRun:
        """The run whose model or tool this code serves. A tool that is called outside of one has a run of its own."""
        return _agent_run.get() or self.hooks.new_run()

    def guard_tool(self, tool: Any) -> None:
        """In place, because the SDK recognises tools by their identity."""
        if getattr(_seam_of(tool), "hookline", None) is self:
            return
        if isinstance(tool, FunctionTool):
            self._guard_function(tool)
        elif isinstance(tool, CustomTool):
            self._guard_custom(tool)
        elif isinstance(tool, LocalShellTool) or (isinstance(tool, ShellTool) and tool.executor is not None):
            self._guard_shell(tool)
        elif isinstance(tool, ApplyPatchTool):
            tool.editor = _HookedEditor(tool.editor, self)
        elif not self._allow_hosted:
            raise HooklineError(
                f"hooks cannot decide about {type(tool).__name__}. Remove it, or accept that with allow_hosted=True."
            )

    def _guard_function(self, tool: Any) -> None:
        inner, needs_approval = tool.on_invoke_tool, tool.needs_approval
        function = getattr(tool, "__wrapped__", None)
        nested = getattr(tool, "_agent_instance", None)
        if nested is not None:
            self.install(nested)

        async def needs(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
            wanted = needs_approval
            if callable(wanted):
                wanted = wanted(context, arguments, call_id)
                wanted = await wanted if inspect.isawaitable(wanted) else wanted
            run = self.current()
            call = FrameworkCall(_name_of(tool), to_plain_value(arguments), call_id, _defaults_of(tool, function))
            answer = await run.before_tool(call, is_preview=True)
            if answer.question is not None:
                self._waiting[_waiting_key(run, call)] = _WaitingCall(run, tool.name, call, answer.question)
                _keep_question(context, call_id, answer.question)
            return bool(wanted) or answer.question is not None

        async def invoke(context: Any, arguments: str) -> Any:
            given, defaults = _parse(arguments), _defaults_of(tool, function)
            call = FrameworkCall(_name_of(tool), given, context.tool_call_id, defaults)

            async def execute(input: dict[str, Any], is_changed: bool) -> Any:
                return await inner(context, json.dumps(input) if is_changed else arguments)

            approved = context.is_tool_approved(tool.name, context.tool_call_id) is True
            return await self._call(call, execute, approved, _kept_question(context, call.id))

        tool.on_invoke_tool, tool.needs_approval = self._marked(invoke), needs

    def _guard_custom(self, tool: Any) -> None:
        inner = tool.on_invoke_tool

        async def invoke(context: Any, text: str) -> Any:
            async def execute(input: dict[str, Any], is_changed: bool) -> Any:
                result = inner(context, str(input.get("input", "")) if is_changed else text)
                return await result if inspect.isawaitable(result) else result

            return await self._call(FrameworkCall(tool.name, {"input": text}, context.tool_call_id), execute)

        tool.on_invoke_tool = self._marked(invoke)

    def _guard_shell(self, tool: Any) -> None:
        inner = tool.executor

        async def executor(request: Any) -> Any:
            action = request.data.action
            commands = action.commands if hasattr(action, "commands") else [list(action.command)]
            refused, given = [], []
            run = self.current()
            around = _surroundings(action)
            for at, command in enumerate(commands):
                call = FrameworkCall("shell", {"command": command, **around}, f"{request.data.call_id}-{at}")
                answer = await run.before_tool(call, approved=False)
                if answer.input is None or answer.is_changed:
                    refused.append(answer.refusal or f"A hook wants another command: {answer.input}")
                given.append(call)
            if refused:
                return "\n".join(refused)
            result = inner(request)
            result = await result if inspect.isawaitable(result) else result
            after = await run.after_tool(given[0], to_plain_value(result))
            return after.text if after.is_changed or after.notes else result

        tool.executor = self._marked(executor)

    def _marked(self, function: Any) -> Any:
        """A copy of the tool has the same function, so it is not wrapped twice."""
        function.hookline = self
        return function

    async def _call(
        self,
        call: FrameworkCall,
        execute: Callable[[dict[str, Any], bool], Any],
        approved: bool = False,
        answered: str | None = None,
    ) -> Any:
        run = self.current()
        answer = await run.before_tool(call, approved=approved or None, answered=answered)
        if answer.question is not None:  # the SDK asks before it runs the tool, and not again
            answer = await run.before_tool(call, approved=False)
        self._waiting.pop(_waiting_key(run, call), None)
        if answer.input is None:
            return answer.refusal
        try:
            with run.tool_context():
                result = await execute(answer.input, answer.is_changed)
        except AgentsException:
            raise  # a nested run was stopped or interrupted
        except Exception as error:
            after = await run.after_tool(call, None, input=answer.input, error=f"{type(error).__name__}: {error}")
            if after.is_changed or after.notes:
                return after.text
            raise
        return _output(result, await run.after_tool(call, to_plain_value(result), input=answer.input))

    def _guard_handoff(self, item: Any, source: Any) -> Any:
        if getattr(getattr(item, "on_invoke_handoff", None), "hookline", None) is self:
            return item
        given = item if isinstance(item, Handoff) else handoff(item)
        if isinstance(item, Agent):
            self.install(item)
        inner = given.on_invoke_handoff

        async def invoke(context: Any, arguments: str) -> Any:
            """A refused handoff stays with the agent, which reads why."""
            run = self.current()
            defaults = defaults_of(given, DefaultSources(schema=given.input_json_schema))
            shown = {"agent": given.agent_name, **_parse(arguments)}
            call = FrameworkCall(given.tool_name, shown, defaults=defaults)
            answer = await run.before_tool(call, approved=False)
            if answer.input is None or answer.is_changed:
                run.add_note(f"The handoff to {given.agent_name} was refused: {answer.refusal or 'a hook changed it'}")
                return source
            target = self.install(await inner(context, arguments))
            run.change_agent(target.name)
            await run.after_tool(call, target.name, input=answer.input)
            return target

        given.on_invoke_handoff = self._marked(invoke)
        return given


def _hooked_class(kind: Any, hookline: HooklineHooks) -> type:
    """A subclass of the agent's own class, so that its clones have the hooks too."""

    async def get_all_tools(self: Any, run_context: Any) -> Any:
        """The runner asks for the tools before every model call."""
        await hookline.begin(run_context, self)
        hookline.guard_handoffs(self)  # some may have been added later
        for tool in self.tools:
            hookline.guard_tool(tool)
        tools = await kind.get_all_tools(self, run_context)
        for tool in tools:  # a sandbox adds tools of its own
            hookline.guard_tool(tool)
        return tools

    async def get_mcp_tools(self: Any, run_context: Any) -> Any:
        tools = await kind.get_mcp_tools(self, run_context)
        for tool in tools:
            hookline.guard_tool(tool)
        return tools

    members = {"get_all_tools": get_all_tools, "get_mcp_tools": get_mcp_tools, "hookline": hookline}
    return type(kind.__name__, (kind,), {**members, "__module__": kind.__module__, "__doc__": kind.__doc__})


class _HookedModel(Model):
    """Sees every request and answer. At a denied stop, it asks the model again."""

    def __init__(self, inner: Any, hookline: HooklineHooks) -> None:
        self._inner = inner
        self._hookline = hookline

    @property
    def model(self) -> Any:
        """The model's own object. A name is looked up as the runner does without a RunConfig."""
        if not isinstance(self._inner, Model):
            self._inner = MultiProvider().get_model(self._inner)
        return self._inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def close(self) -> None:
        await self.model.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self.model.get_retry_advice(request)

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        run, items = self._hookline.current(), _items(input)
        while True:
            system, sent = await self._before(run, system_instructions, items)
            try:
                response = await self.model.get_response(system, sent, *args, **kwargs)
            except Exception as error:
                await self._failed(run, error)
                raise
            reason = await _after(run, response.output)
            if reason is None or not _can_repeat(kwargs):
                return response
            items = [*items, *response.to_input_items(), _user(reason)]

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        run, items = self._hookline.current(), _items(input)
        holds = self._hookline.hooks.session.book.hears("message.create")  # nothing is shown before they decide
        while True:
            system, sent = await self._before(run, system_instructions, items)
            held: list[Any] = []
            completed = None
            try:
                async for event in self.model.stream_response(system, sent, *args, **kwargs):
                    if getattr(event, "type", "") == "response.completed":
                        completed = event
                    elif holds:
                        held.append(event)
                    else:
                        yield event
            except Exception as error:
                await self._failed(run, error)
                raise
            if completed is None:
                return
            before = _answer_text(completed.response.output)
            reason = await _after(run, completed.response.output)
            if before == _answer_text(completed.response.output):
                for event in held:
                    yield event
            if reason is None or not _can_repeat(kwargs):
                yield completed
                return
            output = [each.model_dump(exclude_unset=True) for each in completed.response.output]
            items = [*items, *output, _user(reason)]

    async def _before(self, run: AgentRun, system: Any, items: list[Any]) -> tuple[Any, list[Any]]:
        if run.changed_prompt is not None:
            items[:] = _with_prompt(items, run.prompt_given, run.changed_prompt)
        answer = await run.before_model(items, FORMAT, system)
        if answer.halted is not None:
            raise RunStopped(answer.halted)
        return (
            answer.system if answer.system is not None else system,
            answer.messages if answer.messages is not None else items,
        )

    async def _failed(self, run: AgentRun, error: Exception) -> None:
        await run.model_failed(error)
        if run.halted is not None:
            raise RunStopped(run.halted) from error


def _can_repeat(options: dict[str, Any]) -> bool:
    """A conversation that the server keeps cannot be asked again from here."""
    return options.get("previous_response_id") is None and options.get("conversation_id") is None


async def _after(run: AgentRun, output: list[Any]) -> str | None:
    """Changes the output's texts in place. Returns what the model reads if it must go on."""
    calls = [_plain_call(each.call_id, each.name, each.arguments) for each in output if each.type == "function_call"]
    text = _answer_text(output)
    left = await run.after_model(text, calls)
    if left != text:
        parts = [part for each in output if each.type == "message" for part in each.content]
        for part in parts:
            part.text = ""
        if parts:
            parts[0].text = left
    acts = any(each.type not in ("message", "reasoning") for each in output)
    return None if acts else await run.stop(left)


def _answer_text(output: list[Any]) -> str:
    parts = (part for each in output if each.type == "message" for part in each.content)
    return "".join(getattr(part, "text", "") or "" for part in parts)


def _plain_call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _items(input: Any) -> list[Any]:
    return [_user(input)] if isinstance(input, str) else list(input)


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return value_text(to_plain_value(content))


def _prompt_of(items: list[Any]) -> str:
    found = next((each for each in reversed(items) if isinstance(each, dict) and each.get("role") == "user"), {})
    return _content_text(found.get("content", ""))


def _with_prompt(items: list[Any], old: str, new: str) -> list[Any]:
    """The last user message with this text gets another one."""
    for at in range(len(items) - 1, -1, -1):
        if isinstance(items[at], dict) and items[at].get("role") == "user" and _prompt_of([items[at]]) == old:
            return [*items[:at], _with_text(items[at], new), *items[at + 1 :]]
    return items


def _read(item: Any) -> PlainMessage:
    kind = item.get("type", "message")
    if kind == "function_call":
        call = _plain_call(item.get("call_id", ""), item.get("name", ""), item.get("arguments", ""))
        return {"role": "assistant", "content": "", "tool_calls": [call]}
    if kind == "function_call_output":
        return {
            "role": "tool",
            "content": _content_text(item.get("output", "")),
            "tool_call_id": item.get("call_id", ""),
        }
    if "role" in item:
        return {"role": item["role"], "content": _content_text(item.get("content", ""))}
    return {"role": "assistant", "content": "", "name": kind}


def _with_text(item: Any, text: str) -> Any:
    if item.get("type") == "function_call_output":
        return {**item, "output": text}
    content = item.get("content", "")
    if isinstance(content, str):
        return {**item, "content": text}
    texts = [part for part in content if isinstance(part, dict) and "text" in part]
    if not texts:
        return {**item, "content": [{"type": "input_text", "text": text}, *content]}
    left = [{**part, "text": text if part is texts[0] else ""} if part in texts else part for part in content]
    return {**item, "content": left}


FORMAT: Final[MessageFormat[Any]] = MessageFormat(_read, _with_text, lambda role, text: {"role": role, "content": text})


def _surroundings(action: Any) -> dict[str, Any]:
    """What else decides what a command of the local shell does."""
    named = {"cwd": "working_directory", "env": "env", "user": "user"}
    return {name: to_plain_value(value) for name, given in named.items() if (value := getattr(action, given, None))}


def _keep_question(context: Any, call_id: str, question: Question) -> None:
    """The SDK stores it with the answers, where no model writes."""
    record = context._approvals.setdefault(_QUESTIONS, _ApprovalRecord())
    record.rejection_messages[call_id] = question_id(question)


def _kept_question(context: Any, call_id: str) -> str | None:
    record = context._approvals.get(_QUESTIONS)
    return None if record is None else record.rejection_messages.get(call_id)


def _waiting_key(run: AgentRun, call: FrameworkCall) -> str:
    return f"{run.key}\n{call.key}"


def _seam_of(tool: Any) -> Any:
    """What runs the tool."""
    return next(
        (held for name in ("on_invoke_tool", "executor", "editor") if (held := getattr(tool, name, None))), tool
    )


def _name_of(tool: Any) -> str:
    """An MCP tool is named with its server, as everywhere in hookline."""
    binding = getattr(tool, "_mcp_tool_binding", None)
    if binding:
        return f"mcp__{binding[0]}__{binding[1]}"
    return str(tool.name)


def _defaults_of(tool: Any, function: Any) -> ToolDefaults:
    """The SDK makes a model of the function. A tool without one, such as that of an MCP server, has only a schema."""
    schema = tool.params_json_schema if function is None else None
    return defaults_of(tool, DefaultSources(None, function, schema, validates=True))


def _parse(arguments: str) -> dict[str, Any]:
    """Arguments that are not an object are judged as text."""
    try:
        found = json.loads(arguments or "{}")
    except ValueError:
        return {"input": arguments}
    return found if isinstance(found, dict) else {"input": arguments}


def _output(result: Any, after: ResultAnswer) -> Any:
    if after.is_changed or (after.notes and isinstance(result, str)):
        return after.text
    if not after.notes:
        return result
    return [*(result if isinstance(result, list) else [result]), {"type": "text", "text": after.notes}]


class _HookedEditor:
    """The editor of `apply_patch`: each operation is a call."""

    def __init__(self, inner: Any, hookline: HooklineHooks) -> None:
        self._inner, self.hookline = inner, hookline

    async def create_file(self, operation: Any) -> Any:
        return await self._apply(self._inner.create_file, "write_file", operation)

    async def update_file(self, operation: Any) -> Any:
        return await self._apply(self._inner.update_file, "edit_file", operation)

    async def delete_file(self, operation: Any) -> Any:
        return await self._apply(self._inner.delete_file, "filesystem.delete", operation)

    async def _apply(self, method: Callable[[Any], Any], name: str, operation: Any) -> Any:
        run = self.hookline.current()
        paths = [path for path in (operation.path, getattr(operation, "move_to", None)) if path]
        calls = [FrameworkCall(name, {"path": path, "content": operation.diff or ""}) for path in paths]
        for call in calls:
            answer = await run.before_tool(call, approved=False)
            if answer.input is None or answer.is_changed:
                why = answer.refusal or f"A hook wants another change: {value_text(answer.input)}"
                return ApplyPatchResult(status="failed", output=why)
        result = method(operation)
        result = await result if inspect.isawaitable(result) else result
        after = await run.after_tool(calls[0], to_plain_value(result))
        return ApplyPatchResult(status="completed", output=after.text) if after.is_changed or after.notes else result
