"""Copilot in VS Code (its local agent), from its documentation: Claude Code's protocol, with tool names of its own.

It also runs the hooks in the files of Copilot CLI and Claude Code, for every tool, because it ignores matchers.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply, layers_of
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import Facts, first_text
from hookline.lazy_dataclasses import dataclass, replace

_ENDINGS: Final = {"stop", "subagent.end"}


@dataclass(frozen=True)
class VsCodeCopilot(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        renamed = {
            **payload,
            "hook_event_name": name,
            "session_id": first_text(payload, "sessionId", "session_id"),
            "tool_name": first_text(payload, "tool_name", "toolName"),
        }
        return claude_protocol.payload_facts(
            self.vocabulary_name, event, renamed, claude_protocol.displayed_result_facts
        )

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.event == "prompt.submit" and answer.is_denied:
            return Reply(json_line(claude_protocol.common_output(replace(answer, halt=True))))
        output = claude_protocol.build_output(parsed.name, answer)
        if answer.event in _ENDINGS and answer.is_denied:
            block = {key: output.pop(key) for key in ("decision", "reason")}
            output["hookSpecificOutput"] = {"hookEventName": parsed.name, **block}
        return Reply(json_line(output))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks/hookline-vscode.json", ".github/hooks/hookline-vscode.json")
        return (
            flat_entries(
                path,
                self.events,
                lambda event: {
                    "type": "command",
                    "command": command.shell_command(event),
                    "timeout": round(self.event_timeout(event.name).total_seconds()),
                },
            ),
        )

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "PreToolUse", {
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": directory,
            "sessionId": SAMPLE_ID,
            "hookEventName": "PreToolUse",
            "transcript_path": f"{directory}/transcript.json",
            "tool_name": "runTerminalCommand",
            "tool_input": {"command": SAMPLE_COMMAND},
            "tool_use_id": SAMPLE_ID,
        }


AGENT = VsCodeCopilot(
    name="vscode-copilot",
    title="Copilot in VS Code",
    proof=Proof.DOCUMENTATION,
    versions=(),
    events=(
        agent_event("SessionStart", "session.start", "context user"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny halt user"),
        agent_event("PreToolUse", "tool.before", "deny ask allow change context halt user"),
        agent_event("PostToolUse", "tool.after", "context halt user"),
        agent_event("PreCompact", "history.compact", "user"),
        agent_event("SubagentStart", "subagent.start", "context user"),
        agent_event("SubagentStop", "subagent.end", "deny user"),
        agent_event("Stop", "stop", "deny user"),
    ),
    timeout=timedelta(seconds=30),
    programs=("code", "code-insiders"),
    homes=(".copilot",),
    home_variable="COPILOT_HOME",
    advice="In VS Code, choose the local agent: Claude and Codex sessions there run their own hooks.",
    native_layers=layers_of("claude_code", "copilot_cli"),
    unread_files=(".github/copilot/settings*.json", ".copilot/settings.json"),  # Copilot CLI's
    ignores_some_hooks=True,
    event_aliases={
        "sessionStart": "SessionStart",
        "userPromptSubmitted": "UserPromptSubmit",
        "userPromptTransformed": "UserPromptSubmit",
        "preToolUse": "PreToolUse",
        "postToolUse": "PostToolUse",
        "preCompact": "PreCompact",
        "subagentStart": "SubagentStart",
        "subagentStop": "SubagentStop",
        "agentStop": "Stop",
    },
)
