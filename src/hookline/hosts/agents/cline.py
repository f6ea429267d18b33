"""Cline, from its source: one executable file for each event, and a reply that may cancel the task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Reply
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, OwnFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, truncate_utf8
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    known_facts,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass

MAX_CONTEXT: Final = 50_000  # bytes of added context that it reads


@dataclass(frozen=True)
class Cline(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        roots = payload.get("workspaceRoots")
        root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
        base = known_facts(session=known_facts(id=first_text(payload, "taskId")), cwd=root, workspace=root)
        details = first_mapping(payload, name[:1].lower() + name[1:])
        match event:
            case "tool.before" | "tool.after":
                result = _tool_result_facts(details) if event == "tool.after" else {}
                call = first_mapping(payload, "tool_call", "tool_result")  # version 3: the input as the tool gets it
                return [{**base, "tool": {**tool, **result}} for tool in self._tool_facts(details, call)]
            case "prompt.submit":
                return [{**base, "prompt": first_text(details, "prompt")}]
            case "stop":
                return [{**base, "stop": {"reason": "end_turn"}}]
        return [base]

    def _tool_facts(self, details: Mapping[str, Any], call: Mapping[str, Any]) -> list[Facts]:
        name, input = first_text(details, "toolName", "tool"), decode_object(details.get("parameters", {}))
        if isinstance(call.get("input"), dict):
            name, input = first_text(call, "name") or name, call["input"]
        if name == "use_mcp_tool" and first_text(input, "server_name") and first_text(input, "tool_name"):
            name = mcp_tool_name(first_text(input, "server_name"), first_text(input, "tool_name"))
            input = decode_object(input.get("arguments", {}))
        creates = name == "editor" and "old_text" not in input and "insert_line" not in input
        return tool_facts(self.vocabulary_name, name, "", input, ToolKind.WRITE if creates else None)

    def empty_reply(self) -> Reply:
        return Reply('{"cancel":false}')

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        cancel = answer.is_denied or answer.halt
        output: dict[str, Any] = {"cancel": cancel}
        if answer.context:
            output["contextModification"] = truncate_utf8(answer.context, MAX_CONTEXT)
        if cancel:
            output["errorMessage"] = answer.reason
        return Reply(json_line(output))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        user = machine.home / "Documents" / "Cline" / "Hooks"
        directory = user if scope is InstallScope.USER else machine.project / ".clinerules" / "hooks"
        return tuple(
            OwnFile(directory / each.name, _hook_script(command, each), executable=True) for each in self.events
        )

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        call = {"toolName": "execute_command", "parameters": {"command": SAMPLE_COMMAND}}
        return "PreToolUse", {
            "hookName": "PreToolUse",
            "taskId": SAMPLE_ID,
            "workspaceRoots": [directory],
            "preToolUse": call,
        }


def _tool_result_facts(details: Mapping[str, Any]) -> Facts:
    error = first_text(details, "result", "error")
    return result_facts(details.get("success") is not False, details.get("result"), error)


def _hook_script(command: HookCommand, event: AgentEvent) -> str:
    guard = f"[ -x {command.program} ] || {_exit_without_launcher(command, event)}\nexport HOOKLINE_ENTRY=project\n"
    return f"#!/bin/sh\n{guard if command.is_shared else ''}exec {command.bare_command(event)}\n"


def _exit_without_launcher(command: HookCommand, event: AgentEvent) -> str:
    """Cline obeys a reply, not an exit code."""
    if not command.fails_closed(event):
        return "exit 0"
    return f"{{ echo '{json.dumps({'cancel': True, 'errorMessage': command.missing_message})}'; exit 0; }}"


_DENY_CANCELS: Final = "yes, and it cancels the task"
_NO_CHANGE: Final = "deny, with the suggested input: not every version of Cline applies a change"

AGENT = Cline(
    name="cline",
    title="Cline",
    verified=False,
    events=(
        agent_event("TaskStart", "session.start", "context halt"),
        agent_event("TaskResume", "session.start", "context halt"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context halt", deny=_DENY_CANCELS),
        agent_event("PreToolUse", "tool.before", "deny context halt", deny=_DENY_CANCELS, change=_NO_CHANGE),
        agent_event("PostToolUse", "tool.after", "context halt"),
        agent_event("PreCompact", "history.compact", "deny context halt", deny=_DENY_CANCELS),
        agent_event("TaskComplete", "stop"),
        agent_event("SessionShutdown", "session.end"),
    ),
    timeout=timedelta(seconds=30),
    programs=("cline",),
    homes=(".cline", "Documents/Cline"),
    advice="Cline runs hooks only if they are enabled in its settings.",
)
