"""Claude Code's protocol, which other agents share: payloads, replies, entries in settings files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent
from hookline.hosts.agents.agent_event import AgentEvent
from hookline.hosts.agents.entries import Entry, HookCommand
from hookline.hosts.agents.merged_decision import MergedDecision, value_text
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    known_facts,
    result_facts,
    tool_facts,
)

CLAUDE_EVENTS: Final = {
    "SessionStart": "session.start",
    "UserPromptSubmit": "prompt.submit",
    "PreToolUse": "tool.before",
    "PermissionRequest": "approval.request",
    "Notification": "notification",
    "PostToolUse": "tool.after",
    "PostToolUseFailure": "tool.after",
    "PreCompact": "history.compact",
    "SubagentStart": "subagent.start",
    "SubagentStop": "subagent.end",
    "Stop": "stop",
    "SessionEnd": "session.end",
}
_BLOCKABLE_EVENTS: Final = {"prompt.submit", "stop", "subagent.end", "history.compact"}

ClaudePayload = Mapping[str, Any]


def payload_facts(
    vocabulary: str, event: str, payload: ClaudePayload, outcome: Callable[[ClaudePayload], Facts]
) -> list[Facts]:
    """The facts of a payload with the usual keys. `outcome` returns those of a tool that has run."""
    base = _base_facts(payload, with_agent=not event.startswith("subagent."))
    if event in ("tool.before", "tool.after", "approval.request"):
        more = outcome(payload) if event == "tool.after" else {}
        if event == "approval.request":
            base["approval"] = known_facts(suggestions=payload.get("permission_suggestions"))
        return [{**base, "tool": {**tool, **more}} for tool in called_tool_facts(vocabulary, payload)]
    return [{**base, **_event_facts(event, payload)}]


def _base_facts(payload: ClaudePayload, with_agent: bool) -> Facts:
    agent = (
        known_facts(id=first_text(payload, "agent_id"), name=first_text(payload, "agent_type")) if with_agent else {}
    )
    session = known_facts(
        id=first_text(payload, "session_id"),
        transcript=first_text(payload, "transcript_path"),
        mode=first_text(payload, "permission_mode"),
        model=first_text(payload, "model"),
        **_start_or_end_facts(payload),
    )
    execution = known_facts(flow=first_text(payload, "turn_id", "prompt_id", "promptId"))
    return known_facts(session=session, execution=execution, cwd=first_text(payload, "cwd"), agent=agent)


def _start_or_end_facts(payload: ClaudePayload) -> Facts:
    match payload.get("hook_event_name"):
        case "SessionStart":
            return {"source": first_text(payload, "source")}
        case "SessionEnd":
            return {"reason": first_text(payload, "reason")}
    return {}


def called_tool_facts(vocabulary: str, payload: ClaudePayload) -> list[Facts]:
    id = first_text(payload, "tool_call_id", "tool_use_id")
    return tool_facts(vocabulary, first_text(payload, "tool_name"), id, decode_object(payload.get("tool_input", {})))


def _event_facts(event: str, payload: ClaudePayload) -> Facts:
    match event:
        case "prompt.submit":
            return {"prompt": first_text(payload, "prompt")}
        case "stop":
            return {"stop": {"reason": first_text(payload, "stop_reason") or "end_turn", **_stop_facts(payload)}}
        case "notification":
            told = {key: first_text(payload, key) for key in ("message", "title")}
            return {"notification": known_facts(type=first_text(payload, "notification_type"), **told)}
        case "history.compact":
            return known_facts(trigger=first_text(payload, "trigger"))
        case "subagent.start" | "subagent.end":
            who = known_facts(id=first_text(payload, "agent_id"), name=first_text(payload, "agent_type", "agent_name"))
            tool = (
                known_facts(result=first_text(payload, "last_assistant_message"))
                if event == "subagent.end"
                else known_facts(input=who)
            )
            stop = _stop_facts(payload) if event == "subagent.end" else {}
            who |= known_facts(transcript=first_text(payload, "agent_transcript_path"))
            return known_facts(subagent=who, tool=tool, stop=stop)
    return {}


def _stop_facts(payload: ClaudePayload) -> Facts:
    """`active`: a hook has already made the agent continue. Without it, a hook that always denies would never end."""
    active = payload.get("stop_hook_active")
    known = {"active": active} if isinstance(active, bool) else {}
    return {**known, **known_facts(message=first_text(payload, "last_assistant_message"))}


def claude_result_facts(payload: ClaudePayload) -> Facts:
    """For agents in which a failure is a separate event."""
    if payload.get("hook_event_name") == "PostToolUseFailure":
        return result_facts(False, error=value_text(payload.get("error", "")))
    return result_facts(True, payload.get("tool_response"))


def displayed_result_facts(payload: ClaudePayload) -> Facts:
    """For agents whose tool response contains both what the model reads and what the user sees."""
    response = payload.get("tool_response")
    read = first_mapping(payload, "tool_response").get("llmContent", response)
    error = first_mapping(payload, "tool_response").get("error")
    if error:
        return result_facts(False, read, first_text(error, "message") or value_text(error))
    return result_facts(True, read)


def build_output(name: str, answer: MergedDecision) -> dict[str, Any]:
    """The answer as JSON, without empty keys."""
    output = common_output(answer)
    specific: dict[str, Any] = {}
    if answer.event == "tool.before":
        specific = permission_output(answer)
    elif answer.event == "approval.request":
        specific = _approval_output(answer)
    elif answer.event in _BLOCKABLE_EVENTS and answer.is_denied:
        output |= {"decision": "block", "reason": answer.reason}
    elif answer.event == "tool.after" and answer.is_changed:
        specific["updatedToolOutput"] = answer.new
    if answer.context:
        specific["additionalContext"] = answer.context
    return {**output, "hookSpecificOutput": {"hookEventName": name, **specific}} if specific else output


def common_output(answer: MergedDecision) -> dict[str, Any]:
    output: dict[str, Any] = {"continue": False, "stopReason": answer.reason} if answer.halt else {}
    return {**output, "systemMessage": answer.message} if answer.message else output


def permission_output(answer: MergedDecision, input_key: str = "updatedInput") -> dict[str, Any]:
    output: dict[str, Any] = {}
    if answer.verdict is not Verdict.SILENT:
        output["permissionDecision"] = answer.verdict.word
        if answer.reason:
            output["permissionDecisionReason"] = answer.reason
    return {**output, input_key: answer.new} if answer.is_changed else output


def _approval_output(answer: MergedDecision) -> dict[str, Any]:
    if answer.is_denied:
        interrupt = {"interrupt": True} if answer.halt else {}
        return {"decision": {"behavior": "deny", "message": answer.reason, **interrupt}}
    return {"decision": {"behavior": "allow"}} if answer.verdict is Verdict.ALLOW else {}


def entry_in_seconds(agent: CodingAgent, command: HookCommand, event: AgentEvent) -> Entry:
    seconds = math.ceil(agent.event_timeout(event.name).total_seconds())
    return {"type": "command", "command": command.shell_command(event), "timeout": seconds}


def entry_in_milliseconds(agent: CodingAgent, command: HookCommand, event: AgentEvent) -> Entry:
    milliseconds = round(agent.event_timeout(event.name).total_seconds() * 1000)
    return {"type": "command", "name": "hookline", "command": command.shell_command(event), "timeout": milliseconds}


def sample_payload(directory: str) -> dict[str, Any]:
    return {
        "session_id": SAMPLE_ID,
        "transcript_path": f"{directory}/transcript.jsonl",
        "cwd": directory,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": SAMPLE_COMMAND, "description": "a test by hookline doctor"},
        "tool_use_id": "toolu_hookline_doctor",
    }
