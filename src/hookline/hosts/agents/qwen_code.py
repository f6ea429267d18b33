"""Qwen Code: Claude Code's protocol with Gemini's tools. Before a tool it ignores changed input and context.

`continue: false` does not end its turn after a tool, and at a stop it makes the agent continue.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
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
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import Facts, first_text
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class QwenCode(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        if event == "prompt.submit" and not first_text(payload, "prompt"):
            return []  # it fires again, empty, after each tool result
        outcome = (
            claude_protocol.claude_result_facts
            if name == "PostToolUseFailure"
            else claude_protocol.displayed_result_facts
        )
        return claude_protocol.payload_facts(self.vocabulary_name, event, {**payload, "hook_event_name": name}, outcome)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "settings.json", ".qwen/settings.json")
        return (grouped_entries(path, self.events, partial(claude_protocol.entry_in_milliseconds, self, command)),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        own = {
            "timestamp": "2026-01-01T00:00:00.000Z",
            "tool_name": "run_shell_command",
            "tool_use_id": SAMPLE_ID,
        }
        return "PreToolUse", {**claude_protocol.sample_payload(directory), **own}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Qwen Code 0.24.4."""
        security = {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}}
        settings = {"security": security, "privacy": {"usageStatisticsEnabled": False}}
        environment = {
            "OPENAI_API_KEY": FAKE_API_KEY,
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_MODEL": "scripted",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": write_if_absent(home / "qwen-system.json", settings),
        }
        return HeadlessRun(("--yolo", "-p", HEADLESS_PROMPT), environment)


AGENT = QwenCode(
    name="qwen-code",
    title="Qwen Code",
    proof=Proof.RUN,
    versions=("0.24.4",),
    events=(
        agent_event("SessionStart", "session.start", "context user"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        agent_event("PreToolUse", "tool.before", "deny ask allow user"),
        agent_event("PermissionRequest", "approval.request", "deny allow halt user"),
        agent_event("Notification", "notification"),
        agent_event("PostToolUse", "tool.after", "context user"),
        agent_event("PostToolUseFailure", "tool.after", "context user"),
        agent_event("PreCompact", "history.compact", "user"),
        agent_event("SubagentStart", "subagent.start", "context user"),
        agent_event("SubagentStop", "subagent.end", "deny user"),
        agent_event("Stop", "stop", "deny user"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("qwen",),
    homes=(".qwen",),
    managed_files=("/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json"),
    advice="Qwen Code runs hooks only in a folder that it trusts.",
    project_settings=(".qwen/settings.json",),
    project_variables=("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=layers_of("qwen_code"),
    json_reader=JsonReader(comments=True, byte_order_mark=True),
)
