"""Cursor, from its documentation.

Its `before…` and `after…` events of single tools describe the same calls as `preToolUse` and `postToolUse`. hookline
reads them all, but installs only the general ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Reply
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, json_line, value_text
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_text,
    known_facts,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass
from hookline.project.sources import SourceLayer


@dataclass(frozen=True)
class Cursor(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        base = _base_facts(payload)
        match event:
            case "tool.before" | "tool.after":
                return [
                    {**base, "tool": {**tool, **_tool_result_facts(name, event, payload)}}
                    for tool in self._tool_facts(name, payload)
                ]
            case "prompt.submit":
                return [{**base, "prompt": first_text(payload, "prompt")}]
            case "stop":
                count = payload.get("loop_count")  # how often a hook has already made the agent continue
                active = {"active": count > 0} if isinstance(count, int) else {}
                return [{**base, "stop": {"reason": first_text(payload, "status") or "end_turn", **active}}]
            case "history.compact":
                return [{**base, **known_facts(trigger=first_text(payload, "trigger"))}]
            case "subagent.start" | "subagent.end":
                who = known_facts(id=first_text(payload, "subagent_id"), name=first_text(payload, "subagent_type"))
                text = first_text(payload, "summary", "result")
                end = known_facts(tool=known_facts(result=text), stop=known_facts(message=text))
                return [{**base, **known_facts(subagent=who), **(end if event == "subagent.end" else {})}]
        return [base]

    def _tool_facts(self, name: str, payload: Mapping[str, Any]) -> list[Facts]:
        id = first_text(payload, "tool_use_id")
        match name:
            case "beforeShellExecution" | "afterShellExecution":
                input = known_facts(command=payload.get("command"), cwd=first_text(payload, "cwd"))
                return tool_facts(self.vocabulary_name, "Shell", id, input)
            case "beforeReadFile":
                return tool_facts(self.vocabulary_name, "Read", id, known_facts(file_path=payload.get("file_path")))
            case "afterFileEdit":
                return tool_facts(
                    self.vocabulary_name,
                    "Edit",
                    id,
                    {key: payload[key] for key in ("file_path", "edits") if key in payload},
                )
            case "beforeMCPExecution" | "afterMCPExecution":
                own = mcp_tool_name(
                    first_text(payload, "mcp_server_name", "server", "server_name", "mcp_server"),
                    first_text(payload, "tool_name"),
                )
                return tool_facts(self.vocabulary_name, own, id, decode_object(payload.get("tool_input", {})))
        return tool_facts(
            self.vocabulary_name, first_text(payload, "tool_name"), id, decode_object(payload.get("tool_input", {}))
        )

    def empty_reply(self) -> Reply:
        return Reply("{}")

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        output: dict[str, Any] = {}
        match answer.event:
            case "tool.before" | "subagent.start" if answer.is_denied:
                for_user = join_texts((answer.reason, answer.message))
                output = {"permission": "deny", "user_message": for_user, "agent_message": answer.reason}
            case "tool.before" | "subagent.start" if answer.verdict is Verdict.ALLOW:
                output = {"permission": "allow"}
            case "prompt.submit" if answer.is_denied:
                output = {"continue": False, "user_message": answer.reason}
            case "stop" | "subagent.end" if answer.is_denied:
                output = {"followup_message": answer.reason}
            case "history.compact" if answer.message:
                output = {"user_message": answer.message}
        if answer.context:
            output["additional_context"] = answer.context
        return Reply(json_line(output) or "{}")

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks.json", ".cursor/hooks.json")
        return (flat_entries(path, self.events, partial(self._entry, command), {"version": 1}),)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        closed = {"failClosed": True} if event.event == "tool.before" else {}
        return {"command": command.shell_command(event), "timeout": seconds, **closed}

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "preToolUse", {
            "conversation_id": SAMPLE_ID,
            "generation_id": SAMPLE_ID,
            "hook_event_name": "preToolUse",
            "workspace_roots": [directory],
            "cwd": directory,
            "tool_name": "Shell",
            "tool_input": {"command": SAMPLE_COMMAND},
            "tool_use_id": SAMPLE_ID,
        }


def _base_facts(payload: Mapping[str, Any]) -> Facts:
    """The payload's `cwd` is where the tool runs, which the model chooses, so it says nothing about the session."""
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    session = known_facts(id=first_text(payload, "conversation_id", "session_id"))
    return known_facts(session=session, cwd=root, workspace=root)


def _tool_result_facts(name: str, event: str, payload: Mapping[str, Any]) -> Facts:
    if event == "tool.before":
        return {}
    if name == "postToolUseFailure":
        return result_facts(
            False, error=first_text(payload, "error_message", "error") or value_text(payload.get("error", ""))
        )
    names = ("tool_output", "output", "result_json")
    return result_facts(True, next((payload[each] for each in names if each in payload), None))


_NO_ASK = "deny: Cursor ignores ask before a tool"
_NO_CHANGE = "deny, with the suggested input: it is not known whether Cursor applies a change"

AGENT = Cursor(
    name="cursor",
    title="Cursor",
    verified=False,
    events=(
        agent_event("sessionStart", "session.start", "context"),
        agent_event("beforeSubmitPrompt", "prompt.submit", "deny"),
        agent_event("preToolUse", "tool.before", "deny allow", ask=_NO_ASK, change=_NO_CHANGE),
        agent_event("postToolUse", "tool.after", "context"),
        agent_event("postToolUseFailure", "tool.after"),
        agent_event("preCompact", "history.compact", "user"),
        agent_event("subagentStart", "subagent.start", "deny allow"),
        agent_event("subagentStop", "subagent.end", "deny"),
        agent_event("stop", "stop", "deny"),
        agent_event("sessionEnd", "session.end"),
    ),
    timeout=timedelta(seconds=30),  # not documented
    programs=("cursor", "cursor-agent"),
    homes=(".cursor",),
    project_variables=("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=frozenset(("claude_code", each) for each in SourceLayer),
    ignores_some_hooks=True,
    event_aliases={
        "beforeShellExecution": "preToolUse",
        "beforeMCPExecution": "preToolUse",
        "beforeReadFile": "preToolUse",
        "afterShellExecution": "postToolUse",
        "afterMCPExecution": "postToolUse",
        "afterFileEdit": "postToolUse",
    },
)
