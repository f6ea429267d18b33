"""The protocol that began with Claude Code and that others took over: what its payloads tell, how it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.answer import Answer, text_of
from hookline.hosts.payload import Facts, ended, mapping, opened, text, told, tools

EVENTS: Final = {
    "SessionStart": "session.start",
    "UserPromptSubmit": "prompt.submit",
    "PreToolUse": "tool.before",
    "PermissionRequest": "approval.request",
    "PostToolUse": "tool.after",
    "PostToolUseFailure": "tool.after",
    "PreCompact": "history.compact",
    "SubagentStart": "subagent.start",
    "SubagentStop": "subagent.end",
    "Stop": "stop",
    "SessionEnd": "session.end",
}
_BLOCKED: Final = {"prompt.submit", "stop", "subagent.end", "history.compact"}

Payload = Mapping[str, Any]


def facts(tongue: str, event: str, payload: Payload, outcome: Callable[[Payload], Facts]) -> list[Facts]:
    """The facts of a payload with the usual keys; `outcome` tells those of a tool that has run."""
    base = _base(payload, inside=not event.startswith("subagent."))
    if event in ("tool.before", "tool.after", "approval.request"):
        more = outcome(payload) if event == "tool.after" else {}
        if event == "approval.request":
            base["approval"] = told(suggestions=payload.get("permission_suggestions"))
        return [{**base, "tool": {**tool, **more}} for tool in called(tongue, payload)]
    return [{**base, **_own(event, payload)}]


def _base(payload: Payload, inside: bool) -> Facts:
    agent = told(id=text(payload, "agent_id"), name=text(payload, "agent_type")) if inside else {}
    session = told(
        id=text(payload, "session_id"),
        transcript=text(payload, "transcript_path"),
        mode=text(payload, "permission_mode"),
        **_beginning_or_end(payload),
    )
    return told(session=session, cwd=text(payload, "cwd"), agent=agent)


def _beginning_or_end(payload: Payload) -> Facts:
    match payload.get("hook_event_name"):
        case "SessionStart":
            return {"source": text(payload, "source")}
        case "SessionEnd":
            return {"reason": text(payload, "reason")}
    return {}


def called(tongue: str, payload: Payload) -> list[Facts]:
    id = text(payload, "tool_call_id", "tool_use_id")
    return tools(tongue, text(payload, "tool_name"), id, opened(payload.get("tool_input", {})))


def _own(event: str, payload: Payload) -> Facts:
    match event:
        case "prompt.submit":
            return {"prompt": text(payload, "prompt")}
        case "stop":
            return {"stop": {"reason": text(payload, "stop_reason") or "end_turn", **_stopping(payload)}}
        case "history.compact":
            return told(trigger=text(payload, "trigger"))
        case "subagent.start" | "subagent.end":
            who = told(id=text(payload, "agent_id"), name=text(payload, "agent_type", "agent_name"))
            tool = told(result=text(payload, "last_assistant_message")) if event == "subagent.end" else told(input=who)
            stop = _stopping(payload) if event == "subagent.end" else {}
            return told(subagent=who, tool=tool, stop=stop)
    return {}


def _stopping(payload: Payload) -> Facts:
    """Whether a hook made the agent go on already, without which one that always does would never let it end."""
    active = payload.get("stop_hook_active")
    known = {"active": active} if isinstance(active, bool) else {}
    return {**known, **told(message=text(payload, "last_assistant_message"))}


def ran(payload: Payload) -> Facts:
    """Of a tool that has run, where a failure is an event of its own."""
    if payload.get("hook_event_name") == "PostToolUseFailure":
        return ended(False, error=text_of(payload.get("error", "")))
    return ended(True, payload.get("tool_response"))


def shown(payload: Payload) -> Facts:
    """Of a tool whose response says beside what the model reads also what the user sees."""
    response = payload.get("tool_response")
    read = mapping(payload, "tool_response").get("llmContent", response)
    error = mapping(payload, "tool_response").get("error")
    if error:
        return ended(False, read, text(error, "message") or text_of(error))
    return ended(True, read)


def output(name: str, answer: Answer) -> dict[str, Any]:
    """The answer as JSON, with no key that it does not need."""
    said = universal(answer)
    specific: dict[str, Any] = {}
    if answer.event == "tool.before":
        specific = _permission(answer)
    elif answer.event == "approval.request":
        specific = _approval(answer)
    elif answer.event in _BLOCKED and answer.denied:
        said |= {"decision": "block", "reason": answer.reason}
    elif answer.event == "tool.after" and answer.changed:
        specific["updatedToolOutput"] = answer.new
    if answer.context:
        specific["additionalContext"] = answer.context
    return {**said, "hookSpecificOutput": {"hookEventName": name, **specific}} if specific else said


def universal(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {"continue": False, "stopReason": answer.reason} if answer.halt else {}
    return {**said, "systemMessage": answer.message} if answer.message else said


def _permission(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if answer.verdict is not Verdict.SILENT:
        said["permissionDecision"] = answer.verdict.word
        if answer.reason:
            said["permissionDecisionReason"] = answer.reason
    return {**said, "updatedInput": answer.new} if answer.changed else said


def _approval(answer: Answer) -> dict[str, Any]:
    if answer.denied:
        interrupt = {"interrupt": True} if answer.halt else {}
        return {"decision": {"behavior": "deny", "message": answer.reason, **interrupt}}
    return {"decision": {"behavior": "allow"}} if answer.verdict is Verdict.ALLOW else {}
