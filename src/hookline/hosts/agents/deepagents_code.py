"""deepagents-code (`dcode`): Claude Code's protocol and tool names. It ignores a changed input."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    CodingAgent,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
)
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import Facts, first_mapping, first_text, result_facts, shell_result_facts
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class DeepagentsCode(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        outcome = claude_protocol.claude_result_facts if name == "PostToolUseFailure" else _tool_result_facts
        payload = {**payload, "hook_event_name": name}
        return claude_protocol.payload_facts(self.vocabulary_name, event, payload, outcome)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks.json", ".deepagents/hooks.json")
        return (grouped_entries(path, self.events, partial(claude_protocol.entry_in_seconds, self, command)),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "PreToolUse", claude_protocol.sample_payload(directory)

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with deepagents-code 0.1.57."""
        environment = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": FAKE_API_KEY,
            "DEEPAGENTS_CODE_OFFLINE": "1",
        }
        options = ("-M", "openai:scripted", "--no-mcp", "--no-interpreter", "--shell-allow-list", "all")
        return HeadlessRun((*options, "-n", HEADLESS_PROMPT), environment)


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    response = first_mapping(payload, "tool_response")
    read = response.get("content", payload.get("tool_response"))
    code = first_mapping(response, "artifact").get("exit_code")
    if type(code) is int:
        return shell_result_facts(code, read)
    return result_facts(response.get("status") != "error", read, first_text(response, "content"))


_NO_CHANGE: Final = "deny, with the suggested input: deepagents-code ignores a change"
_NO_ASK: Final = "deny: without a person to answer, the tool does not run"

AGENT = DeepagentsCode(
    name="deepagents-code",
    title="deepagents-code",
    proof=Proof.RUN,
    versions=("0.1.57",),
    events=(
        agent_event("SessionStart", "session.start", "context"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context", timedelta(seconds=30)),
        agent_event("PreToolUse", "tool.before", "deny context", ask=_NO_ASK, change=_NO_CHANGE),
        agent_event("PermissionRequest", "approval.request"),
        agent_event("Notification", "notification"),
        agent_event("PostToolUse", "tool.after", "context"),
        agent_event("PostToolUseFailure", "tool.after", "context"),
        agent_event("PreCompact", "history.compact"),
        agent_event("SubagentStart", "subagent.start"),
        agent_event("SubagentStop", "subagent.end"),
        agent_event("Stop", "stop", "deny"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=10),
    programs=("dcode", "deepagents-code"),
    homes=(".deepagents",),
    json_reader=JsonReader(),
    advice="deepagents-code runs a project's hooks only with --trust-project-hooks.",
)
