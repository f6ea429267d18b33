"""Claude Code. Replies are JSON on stdout with exit code 0. Context at a stop is left out: it makes the agent continue."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hookline.hooks.event import MISSING
from hookline.hooks.outcome import is_withheld
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    CodingAgent,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
    layers_of,
)
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, json_line, value_text
from hookline.hosts.agents.payload import Facts
from hookline.lazy_dataclasses import dataclass, replace


@dataclass(frozen=True)
class ClaudeCode(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        return claude_protocol.payload_facts(
            self.vocabulary_name, event, {**payload, "hook_event_name": name}, claude_protocol.claude_result_facts
        )

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.event == "tool.after" and answer.is_changed:
            answer = _match_result_shape(answer)
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "settings.json", ".claude/settings.json")
        return (grouped_entries(path, self.events, partial(self._entry, command)),)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        """`onFailure` is what Claude Code does when a command cannot start. Older versions ignore it."""
        block = {"onFailure": "block"} if command.fails_closed(event) else {}
        return {**claude_protocol.entry_in_seconds(self, command, event), **block}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "PreToolUse", claude_protocol.sample_payload(directory)

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Claude Code 2.1.325."""
        environment = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": FAKE_API_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return HeadlessRun(("-p", HEADLESS_PROMPT, "--allowedTools", "Bash"), environment)


def _match_result_shape(answer: MergedDecision) -> MergedDecision:
    """Gives a changed result the shape of the tool's own result. Claude Code ignores any other shape.

    A result that must be withheld and has no known place for a text stops the agent before the model reads it.
    """
    old, new = answer.old, answer.new
    if isinstance(old, dict) and "stdout" in old and type(old) is not type(new):
        return replace(answer, new={**old, "stdout": value_text(new), "stderr": ""})
    if isinstance(old, (dict, list)) and is_withheld(new):
        return replace(answer, new=MISSING, halt=True, reason=f"This result must not be used: {new}")
    if type(old) is type(new) or not isinstance(old, dict):
        return answer
    text = f"A hook changed this result. Read it as:\n{value_text(new)}"
    return replace(answer, new=MISSING, context=join_texts((answer.context, text)))


AGENT = ClaudeCode(
    name="claude-code",
    title="Claude Code",
    proof=Proof.RUN,
    versions=("2.1.325",),
    events=(
        agent_event("SessionStart", "session.start", "context user"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context halt user", timedelta(seconds=30)),
        agent_event("PreToolUse", "tool.before", "deny ask allow change context halt user"),
        agent_event("PermissionRequest", "approval.request", "deny allow halt user"),
        agent_event("Notification", "notification"),
        agent_event("PostToolUse", "tool.after", "change context halt user"),
        agent_event("PostToolUseFailure", "tool.after", "context user"),
        agent_event("PreCompact", "history.compact", "deny halt user"),
        agent_event("SubagentStart", "subagent.start", "context user"),
        agent_event("SubagentStop", "subagent.end", "deny halt user"),
        agent_event("Stop", "stop", "deny halt user"),
        agent_event("SessionEnd", "session.end", timeout=timedelta(seconds=1.5)),
    ),
    timeout=timedelta(minutes=10),
    programs=("claude",),
    homes=(".claude",),
    managed_files=(
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-settings.d/*.json",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
    ),
    home_variable="CLAUDE_CONFIG_DIR",
    hook_environment={"CLAUDECODE": "1"},
    project_settings=(".claude/settings.local.json", ".claude/settings.json"),
    project_variables=("CLAUDE_PROJECT_DIR",),
    native_layers=layers_of("claude_code"),
    json_reader=JsonReader(byte_order_mark=True),
)
