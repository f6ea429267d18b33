"""Auggie: Claude Code's protocol, with events and tools of its own. Only the server of an account can switch hooks on.

A changed input replaces the whole one, and only context after a tool reaches the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_text,
    known_facts,
    mcp_tool_name,
    result_facts,
    shell_result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass

_RETURN_CODE: Final = re.compile(r"<return-code>\s*(\d{1,9})\s*</return-code>")


@dataclass(frozen=True)
class Auggie(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        roots = payload.get("workspace_roots")
        root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
        base = known_facts(session=known_facts(id=first_text(payload, "conversation_id")), cwd=root, workspace=root)
        match event:
            case "tool.before" | "tool.after":
                result = _tool_result_facts(payload) if event == "tool.after" else {}
                return [{**base, "tool": {**tool, **result}} for tool in self._tool_facts(payload)]
            case "prompt.submit":
                return [{**base, "prompt": first_text(payload, "user_prompt")}]
            case "stop":
                return [{**base, "stop": {"reason": first_text(payload, "agent_stop_cause") or "end_turn"}}]
            case "notification":
                return [{**base, "notification": known_facts(message=first_text(payload, "message"))}]
        return [base]

    def _tool_facts(self, payload: Mapping[str, Any]) -> list[Facts]:
        name, input = first_text(payload, "tool_name"), decode_object(payload.get("tool_input", {}))
        if payload.get("is_mcp_tool") is True:
            name = mcp_tool_name("", name)
        return tool_facts(self.vocabulary_name, name, "", input)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "settings.json", ".augment/settings.json")
        return (flat_entries(path, self.events, partial(self._group, command)),)

    def _group(self, command: HookCommand, event: AgentEvent) -> Entry:
        milliseconds = round(self.event_timeout(event.name).total_seconds() * 1000)
        hooks = [{"type": "command", "command": command.shell_command(event), "timeout": milliseconds}]
        return {"matcher": ".*", "hooks": hooks} if event.event.startswith("tool.") else {"hooks": hooks}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "PreToolUse", {
            "hook_event_name": "PreToolUse",
            "conversation_id": SAMPLE_ID,
            "workspace_roots": [directory],
            "tool_name": "launch-process",
            "tool_input": {"command": SAMPLE_COMMAND, "wait": True, "max_wait_seconds": 20, "cwd": directory},
            "is_mcp_tool": False,
        }


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    text, error = first_text(payload, "tool_output"), first_text(payload, "tool_error")
    code = _RETURN_CODE.search(text)
    if code is not None and not error:
        return shell_result_facts(int(code[1]), text)
    return result_facts(not error, payload.get("tool_output"), error)


AGENT = Auggie(
    name="auggie",
    title="Auggie",
    proof=Proof.CAPTURES,
    versions=("0.36.0",),
    events=(
        agent_event("SessionStart", "session.start"),
        agent_event("PromptSubmit", "prompt.submit"),
        agent_event("PreToolUse", "tool.before", "deny change", ask="deny: Auggie runs the tool when a hook asks"),
        agent_event("PostToolUse", "tool.after", "context"),
        agent_event("Notification", "notification"),
        agent_event("Stop", "stop"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("auggie",),
    homes=(".augment",),
    managed_files=("/etc/augment/settings.json",),
    advice="Auggie runs hooks only if they are enabled for your account.",
    project_variables=("AUGMENT_PROJECT_DIR",),
)
