"""Gemini CLI: its own events, with the decision at the top level of the reply.

If stdout is empty, it reads stderr as the reply, so nothing is ever written there. The exit code is always 0: with
any other, it blocks without a reason or lets the tool run without a message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hooks.event import deep_equal
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
    write_if_absent,
)
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
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
from hookline.lazy_dataclasses import dataclass

_SHELL_TOOL: Final = "run_shell_command"
_EXIT_CODE: Final = re.compile(r"\nExit Code: (\d{1,9})(?:\n[^\n]*){0,3}\n</untrusted_context>\s*\Z")
"""In the last lines of a failed command's result, which Gemini itself writes."""


@dataclass(frozen=True)
class GeminiCli(CodingAgent):
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
        """The call that needs permission, as far as the payload describes it."""
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
        output = claude_protocol.common_output(answer)
        specific: dict[str, Any] = {}
        merged = _changed_fields(answer) if answer.event == "tool.before" and answer.is_changed else {}
        if merged is None:
            output |= {"decision": "deny", "reason": _FIELD_REMOVED + truncate_utf8(value_text(answer.new), 4000)}
        elif answer.verdict is not Verdict.SILENT:
            output |= {"decision": answer.verdict.word, **({"reason": answer.reason} if answer.reason else {})}
        elif answer.event == "tool.after" and answer.is_changed:
            output |= {"decision": "deny", "reason": value_as_reason(answer.new)}
        if merged:
            specific["tool_input"] = merged
        if answer.context:
            specific["additionalContext"] = answer.context
        return Reply(
            json_line(
                {**output, "hookSpecificOutput": {"hookEventName": parsed.name, **specific}} if specific else output
            )
        )

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "settings.json", ".gemini/settings.json")
        return (grouped_entries(path, self.events, partial(claude_protocol.entry_in_milliseconds, self, command)),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "BeforeTool", {
            "session_id": SAMPLE_ID,
            "transcript_path": f"{directory}/transcript.json",
            "cwd": directory,
            "hook_event_name": "BeforeTool",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "tool_name": _SHELL_TOOL,
            "tool_input": {"command": SAMPLE_COMMAND, "description": "a test by hookline doctor"},
        }

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Gemini CLI 0.61.0.

        Without the setting it takes the address for a gateway's. Settings that outrank the user's must belong to
        root, so the setting goes into the user's file.
        """
        security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        settings = {"security": security, "privacy": {"usageStatisticsEnabled": False}}
        write_if_absent(home / ".gemini" / "settings.json", settings)
        environment = {"GEMINI_API_KEY": FAKE_API_KEY, "GOOGLE_GEMINI_BASE_URL": url}
        return HeadlessRun(("-m", "gemini-2.5-flash", "--yolo", "-p", HEADLESS_PROMPT), environment)

    def hook_switch(self, settings: Mapping[str, Any]) -> tuple[str, bool | None]:
        config = settings.get("hooksConfig")
        if not isinstance(config, dict):
            return "", None
        if isinstance(config.get("disabled"), list) and "hookline" in config["disabled"]:  # the name of our entries
            return "hooksConfig.disabled: hookline", True
        return "hooksConfig.enabled: false", (config["enabled"] is False if "enabled" in config else None)


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    facts = claude_protocol.displayed_result_facts(payload)
    result = facts.get("result")
    shell = _EXIT_CODE.search(result) if isinstance(result, str) and payload.get("tool_name") == _SHELL_TOOL else None
    return shell_result_facts(int(shell[1]), result) if shell is not None and facts["ok"] else facts


_FIELD_REMOVED = (
    "A hook removed a field of the input, but Gemini CLI can only add and change fields. Use this instead: "
)


def _changed_fields(answer: MergedDecision) -> dict[str, Any] | None:
    """The fields that hooks changed, which Gemini merges into the input. None if a field was removed."""
    old, new = answer.old if isinstance(answer.old, dict) else {}, answer.new
    if old.keys() - new.keys():
        return None
    return {key: value for key, value in new.items() if key not in old or not deep_equal(old[key], value)}


_NO_ASK = "deny: without a person to answer, Gemini waits forever"

AGENT = GeminiCli(
    name="gemini-cli",
    title="Gemini CLI",
    proof=Proof.RUN,
    versions=("0.61.0",),
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
    timeout=timedelta(minutes=1),
    programs=("gemini",),
    homes=(".gemini",),
    managed_files=("/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json"),
    advice="Gemini CLI runs hooks only in a folder that it trusts.",
    project_settings=(".gemini/settings.json",),
    project_variables=("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=layers_of("gemini_cli"),
    json_reader=JsonReader(comments=True),
)
