"""Kiro, from its documentation: exit code 2 before a tool blocks, and stdout of the first two events is context."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import SAMPLE_COMMAND, CodingAgent, ParsedPayload, Proof, Reply, layers_of
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, replace_surrogates
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass

_WRITE_TOOLS: Final = {"fs_write", "write"}


@dataclass(frozen=True)
class Kiro(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        found = claude_protocol.payload_facts(self.vocabulary_name, event, payload, _tool_result_facts)
        if event not in ("tool.before", "tool.after"):
            return found
        result = _tool_result_facts(payload) if event == "tool.after" else {}
        base = {key: value for key, value in found[0].items() if key != "tool"}
        return [{**base, "tool": {**tool, **result}} for tool in self._tool_facts(payload)]

    def _tool_facts(self, payload: Mapping[str, Any]) -> list[Facts]:
        name, input = first_text(payload, "tool_name"), decode_object(payload.get("tool_input", {}))
        if name.startswith("@") and "/" in name:
            server, _, tool = name[1:].partition("/")
            return tool_facts(self.vocabulary_name, mcp_tool_name(server, tool), "", input)
        edits = name in _WRITE_TOOLS and first_text(input, "command") not in ("", "create")
        return tool_facts(self.vocabulary_name, name, "", input, ToolKind.EDIT if edits else None)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.is_denied:
            return Reply(stderr=replace_surrogates(answer.reason), exit_code=2)
        return Reply(stdout=replace_surrogates(answer.context))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        build_entry = partial(self._entry, command)
        paths = _agent_files(machine, scope)
        return tuple(flat_entries(path, self.events, build_entry, {"tools": ["*"]}) for path in paths)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        return {"command": command.shell_command(event), "timeout_ms": seconds * 1000}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "preToolUse", {
            "hook_event_name": "preToolUse",
            "cwd": directory,
            "tool_name": "execute_bash",
            "tool_input": {"command": SAMPLE_COMMAND},
        }


def _agent_files(machine: Machine, scope: InstallScope) -> tuple[Path, ...]:
    """Kiro's hooks belong to one of its agents: every agent defined there, or a new one with all tools."""
    directory = (machine.home if scope is InstallScope.USER else machine.project) / ".kiro" / "agents"
    found = tuple(sorted(directory.glob("*.json"))) if directory.is_dir() else ()
    return found or (directory / "hookline.json",)


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    result = payload.get("tool_response")
    ok = first_mapping(payload, "tool_response").get("success") is not False
    return result_facts(ok, result, first_text(result, "error"))


AGENT = Kiro(
    name="kiro",
    title="Kiro CLI",
    proof=Proof.DOCUMENTATION,
    versions=(),
    events=(
        agent_event("agentSpawn", "session.start", "context"),
        agent_event("userPromptSubmit", "prompt.submit", "context"),
        agent_event("preToolUse", "tool.before", "deny"),
        agent_event("postToolUse", "tool.after"),
        agent_event("stop", "stop"),
    ),
    timeout=timedelta(seconds=30),
    programs=("kiro-cli", "kiro"),
    homes=(".kiro",),
    advice="Kiro's hooks belong to its agents: an agent that you create later has none, and the default agent cannot "
    "have any. Start Kiro with --agent and the name of an agent that has hooks.",
    event_aliases={
        "SessionStart": "agentSpawn",
        "UserPromptSubmit": "userPromptSubmit",
        "PreToolUse": "preToolUse",
        "PostToolUse": "postToolUse",
        "Stop": "stop",
    },
    native_layers=layers_of("kiro"),
)
