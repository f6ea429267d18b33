"""OpenHands, from the source of its SDK: six events of Claude Code's, with payloads and replies of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, value_text
from hookline.hosts.agents.payload import Facts, first_mapping, first_text, known_facts, result_facts, tool_facts
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class OpenHands(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        base = known_facts(
            session=known_facts(id=first_text(payload, "session_id")), cwd=first_text(payload, "working_dir")
        )
        match event:
            case "tool.before" | "tool.after":
                result = _tool_result_facts(payload) if event == "tool.after" else {}
                name = first_text(payload, "tool_name")
                input = payload.get("tool_input", {})
                if name.endswith("str_replace_editor") or name == "file_editor":
                    name = {"view": "read_file", "create": "create_file"}.get(first_text(input, "command"), name)
                return [
                    {**base, "tool": {**each, **result}} for each in tool_facts(self.vocabulary_name, name, "", input)
                ]
            case "prompt.submit":
                return [{**base, "prompt": first_text(payload, "message")}]
            case "stop":
                return [{**base, "stop": {"reason": "end_turn"}}]
        return [base]

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        output: dict[str, Any] = {"decision": "deny", "reason": answer.reason} if answer.is_denied else {}
        if answer.context:
            output["additionalContext"] = answer.context
        return Reply(json_line(output))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks.json", ".openhands/hooks.json")
        return (grouped_entries(path, self.events, partial(claude_protocol.entry_in_seconds, self, command)),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "PreToolUse", {
            "event_type": "PreToolUse",
            "tool_name": "terminal",
            "tool_input": {"command": SAMPLE_COMMAND},
            "session_id": SAMPLE_ID,
            "working_dir": directory,
            "metadata": {},
        }


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    response = first_mapping(payload, "tool_response")
    failed = response.get("is_error") is True or response.get("error") is True
    return result_facts(not failed, payload.get("tool_response"), value_text(response))


AGENT = OpenHands(
    name="openhands",
    title="OpenHands",
    proof=Proof.SOURCE,
    versions=("1.58.2",),  # of openhands-sdk
    events=(
        agent_event("SessionStart", "session.start", "context"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context"),
        agent_event("PreToolUse", "tool.before", "deny"),
        agent_event("PostToolUse", "tool.after"),
        agent_event("Stop", "stop", "deny"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("openhands",),
    homes=(".openhands",),
    json_reader=JsonReader(),
    project_variables=("OPENHANDS_PROJECT_DIR",),
    advice="If a project has .openhands/hooks.json, OpenHands does not read your own.",
)
