"""Factory Droid: Claude Code's protocol, with tool names of its own.

Before a tool it loses context and runs what a hook asks about. The events of `hooks.json` stand at its top, and that file
replaces the hooks of `settings.json` beside it, so entries go where the user's hooks are.
"""

from __future__ import annotations

import json
import re
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
    layers_of,
)
from hookline.hosts.agents.agent_event import Ability, agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader, find_malformed_group, is_number
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, limit_to, removes_fields
from hookline.hosts.agents.payload import Facts, first_text, result_facts, shell_result_facts
from hookline.lazy_dataclasses import dataclass, replace

_EXIT_CODE: Final = re.compile(r"\[Process exited with code (\d{1,9})\]\s*\Z")  # Droid's last line
_WITHOUT_CHANGE: Final = Ability(deny=True)


@dataclass(frozen=True)
class Droid(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        payload = {**payload, "hook_event_name": name}
        return claude_protocol.payload_facts(self.vocabulary_name, event, payload, _tool_result_facts)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if removes_fields(answer):
            answer = limit_to(answer, _WITHOUT_CHANGE)  # Droid merges the new input into the old one
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        hooks = self.settings_path(machine, scope, "hooks.json", ".factory/hooks.json")
        settings = hooks.with_name("settings.json")
        build_entry = partial(claude_protocol.entry_in_seconds, self, command)
        if hooks.exists():
            return (replace(grouped_entries(hooks, self.events, build_entry), parent=()),)
        return (grouped_entries(settings, self.events, build_entry),)

    def find_fault(self, text: str, settings: Mapping[str, Any]) -> str:
        """Seen in Droid 0.215.0. The events of `hooks.json` stand at the top."""
        names, hooks = {event.name for event in self.events}, settings.get("hooks", settings)
        place = find_malformed_group(hooks, names, _is_group, _is_handler)
        if place:
            return f"{self.title} ignores all hooks of this file because of {place}"
        return super().find_fault(text, settings)

    def hook_switch(self, settings: Mapping[str, Any]) -> tuple[str, bool | None]:
        return "hooksDisabled", settings.get("hooksDisabled")

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        sample = claude_protocol.sample_payload(directory)
        del sample["tool_use_id"]
        return "PreToolUse", {**sample, "permission_mode": "off", "tool_name": "Execute"}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Droid 0.215.0."""
        model = {
            "model": "scripted",
            "displayName": "scripted",
            "baseUrl": f"{url}/v1",
            "apiKey": FAKE_API_KEY,
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 8000,
        }
        path = home / ".factory" / "settings.json"
        settings = json.loads(path.read_text("utf-8")) if path.exists() else {}
        if "customModels" not in settings:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"customModels": [model], **settings}), "utf-8")
        # otherwise it waits at its end for servers that it cannot reach
        environment = {"FACTORY_AIRGAP_ENABLED": "true"}
        return HeadlessRun(("exec", "--auto", "high", "-m", "custom:scripted-0", HEADLESS_PROMPT), environment)


def _is_group(group: Mapping[str, Any]) -> bool:
    return isinstance(group.get("matcher", ""), str) and isinstance(group.get("hooks"), list)


def _is_handler(handler: Mapping[str, Any]) -> bool:
    is_command = handler.get("type") == "command" and isinstance(handler.get("command"), str)
    return is_command and is_number(handler.get("timeout", 0))


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    text = first_text(payload, "tool_response")
    shell = _EXIT_CODE.search(text)
    if shell is not None:
        return shell_result_facts(int(shell[1]), text)
    return result_facts(not text.startswith("Error: "), payload.get("tool_response"), text)


_NO_ASK: Final = "deny: Droid runs the tool when a hook asks"

AGENT = Droid(
    name="droid",
    title="Factory Droid",
    proof=Proof.RUN,
    versions=("0.215.0",),
    events=(
        agent_event("SessionStart", "session.start", "context"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context"),
        agent_event("PreToolUse", "tool.before", "deny change", ask=_NO_ASK),
        agent_event("Notification", "notification"),
        agent_event("PostToolUse", "tool.after", "context"),
        agent_event("PreCompact", "history.compact"),
        agent_event("SubagentStop", "subagent.end", "deny"),
        agent_event("Stop", "stop", "deny"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("droid",),
    homes=(".factory",),
    project_variables=("FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=layers_of("droid"),
    json_reader=JsonReader(comments=True),
)
