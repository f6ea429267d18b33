"""Gemini CLI: events of its own, and the decision at the top of the answer.

It reads stderr as the answer where stdout is empty, so nothing is ever written there; the exit code is always 0, for
it blocks without a reason and lets run without a word in ways of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.event import deep_equal
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.adapter import Adapter, agent_event
from hookline.hosts.agents.agent import ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, truncate_utf8, value_as_reason, value_text
from hookline.hosts.agents.payload import (
    Facts,
    first_mapping,
    first_text,
    known_facts,
    mcp_tool_name,
    shell_result_facts,
    tool_facts,
)

_SHELL_TOOL: Final = "run_shell_command"
_EXIT_CODE: Final = re.compile(r"\nExit Code: (\d{1,9})(?:\n[^\n]*){0,3}\n</untrusted_context>\s*\Z")
"""In its own last lines of what the model reads of a command; a command that succeeds has none."""


@dataclass(frozen=True)
class GeminiCliAdapter(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        if event == "approval.request":
            return self._approval_facts(payload)
        origin = first_mapping(payload, "mcp_context")
        if first_text(origin, "server_name") and first_text(origin, "tool_name"):
            payload = {
                **payload,
                "tool_name": mcp_tool_name(first_text(origin, "server_name"), first_text(origin, "tool_name")),
            }
        return claude_protocol.payload_facts(self.vocabulary_name, event, payload, _tool_result_facts)

    def _approval_facts(self, payload: Mapping[str, Any]) -> list[Facts]:
        if payload.get("notification_type") != "ToolPermission":
            return []
        base = known_facts(session=known_facts(id=first_text(payload, "session_id")), cwd=first_text(payload, "cwd"))
        approval = known_facts(message=first_text(payload, "message"), details=first_mapping(payload, "details"))
        found = [
            {**base, "approval": approval, "tool": tool}
            for tool in self._approval_tool_facts(first_mapping(payload, "details"))
        ]
        return found or [{**base, "approval": approval}]

    def _approval_tool_facts(self, details: Mapping[str, Any]) -> list[Facts]:
        """The call that a permission is asked for, as far as the question tells it."""
        match details.get("type"):
            case "exec":
                return tool_facts(
                    self.vocabulary_name, _SHELL_TOOL, "", known_facts(command=first_text(details, "command"))
                )
            case "edit":
                return tool_facts(
                    self.vocabulary_name,
                    "replace",
                    "",
                    known_facts(file_path=first_text(details, "filePath", "fileName")),
                )
            case "mcp":
                name = mcp_tool_name(first_text(details, "serverName"), first_text(details, "toolName"))
                return tool_facts(self.vocabulary_name, name, "", first_mapping(details, "toolArgs"))
        return []

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        said = claude_protocol.common_output(answer)
        specific: dict[str, Any] = {}
        merged = _changed_fields(answer) if answer.event == "tool.before" and answer.is_changed else {}
        if merged is None:
            said |= {"decision": "deny", "reason": _FIELD_REMOVED + truncate_utf8(value_text(answer.new), 4000)}
        elif answer.verdict is not Verdict.SILENT:
            said |= {"decision": answer.verdict.word, **({"reason": answer.reason} if answer.reason else {})}
        elif answer.event == "tool.after" and answer.is_changed:
            said |= {"decision": "deny", "reason": value_as_reason(answer.new)}
        if merged:
            specific["tool_input"] = merged
        if answer.context:
            specific["additionalContext"] = answer.context
        return Reply(
            json_line({**said, "hookSpecificOutput": {"hookEventName": parsed.name, **specific}} if specific else said)
        )


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    facts = claude_protocol.displayed_result_facts(payload)
    read = facts.get("result")
    shell = _EXIT_CODE.search(read) if isinstance(read, str) and payload.get("tool_name") == _SHELL_TOOL else None
    return shell_result_facts(int(shell[1]), read) if shell is not None and facts["ok"] else facts


_FIELD_REMOVED = "A hook removed a field of the input, which cannot be done here. Use this instead: "


def _changed_fields(answer: MergedDecision) -> dict[str, Any] | None:
    """The fields that hooks changed: Gemini merges them into the input. None where one was removed."""
    old, new = answer.old if isinstance(answer.old, dict) else {}, answer.new
    if old.keys() - new.keys():
        return None
    return {key: value for key, value in new.items() if key not in old or not deep_equal(old[key], value)}


_NO_ASK = "deny: where nobody is there to answer, Gemini waits for ever"

AGENT = GeminiCliAdapter(
    name="gemini-cli",
    title="Gemini CLI",
    verified=True,
    events=(
        agent_event("SessionStart", "session.start", "context user"),
        agent_event("BeforeAgent", "prompt.submit", "deny context halt user"),
        agent_event("BeforeTool", "tool.before", "deny allow change halt user", ask=_NO_ASK),
        agent_event("Notification", "approval.request", "user"),
        agent_event("AfterTool", "tool.after", "change context halt user"),
        agent_event("PreCompress", "history.compact", "user"),
        agent_event("AfterAgent", "stop", "deny halt user"),
        agent_event("SessionEnd", "session.end"),
    ),
    project_variables=("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
)
