"""Windsurf, from its documentation: exit code 2 of a `pre_` hook blocks, with stderr as the reason. It reads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply, layers_of
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, replace_surrogates
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Windsurf(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        info = first_mapping(payload, "tool_info")
        session = known_facts(id=first_text(payload, "trajectory_id"), model=first_text(payload, "model_name"))
        execution = known_facts(flow=first_text(payload, "execution_id"))
        base = known_facts(session=session, execution=execution)  # its only cwd is the tool's
        match event:
            case "prompt.submit":
                return [{**base, "prompt": first_text(info, "user_prompt")}]
            case "stop":
                message = known_facts(message=first_text(info, "response"))
                return [{**base, "stop": {"reason": "end_turn", **message}}]
        result = result_facts(True, info.get("mcp_result")) if event == "tool.after" else {}
        return [{**base, "tool": {**tool, **result}} for tool in self._tool_facts(name.partition("_")[2], info)]

    def _tool_facts(self, name: str, info: dict[str, Any]) -> list[Facts]:
        match name:
            case "run_command":
                input = known_facts(command=info.get("command_line"), cwd=first_text(info, "cwd"))
                return tool_facts(self.vocabulary_name, name, "", input)
            case "mcp_tool_use":
                tool = mcp_tool_name(first_text(info, "mcp_server_name"), first_text(info, "mcp_tool_name"))
                return tool_facts(self.vocabulary_name, tool, "", decode_object(info.get("mcp_tool_arguments", {})))
            case "write_code" if not any(first_text(edit, "old_string") for edit in mapping_list(info, "edits")):
                return tool_facts(self.vocabulary_name, name, "", _write_input(info), ToolKind.WRITE)
        return tool_facts(self.vocabulary_name, name, "", info)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        return Reply(stderr=replace_surrogates(answer.reason), exit_code=2) if answer.is_denied else Reply()

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks.json", ".windsurf/hooks.json")
        return (
            flat_entries(
                path, self.events, lambda event: {"command": command.shell_command(event), "show_output": False}
            ),
        )

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "pre_run_command", {
            "agent_action_name": "pre_run_command",
            "trajectory_id": SAMPLE_ID,
            "execution_id": SAMPLE_ID,
            "tool_info": {"command_line": SAMPLE_COMMAND, "cwd": directory},
        }


def _write_input(info: dict[str, Any]) -> dict[str, Any]:
    """Edits that replace nothing write a new file with their texts as its content."""
    content = "\n".join(first_text(edit, "new_string") for edit in mapping_list(info, "edits"))
    return {**{key: value for key, value in info.items() if key != "edits"}, "content": content}


AGENT = Windsurf(
    name="windsurf",
    title="Windsurf",
    proof=Proof.DOCUMENTATION,
    versions=(),
    events=(
        agent_event("pre_user_prompt", "prompt.submit", "deny"),
        agent_event("pre_read_code", "tool.before", "deny"),
        agent_event("pre_write_code", "tool.before", "deny"),
        agent_event("pre_run_command", "tool.before", "deny"),
        agent_event("pre_mcp_tool_use", "tool.before", "deny"),
        agent_event("post_read_code", "tool.after"),
        agent_event("post_write_code", "tool.after"),
        agent_event("post_run_command", "tool.after"),
        agent_event("post_mcp_tool_use", "tool.after"),
        agent_event("post_cascade_response", "stop"),
    ),
    timeout=timedelta(seconds=30),  # not documented
    programs=("windsurf",),
    homes=(".codeium/windsurf",),
    managed_files=("/etc/windsurf/hooks.json", "/Library/Application Support/Windsurf/hooks.json"),
    native_layers=layers_of("windsurf"),
)
