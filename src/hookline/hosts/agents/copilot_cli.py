"""GitHub Copilot CLI. Its payloads come in two shapes, by how the event is written in its file.

`preToolUse` sends camelCase without the event's name, `PreToolUse` the shape of Claude Code; `permissionRequest` is
camelCase either way. A hook that ends with another exit code than 0 denies, so it is always 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hookline.hooks.event import MISSING
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.adapter import Adapter, agent_event
from hookline.hosts.agents.agent import ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, json_line, truncate_utf8, value_text
from hookline.hosts.agents.payload import Facts, first_mapping, first_text, result_facts, shell_result_facts
from hookline.project.sources import SourceLayer

MAX_CONTEXT: Final = 10_000  # bytes of added context that it reads
_SNAKE_CASE_KEYS: Final = {
    "sessionId": "session_id",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolInput": "tool_input",
    "toolCallId": "tool_call_id",
    "stopReason": "stop_reason",
    "agentId": "agent_id",
    "agentName": "agent_name",
    "agentType": "agent_type",
    "permissionSuggestions": "permission_suggestions",
}
_FAILURE_EVENTS: Final = {"postToolUseFailure", "PostToolUseFailure"}


@dataclass(frozen=True)
class CopilotCliAdapter(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        told = {_SNAKE_CASE_KEYS.get(key, key): value for key, value in payload.items() if isinstance(key, str)}
        return claude_protocol.payload_facts(
            self.vocabulary_name, event, told, _tool_failure_facts if name in _FAILURE_EVENTS else _tool_result_facts
        )

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        answer = replace(answer, context=truncate_utf8(answer.context, MAX_CONTEXT))
        if answer.event == "prompt.submit":
            return Reply(json_line(_prompt_output(parsed.payload, answer)))
        if answer.event in _FLAT_OUTPUT_EVENTS or not parsed.name[:1].isupper():
            return Reply(json_line(_flat_output(answer)))
        changed = _result_output(answer) if answer.event == "tool.after" else {}
        answer = replace(answer, message="", new=MISSING if changed else answer.new)
        return Reply(json_line({**claude_protocol.build_output(parsed.name, answer), **changed}))


_FLAT_OUTPUT_EVENTS: Final = {"approval.request"}
_EXIT_CODE: Final = re.compile(r"<shellId: \d+ completed with exit code (\d{1,9})>\s*\Z")  # its own last line


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    result = first_mapping(payload, "toolResult", "tool_result")
    said = first_text(result, "textResultForLlm", "text_result_for_llm")
    kind = first_text(result, "resultType", "result_type")
    if kind not in ("", "success"):
        return result_facts(False, said, said or kind)
    shell = _EXIT_CODE.search(said)
    if shell is not None:
        return shell_result_facts(int(shell[1]), said)
    return result_facts(True, said if result else payload.get("toolResult", payload.get("tool_result")))


def _tool_failure_facts(payload: Mapping[str, Any]) -> Facts:
    error = payload.get("error", "")
    return result_facts(
        False, _tool_result_facts(payload).get("result"), first_text(error, "message") or value_text(error)
    )


def _flat_output(answer: MergedDecision) -> dict[str, Any]:
    said: dict[str, Any] = {}
    match answer.event:
        case "tool.before":
            said = _permission_output(answer)
        case "approval.request" if answer.is_denied:
            said = {"behavior": "deny", "message": answer.reason, **({"interrupt": True} if answer.halt else {})}
        case "approval.request" if answer.verdict is Verdict.ALLOW:
            said = {"behavior": "allow"}
        case "stop" | "subagent.end" if answer.is_denied:
            said = {"decision": "block", "reason": answer.reason}
        case "tool.after":
            said = _result_output(answer)
    return {**said, "additionalContext": answer.context} if answer.context else said


def _permission_output(answer: MergedDecision) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if answer.verdict is not Verdict.SILENT:
        said["permissionDecision"] = answer.verdict.word
        if answer.reason:
            said["permissionDecisionReason"] = answer.reason
    return {**said, "modifiedArgs": answer.new} if answer.is_changed else said


def _result_output(answer: MergedDecision) -> dict[str, Any]:
    if not answer.is_changed:
        return {}
    return {"modifiedResult": {"resultType": "success", "textResultForLlm": value_text(answer.new)}}


def _prompt_output(payload: Mapping[str, Any], answer: MergedDecision) -> dict[str, Any]:
    """Copilot cannot refuse a prompt, but the one that the model reads can be replaced."""
    sent, prompt = (
        first_text(payload, "transformedPrompt", "transformed_prompt", "prompt"),
        first_text(payload, "prompt"),
    )
    if answer.is_denied:
        return {"modifiedTransformedPrompt": _DENIED_PROMPT.format(reason=answer.reason)}
    if answer.is_changed:
        new = value_text(answer.new)
        sent = sent.replace(prompt, new) if prompt and prompt in sent else new
    elif not answer.context:
        return {}
    return {"modifiedTransformedPrompt": join_texts((sent, answer.context))}


_DENIED_PROMPT: Final = (
    "The user's prompt was blocked by a hook and is not shown to you. The reason: {reason}\n"
    "Use no tools. Tell the user only that the prompt was blocked, and why."
)

AGENT = CopilotCliAdapter(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    verified=True,
    events=(
        agent_event("sessionStart", "session.start", "context"),
        agent_event(
            "userPromptTransformed",
            "prompt.submit",
            "deny change context",
            deny="yes: the model reads the reason instead of the prompt",
        ),
        agent_event("preToolUse", "tool.before", "deny ask allow change context"),
        agent_event("permissionRequest", "approval.request", "deny allow halt"),
        agent_event("postToolUse", "tool.after", "change context"),
        agent_event("postToolUseFailure", "tool.after", "context"),
        agent_event("preCompact", "history.compact"),
        agent_event("subagentStart", "subagent.start", "context"),
        agent_event("subagentStop", "subagent.end", "deny"),
        agent_event("agentStop", "stop", "deny"),
        agent_event("sessionEnd", "session.end"),
    ),
    project_variables=("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=frozenset({("claude_code", SourceLayer.PROJECT), ("claude_code", SourceLayer.LOCAL)}),
    event_aliases={
        "SessionStart": "sessionStart",
        "userPromptSubmitted": "userPromptTransformed",
        "UserPromptSubmit": "userPromptTransformed",
        "PreToolUse": "preToolUse",
        "PermissionRequest": "permissionRequest",
        "PostToolUse": "postToolUse",
        "PostToolUseFailure": "postToolUseFailure",
        "PreCompact": "preCompact",
        "SubagentStart": "subagentStart",
        "SubagentStop": "subagentStop",
        "Stop": "agentStop",
        "SessionEnd": "sessionEnd",
    },
)
