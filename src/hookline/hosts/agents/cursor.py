"""Cursor, from the hook runtime that its SDK contains: a session needs an account.

Its `before…` and `after…` events of single tools describe the same calls as `preToolUse` and `postToolUse`. hookline
reads them all, but installs only the general ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.agent import SAMPLE_COMMAND, SAMPLE_ID, CodingAgent, ParsedPayload, Proof, Reply, layers_of
from hookline.hosts.agents.agent_event import Ability, AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, flat_entries
from hookline.hosts.agents.json_reader import JsonReader, is_number
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import (
    MergedDecision,
    join_texts,
    json_line,
    limit_to,
    truncate_utf8,
    value_text,
)
from hookline.hosts.agents.payload import (
    Facts,
    all_strings,
    decode_object,
    first_text,
    known_facts,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass


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
        if answer.is_changed and not _applies_change(parsed.payload, answer):
            answer = limit_to(answer, _WITHOUT_CHANGE)
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
        if answer.is_changed:
            output["updated_input"] = answer.new
        if answer.context:
            output["additional_context"] = truncate_utf8(answer.context, MAX_CONTEXT)
        return Reply(json_line(output) or "{}")

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks.json", ".cursor/hooks.json")
        return (flat_entries(path, self.events, partial(self._entry, command), {"version": 1}),)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        closed = {"failClosed": True} if command.fails_closed(event) else {}
        return {"command": command.shell_command(event), "timeout": seconds, **closed}

    def find_fault(self, text: str, settings: Mapping[str, Any]) -> str:
        """Cursor removes comments without looking at quotes. It ignores a file that is no JSON then, or has a wrong entry."""
        if _read_as_cursor_does(text) != settings:
            return (
                f"Cursor ignores this file: {_describe_comment(settings) or JsonReader(comments=True).find_flaw(text)}"
            )
        wrong = _find_wrong_value(
            settings, {each.name for each in self.events} | _OTHER_EVENTS | self.event_aliases.keys()
        )
        return f"Cursor ignores this file because of {wrong}" if wrong else ""

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


def _read_as_cursor_does(text: str) -> Any:
    """None if it cannot read it."""
    try:
        return json.loads(_BLOCK_COMMENT.sub("", _LINE_COMMENT.sub("", text)))
    except (ValueError, RecursionError):
        return None


def _describe_comment(settings: Mapping[str, Any]) -> str:
    marks = ((text, mark) for mark in ("//", "/*") for text in all_strings(settings) if mark in text)
    text, mark = next(marks, ("", ""))
    return f"it takes the {mark} in {text!r} for a comment" if text else ""


def _find_wrong_value(settings: Mapping[str, Any], events: Collection[str]) -> str:
    """What makes Cursor reject a whole file, as its SDK checks it."""
    version, hooks = settings.get("version"), settings.get("hooks")
    if type(version) is not int or version < 1:
        return "its version, which must be 1"
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        if event not in events:
            return f"hooks.{event}, which is no event of Cursor {AGENT.versions[-1]}"
        for at, entry in enumerate(entries) if isinstance(entries, list) else ():
            if not isinstance(entry, dict) or not _is_entry(entry):
                return f"hooks.{event}[{at}]"
    return ""


def _is_entry(entry: Mapping[str, Any]) -> bool:
    text = {"command": "command", "prompt": "prompt"}.get(str(entry.get("type", "command")), "")
    timeout, limit = entry.get("timeout", 1), entry.get("loop_limit", 1)
    return (
        isinstance(entry.get(text), str)
        and isinstance(entry.get("matcher", ""), str)
        and is_number(timeout)
        and timeout > 0
        and (limit is None or (type(limit) is int and limit > 0))
        and isinstance(entry.get("failClosed", False), bool)
    )


def _base_facts(payload: Mapping[str, Any]) -> Facts:
    """The payload's `cwd` is where the tool runs, which the model chooses, so it says nothing about the session."""
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    session = known_facts(id=first_text(payload, "conversation_id", "session_id"), model=first_text(payload, "model"))
    execution = known_facts(flow=first_text(payload, "generation_id"))
    return known_facts(session=session, execution=execution, cwd=root, workspace=root)


def _tool_result_facts(name: str, event: str, payload: Mapping[str, Any]) -> Facts:
    if event == "tool.before":
        return {}
    if name == "postToolUseFailure":
        return result_facts(
            False, error=first_text(payload, "error_message", "error") or value_text(payload.get("error", ""))
        )
    names = ("tool_output", "output", "result_json")
    return result_facts(True, next((payload[each] for each in names if each in payload), None))


def _applies_change(payload: Mapping[str, Any], answer: MergedDecision) -> bool:
    """Cursor merges the change into the input of an MCP tool, and takes three fields of a shell command."""
    if not isinstance(answer.old, dict) or not isinstance(answer.new, dict) or answer.old.keys() - answer.new.keys():
        return False
    name = first_text(payload, "tool_name")
    changed = {key for key, value in answer.new.items() if answer.old.get(key) != value}
    return name.startswith("MCP:") or (name == "Shell" and changed <= _SHELL_FIELDS)


MAX_CONTEXT: Final = 10_000  # characters of added context; Cursor drops a longer text
_SHELL_FIELDS: Final = {"command", "cwd", "timeout"}
_WITHOUT_CHANGE: Final = Ability(deny=True, allow=True, context=True)
_LINE_COMMENT: Final = re.compile(r"//[^\n\r\u2028\u2029]*")
_BLOCK_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_OTHER_EVENTS: Final = frozenset(
    ("afterAgentResponse", "afterAgentThought", "beforeTabFileRead", "afterTabFileEdit", "workspaceOpen")
)
_NO_ASK = "deny: Cursor ignores ask before a tool"
_CHANGE = "for shell commands and MCP tools; else deny, with the suggested input"
_PROMPT = "yes; the local agent of its SDK ignores it"

AGENT = Cursor(
    name="cursor",
    title="Cursor",
    proof=Proof.SOURCE,
    versions=("1.0.32",),  # of @cursor/sdk, which contains the local agent
    events=(
        agent_event("sessionStart", "session.start", "context"),
        agent_event("beforeSubmitPrompt", "prompt.submit", "deny context", deny=_PROMPT),
        agent_event("preToolUse", "tool.before", "deny allow change context", ask=_NO_ASK, change=_CHANGE),
        agent_event("postToolUse", "tool.after", "context"),
        agent_event("postToolUseFailure", "tool.after", "context"),
        agent_event("preCompact", "history.compact", "user"),
        agent_event("subagentStart", "subagent.start", "deny allow"),
        agent_event("subagentStop", "subagent.end", "deny"),
        agent_event("stop", "stop", "deny"),
        agent_event("sessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("cursor", "cursor-agent"),
    homes=(".cursor",),
    managed_files=("/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json"),
    project_variables=("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    native_layers=layers_of("claude_code", "cursor"),
    ignores_links=True,
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
