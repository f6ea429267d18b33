"""Our own agent as a host of AGENT-HOOKS 0.1: interceptors are asked at the points that the specification names.

Contexts are plain data, and the emitter of the specification's package composes the verdicts, so that package is not
imported here. Hooks decide first; interceptors see what hooks left.
"""

from __future__ import annotations

import itertools
import json
import time
from copy import deepcopy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from hookline.engine.decision import Decision
from hookline.errors import Denied, Halted, HooklineError
from hookline.hooks.event import deep_equal
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Verdict
from hookline.lazy_dataclasses import replace
from hookline.runtime.gate import ToolCall
from hookline.runtime.models.model import CompletionRequest, RequestedCall
from hookline.standard_agents.state import result_text

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.thread import StoredThread

JsonObject = dict[str, Any]

SPEC: Final = "agent-hooks/0.1"
_FRAMEWORK: Final = "hookline"
_MICROSECONDS: Final = 1_000_000


class Emitter(Protocol):
    """`InterceptionEmitter` of the package agent-hooks-sdk, with the interceptors that are registered in it."""

    async def emit_unchecked(self, context: JsonObject, /) -> Any:
        """The record of the emission. A transform is written into `context`."""


class InterceptionDeniedError(HooklineError):
    """Interceptors, or hooks that were asked about what interceptors left, do not let a tool call or its result pass."""

    def __init__(self, reason: str, halted: str | None = None) -> None:
        super().__init__(reason)
        self.halted = halted


class Interception:
    """The interceptors of a session. Without an emitter everything passes."""

    def __init__(self, session: AgentSession, emitter: Emitter | None) -> None:
        self._session = session
        self._emitter = emitter
        self._sequence = itertools.count()
        self._is_blocked = False  # the last input did not lead to an output
        self._labels: dict[str, list[str]] = {}  # by thread, until the next message is stored

    @property
    def is_active(self) -> bool:
        """True if text has to be held back until interceptors permit it."""
        return self._emitter is not None

    def take_labels(self, thread: StoredThread) -> JsonObject:
        """The fields of a message with the labels that interceptors gave its content."""
        labels = self._labels.pop(thread.id, None)
        return {"result_labels": labels} if labels else {}

    def resume(self) -> None:
        """Numbers go on rising after those of an earlier process, which are not stored."""
        self._sequence = itertools.count(int(time.time() * _MICROSECONDS))

    async def start(self, thread: StoredThread) -> None:
        """Raises Denied if the agent may not start."""
        tools = [tool.name for tool in thread.toolbox.offered_tools(thread.tools)] if self.is_active else []
        try:
            await self._emit(thread, "agent_startup", "agent_init", {"tools_registered": tools})
            self.take_labels(thread)
        except InterceptionDeniedError as denied:
            self._is_blocked = True
            await self.end(thread)
            raise Denied(str(denied)) from None

    async def end(self, thread: StoredThread, reason: str = "completed") -> None:
        """Nothing is left to prevent: the emitter records the verdict."""
        summary = {"reason": "error" if self._is_blocked else reason}
        try:
            await self._emit(thread, "agent_shutdown", "summary", summary)
        except InterceptionDeniedError as denied:
            self._session.emit_status(thread, f"the end of the session: {denied}", "warning")

    async def on_input(self, thread: StoredThread, prompt: str) -> str:
        """Raises Denied."""
        given = {"content": prompt, "role": "user"}
        try:
            left = await self._emit(thread, "input", "input", given)
            return _text_of(left, given)
        except InterceptionDeniedError as denied:
            self._is_blocked = True
            raise Denied(str(denied)) from None

    async def before_model(self, thread: StoredThread, model: str, request: CompletionRequest) -> CompletionRequest:
        """Raises Halted."""
        if not self.is_active:
            return request
        tools = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in request.tools]
        more = {"model": {"id": model}, "tools": tools}
        messages = await self._emit_or_halt(thread, "pre_model_call", "messages", list(request.messages), more)
        if not isinstance(messages, list) or not all(_is_message(message) for message in messages):
            raise self._halted("interceptors did not leave a list of messages")
        return replace(request, messages=tuple(messages))

    async def after_model(
        self, thread: StoredThread, model: str, text: str, calls: list[RequestedCall]
    ) -> tuple[str, list[RequestedCall]]:
        """The answer that the agent may use. Raises Halted."""
        if not self.is_active:
            return text, calls
        response = {
            "content": text or None,
            "tool_calls": [_describe_call(call) for call in calls],
            "finish_reason": "tool_calls" if calls else "stop",
        }
        more = {"model": {"id": model}}
        left = await self._emit_or_halt(thread, "post_model_call", "response", response, more)
        if not deep_equal(left, response):
            text, calls = self._parse_response(left)
        return text, calls

    async def before_tool(self, thread: StoredThread, call: ToolCall, decision: Decision) -> tuple[ToolCall, Decision]:
        """The call as interceptors left it, and the hooks' decision about that. Raises InterceptionDeniedError."""
        if not self.is_active:
            return call, decision
        described = {"id": call.id, "name": call.name, "args": call.input}
        left = await self._emit(thread, "pre_tool_call", None, call.input, {"tool_call": described})
        if deep_equal(left, call.input):
            return call, decision
        if not isinstance(left, dict):
            raise InterceptionDeniedError(f"interceptors left an input of {call.name} that is not an object")
        tool = {**decision.event.facts["tool"], "input": left}
        again = await self._session.decide(thread, "tool.before", {"tool": tool})
        halted = thread.take_halt(again)
        if again.denied or halted is not None:
            raise InterceptionDeniedError(again.full_reason or halted or f"{call.name} was denied", halted)
        if again.verdict is Verdict.ASK or not deep_equal(again.event.read(("tool", "input")), left):
            raise InterceptionDeniedError(
                f"interceptors changed the input of {call.name}, and hooks do not allow the new one as it is"
            )
        return replace(call, input=again.event.read(("tool", "input"))), again

    async def after_tool(self, thread: StoredThread, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result that the agent may get. Raises InterceptionDeniedError."""
        if not self.is_active:
            return result
        value = result.content if result.ok else f"{result.error}\n{result_text(result.content)}".strip()
        more = {
            "tool_call": {"id": call.id, "name": call.name, "args": call.input},
            "tool_result": {"value": value, "is_error": not result.ok},
        }
        left = await self._emit(thread, "post_tool_call", None, value, more)
        if deep_equal(left, value):
            return result
        return replace(result, content=left) if result.ok else replace(result, content=None, error=result_text(left))

    async def on_output(self, thread: StoredThread, text: str) -> str:
        """The text that may be stored and shown. Raises Halted."""
        given = {"content": text}
        left = await self._emit_or_halt(thread, "output", "output", given)
        self._is_blocked = False
        try:
            return _text_of(left, given)
        except InterceptionDeniedError as denied:
            raise self._halted(str(denied)) from None

    def _parse_response(self, response: Any) -> tuple[str, list[RequestedCall]]:
        text, calls = (response.get("content"), response.get("tool_calls")) if isinstance(response, dict) else (0, 0)
        if not (text is None or isinstance(text, str)) or not isinstance(calls, list) or not all(map(_is_call, calls)):
            raise self._halted("interceptors left an answer that is neither text nor tool calls")
        parsed = [
            RequestedCall(call["id"], call["name"], json.dumps(call["args"], ensure_ascii=False)) for call in calls
        ]
        return text or "", parsed

    async def _emit_or_halt(
        self, thread: StoredThread, point: str, name: str, target: Any, more: JsonObject | None = None
    ) -> Any:
        try:
            return await self._emit(thread, point, name, target, more)
        except InterceptionDeniedError as denied:
            raise self._halted(str(denied)) from None

    def _halted(self, reason: str) -> Halted:
        self._is_blocked = True
        return Halted(reason)

    async def _emit(
        self, thread: StoredThread, point: str, name: str | None, target: Any, more: JsonObject | None = None
    ) -> Any:
        """The target as interceptors left it. `name` is the field of the context that has the target, too.

        Raises InterceptionDeniedError, also if the emitter fails.
        """
        if self._emitter is None:
            return target
        context = {
            "spec": SPEC,
            "interception_point": point,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "sequence": next(self._sequence),
            "agent": {"id": thread.agent.id, "framework": _FRAMEWORK},
            "session": {"id": self._session.id},
            **deepcopy({"target": target, **(more or {}), **({name: target} if name is not None else {})}),
        }
        try:
            record = await self._emitter.emit_unchecked(context)
            proceeds, verdict = record.proceeds, record.verdict
        except Exception as error:  # third-party code may raise anything
            raise InterceptionDeniedError(f"interceptors could not be asked: {type(error).__name__}") from error
        if proceeds is not True:
            self._labels.pop(thread.id, None)
            raise InterceptionDeniedError(_denial_text(verdict))
        labels = self._labels.setdefault(thread.id, [])
        labels += [label for label in getattr(verdict, "result_labels", None) or () if label not in labels]
        return context["target"]


def _denial_text(verdict: Any) -> str:
    code, message = getattr(verdict, "reason", None), getattr(verdict, "message", None)
    said = f"{message} ({code})" if message and code else message or code or "no reason given"
    return f"blocked by an interceptor: {said}"


def _text_of(left: Any, given: JsonObject) -> str:
    content = left.get("content") if isinstance(left, dict) else None
    if not isinstance(content, str) or {**left, "content": None} != {**given, "content": None}:
        raise InterceptionDeniedError("interceptors left something that is not text")
    return content


def _describe_call(call: RequestedCall) -> JsonObject:
    try:
        args = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        args = None
    return {"id": call.id, "name": call.name, "args": args if isinstance(args, dict) else {"arguments": call.arguments}}


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("args"), dict):
        return False
    return isinstance(value.get("id"), str) and isinstance(value.get("name"), str)
