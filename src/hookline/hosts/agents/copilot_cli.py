"""GitHub Copilot CLI. Its payloads have two shapes, depending on how its file spells the event.

`preToolUse` sends camelCase without the event's name, `PreToolUse` sends Claude Code's shape. `permissionRequest` is
camelCase either way. Any exit code except 0 denies, so it is always 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hooks.event import MISSING
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    SAMPLE_COMMAND,
    SAMPLE_ID,
    CodingAgent,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
    layers_of,
)
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, json_line, truncate_utf8, value_text
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    result_facts,
    shell_result_facts,
)
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project.sources import SourceLayer

MAX_CONTEXT: Final = 10_000  # bytes of added context that it reads
_SNAKE_CASE_KEYS: Final = {
    "sessionId": "session_id",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolInput": "tool_input",
    "toolCallId": "tool_call_id",
    "stopReason": "stop_reason",
    "transcriptPath": "transcript_path",
    "response": "last_assistant_message",
    "agentId": "agent_id",
    "agentName": "agent_name",
    "agentType": "agent_type",
    "permissionSuggestions": "permission_suggestions",
    "notificationType": "notification_type",
}
_CLAUDE_NAMES: Final = {"sessionStart": "SessionStart", "sessionEnd": "SessionEnd"}
_FLAT_OUTPUT_EVENTS: Final = {"approval.request"}
_EXIT_CODE: Final = re.compile(r"<shellId: \d+ completed with exit code (\d{1,9})>\s*\Z")  # Copilot's last line
_FAILURE_EVENTS: Final = {"postToolUseFailure", "PostToolUseFailure"}

_DENIED_PROMPT: Final = (
    "The user's prompt was blocked by a hook and is not shown to you. The reason: {reason}\n"
    "Use no tools. Tell the user only that the prompt was blocked, and why."
)


@dataclass(frozen=True)
class CopilotCli(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        renamed = {_SNAKE_CASE_KEYS.get(key, key): value for key, value in payload.items() if isinstance(key, str)}
        renamed["hook_event_name"] = _CLAUDE_NAMES.get(name, name)
        if renamed.get("source") == "new":
            renamed["source"] = "startup"
        return claude_protocol.payload_facts(
            self.vocabulary_name, event, renamed, _tool_failure_facts if name in _FAILURE_EVENTS else _tool_result_facts
        )

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        return decode_object(payload.get("toolArgs", payload.get("tool_input")))

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        answer = replace(answer, context=truncate_utf8(answer.context, MAX_CONTEXT))
        if answer.event == "prompt.submit":
            return Reply(json_line(_prompt_output(parsed.payload, answer)))
        if answer.event in _FLAT_OUTPUT_EVENTS or not parsed.name[:1].isupper():
            return Reply(json_line(_flat_output(answer)))
        changed = _result_output(answer) if answer.event == "tool.after" else {}
        answer = replace(answer, message="", new=MISSING if changed else answer.new)
        return Reply(json_line({**claude_protocol.build_output(parsed.name, answer), **changed}))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks/hookline.json", ".github/hooks/hookline.json")
        return (flat_entries(path, self.events, partial(self._entry, command), {"version": 1}),)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        return {"type": "command", "bash": command.shell_command(event), "timeoutSec": seconds}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "preToolUse", {
            "sessionId": SAMPLE_ID,
            "timestamp": 1767225600000,
            "cwd": directory,
            "toolName": "bash",
            "toolArgs": {"command": SAMPLE_COMMAND, "description": "a test by hookline doctor"},
        }

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Copilot CLI 1.0.102."""
        environment = {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": FAKE_API_KEY,
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
        }
        return HeadlessRun(("-p", HEADLESS_PROMPT, "--allow-all-tools", "--trust-folder"), environment)


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    result = first_mapping(payload, "toolResult", "tool_result")
    text = first_text(result, "textResultForLlm", "text_result_for_llm")
    kind = first_text(result, "resultType", "result_type")
    if kind not in ("", "success"):
        return result_facts(False, text, text or kind)
    shell = _EXIT_CODE.search(text)
    if shell is not None:
        return shell_result_facts(int(shell[1]), text)
    return result_facts(True, text if result else payload.get("toolResult", payload.get("tool_result")))


def _tool_failure_facts(payload: Mapping[str, Any]) -> Facts:
    error = payload.get("error", "")
    return result_facts(
        False, _tool_result_facts(payload).get("result"), first_text(error, "message") or value_text(error)
    )


def _flat_output(answer: MergedDecision) -> dict[str, Any]:
    output: dict[str, Any] = {}
    match answer.event:
        case "tool.before":
            output = claude_protocol.permission_output(answer, "modifiedArgs")
        case "approval.request" if answer.is_denied:
            output = {"behavior": "deny", "message": answer.reason, **({"interrupt": True} if answer.halt else {})}
        case "approval.request" if answer.verdict is Verdict.ALLOW:
            output = {"behavior": "allow"}
        case "stop" | "subagent.end" if answer.is_denied:
            output = {"decision": "block", "reason": answer.reason}
        case "tool.after":
            output = _result_output(answer)
    return {**output, "additionalContext": answer.context} if answer.context else output


def _result_output(answer: MergedDecision) -> dict[str, Any]:
    if not answer.is_changed:
        return {}
    return {"modifiedResult": {"resultType": "success", "textResultForLlm": value_text(answer.new)}}


def _prompt_output(payload: Mapping[str, Any], answer: MergedDecision) -> dict[str, Any]:
    """Copilot cannot refuse a prompt, but it can replace what the model reads."""
    sent = first_text(payload, "transformedPrompt", "transformed_prompt", "prompt")
    prompt = first_text(payload, "prompt")
    if answer.is_denied:
        return {"modifiedTransformedPrompt": _DENIED_PROMPT.format(reason=answer.reason)}
    if answer.is_changed:
        new = value_text(answer.new)
        sent = sent.replace(prompt, new) if prompt and prompt in sent else new
    elif not answer.context:
        return {}
    return {"modifiedTransformedPrompt": join_texts((sent, answer.context))}


AGENT = CopilotCli(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    proof=Proof.RUN,
    versions=("1.0.102",),
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
        agent_event("notification", "notification"),
        agent_event("postToolUse", "tool.after", "change context"),
        agent_event("postToolUseFailure", "tool.after", "context"),
        agent_event("preCompact", "history.compact"),
        agent_event("subagentStart", "subagent.start", "context"),
        agent_event("subagentStop", "subagent.end", "deny"),
        agent_event("agentStop", "stop", "deny"),
        agent_event("sessionEnd", "session.end"),
    ),
    timeout=timedelta(seconds=30),
    programs=("copilot",),
    homes=(".copilot",),
    managed_files=("/etc/github-copilot/policy.d/*.json",),
    home_variable="COPILOT_HOME",
    advice="Copilot CLI runs a project's hooks only in a folder that it trusts. With -p, add --trust-folder.",
    project_variables=("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=layers_of("copilot_cli") | {("claude_code", SourceLayer.PROJECT), ("claude_code", SourceLayer.LOCAL)},
    project_settings=(".github/copilot/settings.local.json", ".github/copilot/settings.json"),
    user_settings=("settings.json",),
    ignores_some_hooks=True,
    json_reader=JsonReader(),
    event_aliases={
        "SessionStart": "sessionStart",
        "userPromptSubmitted": "userPromptTransformed",
        "UserPromptSubmit": "userPromptTransformed",
        "PreToolUse": "preToolUse",
        "PermissionRequest": "permissionRequest",
        "Notification": "notification",
        "PostToolUse": "postToolUse",
        "PostToolUseFailure": "postToolUseFailure",
        "PreCompact": "preCompact",
        "SubagentStart": "subagentStart",
        "SubagentStop": "subagentStop",
        "Stop": "agentStop",
        "SessionEnd": "sessionEnd",
    },
)
