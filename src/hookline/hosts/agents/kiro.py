"""Kiro, from its documentation: exit code 2 before a tool blocks, and stdout of the first two events is context.

CLI 2 has hooks in its agents, with names like preToolUse. CLI 3 and IDE 1 have them in files of their own, with names
like PreToolUse; there, exit code 2 blocks a prompt too.
"""

from __future__ import annotations

import json
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
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, OwnFile, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, replace_surrogates
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    mcp_tool_name,
    result_facts,
    shell_result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

_WRITE_TOOLS: Final = {"fs_write", "write", "fsWrite"}
_EXIT_CODE: Final = lazy_pattern(r"\nExit Code: (-?\d{1,10})\s*\Z")  # in the editor a result is only text
_NAMES_IN_AGENTS: Final = ("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")


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
        in_agents = [each for each in self.events if each.name in _NAMES_IN_AGENTS]
        build_entry = partial(self._entry, command)
        agents = (flat_entries(path, in_agents, build_entry, {"tools": ["*"]}) for path in _agent_files(machine, scope))
        return (*agents, self._hook_file(machine, scope, command))

    def _hook_file(self, machine: Machine, scope: InstallScope, command: HookCommand) -> OwnFile:
        in_file = [each for each in self.events if each.name not in _NAMES_IN_AGENTS]
        hooks = [self._hook(command, each) for each in in_file]
        text = json.dumps({"version": "v1", "hooks": hooks}, indent=2) + "\n"
        path = _directory(machine, scope) / "hooks" / "hookline.json"
        return OwnFile(path, text, events=tuple(each.name for each in in_file))

    def _hook(self, command: HookCommand, event: AgentEvent) -> Entry:
        action = {"type": "command", "command": command.shell_command(event)}
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        return {"name": f"hookline {event.name}", "trigger": event.name, "action": action, "timeout": seconds}

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
    directory = _directory(machine, scope) / "agents"
    found = tuple(sorted(directory.glob("*.json"))) if directory.is_dir() else ()
    return found or (directory / "hookline.json",)


def _directory(machine: Machine, scope: InstallScope) -> Path:
    return (machine.home if scope is InstallScope.USER else machine.project) / ".kiro"


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    result = payload.get("tool_response")
    if isinstance(result, str) and (ended := _EXIT_CODE.search(result)):
        return shell_result_facts(int(ended[1]), result)
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
        agent_event("SessionStart", "session.start", "context"),
        agent_event(
            "UserPromptSubmit", "prompt.submit", "deny context", deny="yes; the editor 1.0.337 is reported to ignore it"
        ),
        agent_event("PreToolUse", "tool.before", "deny"),
        agent_event("PostToolUse", "tool.after"),
        agent_event("Stop", "stop"),
    ),
    timeout=timedelta(seconds=30),
    programs=("kiro-cli", "kiro"),
    homes=(".kiro",),
    advice="Before CLI 3, Kiro's hooks belong to its agents: an agent that you create later has none, and the default "
    "agent cannot have any. Start such a Kiro with --agent and the name of an agent that has hooks.",
    native_layers=layers_of("kiro"),
    unread_files=(".kiro/hooks/*.kiro.hook",),  # of the editor before version 1, which does not call hookline
    ignores_some_hooks=True,  # the same as `.kiro/hooks/*.json`
)
