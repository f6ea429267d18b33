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
from hookline.hosts import claude_shape
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, cut, joined, line, text_of
from hookline.hosts.payload import Facts, ended, mapping, shell_ended, text
from hookline.project.sources import Layering

CONTEXT: Final = 10_000  # bytes of added context that it reads
_SNAKE: Final = {
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
_FAILED: Final = {"postToolUseFailure", "PostToolUseFailure"}


@dataclass(frozen=True)
class CopilotCli(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        told = {_SNAKE.get(key, key): value for key, value in payload.items() if isinstance(key, str)}
        return claude_shape.facts(self.tongue, event, told, _failed if name in _FAILED else _ran)

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        answer = replace(answer, context=cut(answer.context, CONTEXT))
        if known.event == "prompt.submit":
            return Reply(line(_prompt(payload, answer)))
        if known.event in _FLAT or not name[:1].isupper():
            return Reply(line(_flat(answer)))
        changed = _result(answer) if known.event == "tool.after" else {}
        answer = replace(answer, message="", new=MISSING if changed else answer.new)
        return Reply(line({**claude_shape.output(name, answer), **changed}))


_FLAT: Final = {"approval.request"}
_EXIT_CODE: Final = re.compile(r"<shellId: \d+ completed with exit code (\d{1,9})>\s*\Z")  # its own last line


def _ran(payload: Mapping[str, Any]) -> Facts:
    result = mapping(payload, "toolResult", "tool_result")
    said = text(result, "textResultForLlm", "text_result_for_llm")
    kind = text(result, "resultType", "result_type")
    if kind not in ("", "success"):
        return ended(False, said, said or kind)
    shell = _EXIT_CODE.search(said)
    if shell is not None:
        return shell_ended(int(shell[1]), said)
    return ended(True, said if result else payload.get("toolResult", payload.get("tool_result")))


def _failed(payload: Mapping[str, Any]) -> Facts:
    error = payload.get("error", "")
    return ended(False, _ran(payload).get("result"), text(error, "message") or text_of(error))


def _flat(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {}
    match answer.event:
        case "tool.before":
            said = _permission(answer)
        case "approval.request" if answer.denied:
            said = {"behavior": "deny", "message": answer.reason, **({"interrupt": True} if answer.halt else {})}
        case "approval.request" if answer.verdict is Verdict.ALLOW:
            said = {"behavior": "allow"}
        case "stop" | "subagent.end" if answer.denied:
            said = {"decision": "block", "reason": answer.reason}
        case "tool.after":
            said = _result(answer)
    return {**said, "additionalContext": answer.context} if answer.context else said


def _permission(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if answer.verdict is not Verdict.SILENT:
        said["permissionDecision"] = answer.verdict.word
        if answer.reason:
            said["permissionDecisionReason"] = answer.reason
    return {**said, "modifiedArgs": answer.new} if answer.changed else said


def _result(answer: Answer) -> dict[str, Any]:
    if not answer.changed:
        return {}
    return {"modifiedResult": {"resultType": "success", "textResultForLlm": text_of(answer.new)}}


def _prompt(payload: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """Copilot cannot refuse a prompt, but the one that the model reads can be replaced."""
    sent, prompt = text(payload, "transformedPrompt", "transformed_prompt", "prompt"), text(payload, "prompt")
    if answer.denied:
        return {"modifiedTransformedPrompt": _DENIED.format(reason=answer.reason)}
    if answer.changed:
        new = text_of(answer.new)
        sent = sent.replace(prompt, new) if prompt and prompt in sent else new
    elif not answer.context:
        return {}
    return {"modifiedTransformedPrompt": joined((sent, answer.context))}


_DENIED: Final = (
    "The user's prompt was blocked by a hook and is not shown to you. The reason: {reason}\n"
    "Use no tools. Tell the user only that the prompt was blocked, and why."
)

AGENT = CopilotCli(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    verified=True,
    events=(
        heard("sessionStart", "session.start", "context"),
        heard(
            "userPromptTransformed",
            "prompt.submit",
            "deny change context",
            deny="yes: the model reads the reason instead of the prompt",
        ),
        heard("preToolUse", "tool.before", "deny ask allow change context"),
        heard("permissionRequest", "approval.request", "deny allow halt"),
        heard("postToolUse", "tool.after", "change context"),
        heard("postToolUseFailure", "tool.after", "context"),
        heard("preCompact", "history.compact"),
        heard("subagentStart", "subagent.start", "context"),
        heard("subagentStop", "subagent.end", "deny"),
        heard("agentStop", "stop", "deny"),
        heard("sessionEnd", "session.end"),
    ),
    project_variables=("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    runs_itself=frozenset({("claude_code", Layering.PROJECT), ("claude_code", Layering.LOCAL)}),
    also={
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
