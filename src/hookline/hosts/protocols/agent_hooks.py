"""An interceptor of AGENT-HOOKS 0.1: any host of that specification registers it, and hookline's hooks decide.

Verdicts are plain data in the specification's form, so its package is not needed here.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import MISSING, deep_equal
from hookline.hooks.outcome import Verdict
from hookline.hosts.python.session import Session

JsonObject = dict[str, Any]

SPEC: Final = "agent-hooks/0.1"
_ALLOW: Final = "allow"


class HooksInterceptor:
    """`intercept` never lets an exception pass for an allow: the host turns one into a deny."""

    def __init__(self, session: Session) -> None:
        """`session` has the hooks; each context names the session that it belongs to."""
        self._session = session

    async def intercept(self, context: Mapping[str, Any]) -> JsonObject:
        spec, point = context.get("spec"), context.get("interception_point")
        if spec != SPEC:
            return _deny("unsupported_spec", f"hookline speaks {SPEC}, not {str(spec)[:40]}.")
        answer = _POINTS.get(point) if isinstance(point, str) else None
        if answer is None:
            return _deny("unsupported_point", f"hookline does not know the interception point {str(point)[:40]!r}.")
        return await answer(self, context)

    async def _fire(self, event: str, context: Mapping[str, Any], **facts: Any) -> Decision:
        named = {name: _mapping(context, name).get("id") for name in ("agent", "session")}
        known = {name: {"id": id} for name, id in named.items() if isinstance(id, str) and id}
        return await self._session.fire(event, {**known, **facts})

    async def _on_startup(self, context: Mapping[str, Any]) -> JsonObject:
        return _verdict_of(await self._fire("session.start", context), None)

    async def _on_input(self, context: Mapping[str, Any]) -> JsonObject:
        content = _mapping(context, "input").get("content")
        if content is None:
            raise TypeError("input has no content")
        decision = await self._fire("prompt.submit", context, prompt=_text(content))
        return _verdict_of(decision, "$target.content", ("prompt",), _text(content))

    async def _before_model(self, context: Mapping[str, Any]) -> JsonObject:
        messages = context.get("messages")
        if not isinstance(messages, list):
            raise TypeError("messages is not a list")
        decision = await self._fire("history.request", context, request={"messages": messages})
        return _verdict_of(decision, "$target", ("request", "messages"), messages)

    async def _after_model(self, context: Mapping[str, Any]) -> JsonObject:
        return {"decision": _ALLOW}  # the calls in it are decided one by one, before they run

    async def _before_tool(self, context: Mapping[str, Any]) -> JsonObject:
        tool = _tool_facts(context)
        decision = await self._fire("tool.before", context, tool=tool)
        return _verdict_of(decision, "$target", ("tool", "input"), tool["input"])

    async def _after_tool(self, context: Mapping[str, Any]) -> JsonObject:
        result = context.get("tool_result")
        if not isinstance(result, dict):
            raise TypeError("tool_result is not an object")
        value, ok = result.get("value"), result.get("is_error") is not True
        outcome = {"result": value, "ok": ok, **({} if ok else {"error": _text(value)})}
        decision = await self._fire("tool.after", context, tool={**_tool_facts(context), **outcome})
        return _verdict_of(decision, "$target", ("tool", "result"), value)

    async def _on_output(self, context: Mapping[str, Any]) -> JsonObject:
        return {"decision": _ALLOW}  # a hook on stop makes an agent continue; it does not withhold its answer

    async def _on_shutdown(self, context: Mapping[str, Any]) -> JsonObject:
        reason = _mapping(context, "summary").get("reason")
        id = _mapping(context, "session").get("id")
        await self._session.fire("session.end", {"session": {"id": id, "reason": str(reason)}})
        return {"decision": _ALLOW}


_POINTS: Final[dict[str, Callable[[HooksInterceptor, Mapping[str, Any]], Awaitable[JsonObject]]]] = {
    "agent_startup": HooksInterceptor._on_startup,
    "input": HooksInterceptor._on_input,
    "pre_model_call": HooksInterceptor._before_model,
    "post_model_call": HooksInterceptor._after_model,
    "pre_tool_call": HooksInterceptor._before_tool,
    "post_tool_call": HooksInterceptor._after_tool,
    "output": HooksInterceptor._on_output,
    "agent_shutdown": HooksInterceptor._on_shutdown,
}


def _verdict_of(decision: Decision, target: str | None, path: tuple[str, ...] = (), given: Any = MISSING) -> JsonObject:
    """A changed value is a transform of the target. What the specification cannot say is a deny."""
    code, reason = f"hookline:{decision.by or 'hooks'}", decision.full_reason or decision.reason
    left = decision.event.read(path) if path else given
    is_changed = bool(path) and not deep_equal(left, given)
    if decision.verdict is Verdict.DENY or decision.halt:
        return _with_warnings(_deny(code, reason or "Blocked by a hook."), decision)
    if decision.verdict is Verdict.ASK:
        denied = _deny(code, reason or "A hook wants a person to decide.")
        return _with_warnings(denied if is_changed else {**denied, "approval": {}}, decision)
    if is_changed and target is not None:
        transform = {"path": target, "value": None if left is MISSING else left}
        return _with_warnings({"decision": "transform", "reason": code, "transform": transform}, decision)
    return _with_warnings({"decision": _ALLOW}, decision)


def _with_warnings(verdict: JsonObject, decision: Decision) -> JsonObject:
    """The specification has no way to tell an agent something: notes are recorded as warnings."""
    warnings = [{"reason": f"hookline:note-for-{note.audience}", "message": note.text} for note in decision.notes]
    return {**verdict, "warnings": warnings} if warnings else verdict


def _deny(code: str, message: str) -> JsonObject:
    return {"decision": "deny", "reason": code, "message": message}


def _tool_facts(context: Mapping[str, Any]) -> JsonObject:
    call = _mapping(context, "tool_call")
    name, args = call.get("name"), call.get("args")
    if not isinstance(name, str) or not isinstance(args, dict):
        raise TypeError("tool_call has no name, or args that are not an object")
    return {"name": name, "id": call.get("id"), "input": args}


def _mapping(context: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = context.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
