"""Letta Code, from its source and documentation: Claude Code's events and settings, and exit code 2 to deny."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, replace_surrogates
from hookline.hosts.agents.payload import Facts, first_text
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class LettaCode(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        renamed = {**payload, "hook_event_name": name, "cwd": first_text(payload, "working_directory", "cwd")}
        if "tool_result" in payload:
            renamed["tool_response"] = payload["tool_result"]
        outcome = claude_protocol.claude_result_facts
        return claude_protocol.payload_facts(self.vocabulary_name, event, renamed, outcome)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        return Reply(stderr=replace_surrogates(answer.reason), exit_code=2) if answer.is_denied else Reply()

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "settings.json", ".letta/settings.json")
        return (flat_entries(path, self.events, partial(self._group, command)),)

    def _group(self, command: HookCommand, event: AgentEvent) -> Entry:
        milliseconds = round(self.event_timeout(event.name).total_seconds() * 1000)
        hooks = [{"type": "command", "command": command.shell_command(event), "timeout": milliseconds}]
        has_tool = event.event.startswith("tool.") or event.event == "approval.request"
        return {"matcher": "*", "hooks": hooks} if has_tool else {"hooks": hooks}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        sample = claude_protocol.sample_payload(directory)
        own = {"event_type": "PreToolUse", "working_directory": directory, "tool_call_id": SAMPLE_ID}
        return "PreToolUse", {
            "session_id": SAMPLE_ID,
            **own,
            **{key: sample[key] for key in ("tool_name", "tool_input")},
        }


AGENT = LettaCode(
    name="letta-code",
    title="Letta Code",
    proof=Proof.SOURCE,
    versions=("0.32",),
    events=(
        agent_event("SessionStart", "session.start"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny"),
        agent_event("PreToolUse", "tool.before", "deny"),
        agent_event("PermissionRequest", "approval.request", "deny"),
        agent_event("Notification", "notification"),
        agent_event("PostToolUse", "tool.after"),
        agent_event("PostToolUseFailure", "tool.after"),
        agent_event("PreCompact", "history.compact"),
        agent_event("SubagentStop", "subagent.end", "deny"),
        agent_event("Stop", "stop", "deny"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("letta",),
    homes=(".letta",),
    project_variables=("LETTA_WORKING_DIR",),
)
