"""Strands Agents: `Agent(…, interventions=[HooklineHandler()])`.

Hooks of the program and middleware of the agent run after interventions and may change a call, so the end of the middleware
is wrapped too: a call that no hook has decided about is decided there.
"""

from __future__ import annotations

import functools
import hashlib
import weakref
from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar
from typing import Any, Final, Unpack

from hookline.errors import HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, FrameworkCall
from hookline.frameworks.decided_call import DecidedCall, new_undecided_call
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.hosts.python.session import Question
from hookline.lazy_dataclasses import dataclass

with extra_required("hookline.frameworks.strands needs Strands Agents", "strands"):
    from strands import Agent
    from strands.interventions import Deny, Guide, InterventionHandler, Proceed, Transform
    from strands.interventions.actions import default_evaluate
    from strands.middleware import ExecuteToolStage
    from strands.middleware._registry import MiddlewareRegistry
    from strands.types.events import ToolResultEvent

SUPPORT: Final = FrameworkSupport(
    name="strands",
    title="Strands Agents",
    package="strands-agents",
    extra="strands",
    version="1.62.0",
    installs_as="Agent(…, interventions=[HooklineHandler()])",
    events=ALL_EVENTS,
    answers={"ask": "yes, as an interrupt", "request": "yes, and the change stays in the agent's messages"},
    keeps_requests=True,
    pauses=True,
)
_EMPTY: Final = Proceed()
_ROUTING: Final = ("_background_execution",)  # what the model puts into an input for Strands, which no tool gets
_decided_call: Final[ContextVar[tuple[Any, DecidedCall] | None]] = ContextVar("strands_decided_call", default=None)
"""The agent, and what was decided about its tool."""
_handlers: Final[weakref.WeakKeyDictionary[Any, HooklineHandler]] = weakref.WeakKeyDictionary()


class HooklineHandler(InterventionHandler):
    """Hooks around one agent. Sub-agents need one too; it may be the same object."""

    name = "hookline"
    on_error = "deny"

    def __init__(self, **options: Unpack[HookOptions]) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        _guard_middleware()
        _guard_structured_output()

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    async def before_invocation(self, event: Any, **kwargs: Any) -> Any:
        run = self.hooks.new_run(thread=_thread_of(event.agent), agent=event.agent.name)
        event.invocation_state[_key(event.agent)] = run.key
        blocks = [block for message in event.messages or () for block in message["content"] if "text" in block]
        answer = await run.start("\n".join(block["text"] for block in blocks) if blocks else None)
        if answer.refusal is not None:
            return Deny(reason=answer.refusal)
        if not answer.is_changed or not blocks:
            return _EMPTY

        def apply(event: Any) -> None:
            for block in blocks:
                block["text"] = answer.prompt if block is blocks[0] else ""

        return Transform(apply=apply)

    async def before_model_call(self, event: Any, **kwargs: Any) -> Any:
        run = self._run_of(event)
        pieces = [_Piece(message, block) for message in event.agent.messages for block in message["content"]]
        answer = await run.before_model(pieces, FORMAT, event.agent.system_prompt)
        if answer.halted is not None:
            return Deny(reason=answer.halted)

        def apply(event: Any) -> None:
            if answer.messages is not None:
                event.agent.messages[:] = _messages(answer.messages)
            if answer.system is not None:
                event.agent.system_prompt = answer.system

        return Transform(apply=apply)

    async def after_model_call(self, event: Any, **kwargs: Any) -> Any:
        run = self._run_of(event)
        if event.stop_response is None:
            if event.exception is not None:
                await run.model_failed(event.exception)
            return _EMPTY
        content = event.stop_response.message["content"]
        calls = [block["toolUse"] for block in content if "toolUse" in block]
        text = "".join(block["text"] for block in content if "text" in block)
        left = await run.after_model(text, [_plain_call(call) for call in calls])
        if left != text:
            content[:] = [{"text": left}, *(block for block in content if "text" not in block)]
        reason = None if calls else await run.stop(left)
        return _EMPTY if reason is None else Guide(feedback=reason)

    async def before_tool_call(self, event: Any, **kwargs: Any) -> Any:
        run, call = self._run_of(event), _call_of(event.selected_tool, event.tool_use)
        chosen = {name: value for name, value in event.tool_use["input"].items() if name in _ROUTING}
        _handlers[event.agent] = self
        _decided_call.set(None)
        answer = await run.before_tool(call)
        if answer.question is not None:
            asked = answer.question
            told = event.interrupt(
                _interrupt_name(call, asked), reason={"reason": asked.reason, "tool": asked.tool, "input": asked.input}
            )
            answer = await run.before_tool(call, approved=default_evaluate(told), answered=question_id(asked))
        if answer.input is None:
            return Deny(reason=answer.refusal or "Not approved.")
        if answer.is_changed:
            event.tool_use["input"] = {**answer.input, **chosen}
        _decided_call.set((event.agent, DecidedCall(run, call, answer.input)))
        return _EMPTY

    async def after_tool_call(self, event: Any, **kwargs: Any) -> Any:
        decided = _decided_call_of(event.agent)
        if decided is None:
            return _EMPTY
        _decided_call.set(None)
        if decided.was_stopped or event.cancel_message is not None:
            return _EMPTY
        run, call = decided.run, decided.call
        failed = event.result.get("status") == "error"
        content = event.result["content"]
        only_text = all(set(block) == {"text"} for block in content)
        value = "\n".join(block["text"] for block in content) if only_text else to_plain_value(content)
        error = value_text(value) if failed else None
        after = await run.after_tool(call, None if failed else value, input=call.input, error=error)
        if after.is_changed:
            status = "success" if after.ok else "error"
            event.result = {**event.result, "status": status, "content": [{"text": after.text}]}
        elif after.notes:
            event.result = {**event.result, "content": [*content, {"text": after.notes}]}
        return _EMPTY

    def new_undecided_call(self, context: Any) -> DecidedCall:
        """For a tool that Strands runs without `before_tool_call`."""
        return new_undecided_call(self._run_of(context), context.tool_use["toolUseId"])

    def _run_of(self, event: Any) -> AgentRun:
        key = event.invocation_state.get(_key(event.agent))
        if key is None:  # a tool that the program calls by itself
            key = event.invocation_state[_key(event.agent)] = f"{_key(event.agent)}-direct"
        return self.hooks.run_of(key, thread=_thread_of(event.agent), agent=event.agent.name)


def _key(agent: Any) -> str:
    """Agents of a graph may share the state."""
    return f"hookline_run_{id(agent)}"


def _thread_of(agent: Any) -> str | None:
    found = getattr(getattr(agent, "_session_manager", None), "session_id", None)
    return found if isinstance(found, str) else None


def _call_of(tool: Any, use: Any) -> FrameworkCall:
    """The tool may be another one than the one that the model named."""
    name = use["name"] if tool is None else tool.tool_name
    given = to_plain_value(use["input"])
    input = {key: given[key] for key in given if key not in _ROUTING}
    return FrameworkCall(name, input, use["toolUseId"], NO_DEFAULTS if tool is None else _defaults_of(tool))


def _defaults_of(tool: Any) -> ToolDefaults:
    """The model of a function validates its arguments. Of any other tool, such as that of an MCP server, there is a schema."""
    model = getattr(getattr(tool, "_metadata", None), "input_model", None)
    return defaults_of(tool, DefaultSources(model, schema=lambda: tool.tool_spec["inputSchema"]["json"]))


def _interrupt_name(call: FrameworkCall, question: Question) -> str:
    """An answer is for one name and id. A model may give several calls the same id, and hooks may leave another input later."""
    text = f"{call.key}\n{question_id(question)}"
    return f"hookline-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _decided_call_of(agent: Any) -> DecidedCall | None:
    """None inside of a tool that runs another agent."""
    found = _decided_call.get()
    return found[1] if found is not None and found[0] is agent else None


def _guard_middleware() -> None:
    """Once for the process. Calls of agents without hooks stay as they are."""
    compose: Any = MiddlewareRegistry.compose
    if hasattr(compose, "__wrapped__"):
        return

    @functools.wraps(compose)
    def guarded(registry: Any, stage: Any, terminal: Any) -> Any:
        return compose(registry, stage, _guard_tool(terminal) if stage is ExecuteToolStage else terminal)

    MiddlewareRegistry.compose = guarded


def _guard_structured_output() -> None:
    """Once for the process. The deprecated method calls the model without the events that interventions see."""
    structured_output: Any = Agent.structured_output_async
    if hasattr(structured_output, "__wrapped__"):
        return

    @functools.wraps(structured_output)
    async def guarded(agent: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(each, HooklineHandler) for each in agent._intervention_registry.handlers):
            raise HooklineError(
                "hooks cannot see the request of Agent.structured_output: call the agent with structured_output_model"
            )
        return await structured_output(agent, *args, **kwargs)

    Agent.structured_output_async = guarded


def _guard_tool(run_tool: Callable[[Any], AsyncGenerator[Any]]) -> Callable[[Any], AsyncGenerator[Any]]:
    """Decides after all middleware."""

    async def guarded(context: Any) -> AsyncGenerator[Any]:
        handler = _handlers.get(context.agent)
        if handler is None or context.tool is None:
            async for event in run_tool(context):
                yield event
            return
        decided = _decided_call_of(context.agent) or handler.new_undecided_call(context)
        call = _call_of(context.tool, context.tool_use)
        answer = await decided.answer(call)
        if answer.input is None:
            text = f"DENIED: {answer.refusal or 'Not approved.'}"
            yield ToolResultEvent({"toolUseId": call.id, "status": "error", "content": [{"text": text}]})
            return
        if answer.is_changed:
            context = context.replace(tool_use={**context.tool_use, "input": answer.input})
        decided.mark_running(call, answer.input)
        _decided_call.set((context.agent, decided))  # for `after_tool_call`
        events = run_tool(context)
        try:
            while True:
                with decided.run.tool_context():  # only while the tool works, not while the program reads its events
                    event = await anext(events, None)
                if event is None:
                    return
                yield event
        finally:
            await events.aclose()

    return guarded


@dataclass(frozen=True, slots=True)
class _Piece:
    """One block of a message: a message can have a text and the results of several calls."""

    message: Any
    block: Any


def _messages(pieces: list[_Piece]) -> list[Any]:
    grouped: list[tuple[Any, list[Any]]] = []
    for piece in pieces:
        if not grouped or grouped[-1][0] is not piece.message:
            grouped.append((piece.message, []))
        grouped[-1][1].append(piece.block)
    return [{**message, "content": blocks} for message, blocks in grouped]


def _plain_call(use: Any) -> dict[str, Any]:
    arguments = value_text(to_plain_value(use["input"]))
    return {"id": use["toolUseId"], "type": "function", "function": {"name": use["name"], "arguments": arguments}}


def _read(piece: _Piece) -> PlainMessage:
    block = piece.block
    if "toolUse" in block:
        return {"role": "assistant", "content": "", "tool_calls": [_plain_call(block["toolUse"])]}
    if "toolResult" in block:
        parts = [part.get("text") or value_text(to_plain_value(part)) for part in block["toolResult"]["content"]]
        return {"role": "tool", "content": "\n".join(parts), "tool_call_id": block["toolResult"]["toolUseId"]}
    return {"role": piece.message["role"], "content": block.get("text", "")}


def _with_text(piece: _Piece, text: str) -> _Piece:
    if "toolResult" in piece.block:
        return _Piece(piece.message, {"toolResult": {**piece.block["toolResult"], "content": [{"text": text}]}})
    return _Piece(piece.message, {**piece.block, "text": text})


def _create(role: str, text: str) -> _Piece:
    return _Piece({"role": "assistant" if role == "assistant" else "user", "content": []}, {"text": text})


FORMAT: Final[MessageFormat[_Piece]] = MessageFormat(_read, _with_text, _create)
