"""Crush, from its documentation: one event before a tool and one before a compaction, with a reply of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply
from hookline.hosts.agents.agent_event import Ability, AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, limit_to, removes_fields
from hookline.hosts.agents.payload import Facts, decode_object, first_text, known_facts, tool_facts
from hookline.lazy_dataclasses import dataclass

_WITHOUT_CHANGE: Final = Ability(deny=True, allow=True, context=True, halt=True)


@dataclass(frozen=True)
class Crush(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        base = known_facts(session=known_facts(id=first_text(payload, "session_id")), cwd=first_text(payload, "cwd"))
        if event != "tool.before":
            return [base]
        input = decode_object(payload.get("tool_input", {}))
        return [
            {**base, "tool": tool}
            for tool in tool_facts(self.vocabulary_name, first_text(payload, "tool_name"), "", input)
        ]

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if removes_fields(answer):
            answer = limit_to(answer, _WITHOUT_CHANGE)  # Crush merges the new input into the old one
        output: dict[str, Any] = {}
        if answer.is_denied or answer.verdict is Verdict.ALLOW:
            output = {"decision": answer.verdict.word, **({"reason": answer.reason} if answer.reason else {})}
        if answer.halt:
            output |= {"halt": True, "reason": answer.reason}
        if answer.is_changed:
            output["updated_input"] = answer.new
        if answer.context:
            output["context"] = answer.context
        return Reply(json_line(output))

    def home_directories(self, machine: Machine) -> tuple[Path, ...]:
        return (machine.config / "crush",)

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "crush.json", "crush.json")
        hidden = machine.project / ".crush.json"
        if scope is InstallScope.PROJECT and hidden.exists() and not path.exists():
            path = hidden
        return (flat_entries(path, self.events, partial(self._entry, command)),)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        return {"name": "hookline", "command": command.shell_command(event), "timeout": seconds}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "PreToolUse", {
            "event": "PreToolUse",
            "session_id": SAMPLE_ID,
            "cwd": directory,
            "tool_name": "bash",
            "tool_input": {"command": SAMPLE_COMMAND},
        }


AGENT = Crush(
    name="crush",
    title="Crush",
    proof=Proof.DOCUMENTATION,
    versions=("0.96",),
    events=(
        agent_event("PreToolUse", "tool.before", "deny allow change context halt"),
        agent_event("PreCompact", "history.compact", "deny halt"),
    ),
    timeout=timedelta(seconds=30),
    programs=("crush",),
    homes=(),
    project_variables=("CRUSH_PROJECT_DIR",),
)
