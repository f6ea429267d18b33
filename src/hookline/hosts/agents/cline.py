"""Cline: one executable file for each event, and a reply that may cancel the task. Exit codes mean nothing to it.

The command line program and the VS Code extension share the files. The extension sends a tool's parameters as texts and
no `tool_call`, waits for the answer to TaskStart and UserPromptSubmit, and does not apply a changed input.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    SAMPLE_COMMAND,
    SAMPLE_ID,
    CodingAgent,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
    layers_of,
    write_if_absent,
)
from hookline.hosts.agents.agent_event import Ability, AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, OwnFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, limit_to, truncate_utf8
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    decode_values,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass

_PROVIDER: Final = "openai-compatible"
MAX_CONTEXT: Final = 50_000  # bytes of added context that it reads


@dataclass(frozen=True)
class Cline(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        roots = payload.get("workspaceRoots")
        root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
        model = first_text(first_mapping(payload, "model"), "slug")
        session = known_facts(id=first_text(payload, "taskId"), model=model)
        base = known_facts(session=session, cwd=root, workspace=root)
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

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        return first_mapping(payload, "tool_call").get("input")

    def _tool_facts(self, details: Mapping[str, Any], call: Mapping[str, Any]) -> list[Facts]:
        name = first_text(details, "toolName", "tool")
        input = decode_values(decode_object(details.get("parameters", {})))
        if isinstance(call.get("input"), dict):
            name, input = first_text(call, "name") or name, call["input"]
        if name == "use_mcp_tool" and first_text(input, "server_name") and first_text(input, "tool_name"):
            name = mcp_tool_name(first_text(input, "server_name"), first_text(input, "tool_name"))
            input = decode_object(input.get("arguments", {}))
        creates = name == "editor" and isinstance(input, dict) and not {"old_text", "insert_line"} & input.keys()
        return tool_facts(
            self.vocabulary_name, name, first_text(call, "id"), input, ToolKind.WRITE if creates else None
        )

    def empty_reply(self) -> Reply:
        return Reply('{"cancel":false}')

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.is_changed and "tool_call" not in parsed.payload:
            answer = limit_to(answer, _EXTENSION_ABILITY)
        cancel = answer.is_denied or answer.halt
        output: dict[str, Any] = {"cancel": cancel}
        if answer.context:
            output["contextModification"] = truncate_utf8(answer.context, MAX_CONTEXT)
        if cancel:
            output["errorMessage"] = answer.reason
        elif answer.is_changed:
            output["overrideInput"] = answer.new
        return Reply(json_line(output))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        user = machine.home / "Documents" / "Cline" / "Hooks"
        directory = user if scope is InstallScope.USER else machine.project / ".clinerules" / "hooks"
        return tuple(
            OwnFile(directory / each.name, _hook_script(command, each), executable=True, events=(each.name,))
            for each in self.events
        )

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        commands = [SAMPLE_COMMAND]
        return "PreToolUse", {
            "hookName": "tool_call",
            "taskId": SAMPLE_ID,
            "workspaceRoots": [directory],
            "tool_call": {"id": SAMPLE_ID, "name": "run_commands", "input": {"commands": commands}},
            "preToolUse": {"toolName": "run_commands", "parameters": {"commands": json.dumps(commands)}},
        }

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Cline 3.0.65."""
        model = {"provider": _PROVIDER, "apiKey": FAKE_API_KEY, "model": "scripted", "baseUrl": f"{url}/v1"}
        provider = {"settings": model, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        settings = {"version": 1, "lastUsedProvider": _PROVIDER, "modes": {}, "providers": {_PROVIDER: provider}}
        folder = home / ".cline" / "data" / "settings"
        write_if_absent(folder / "providers.json", settings)
        # otherwise it waits at its end for a server that it cannot reach
        write_if_absent(folder / "global-settings.json", {"telemetryOptOut": True, "autoUpdateEnabled": False})
        environment = {"CLINE_SESSION_BACKEND_MODE": "local"}  # otherwise it leaves a server behind
        return HeadlessRun(("-P", _PROVIDER, "-m", "scripted", HEADLESS_PROMPT), environment)


def _tool_result_facts(details: Mapping[str, Any]) -> Facts:
    result = details.get("result")
    outputs = mapping_list({"result": _decode_list(result)}, "result")
    ok = details.get("success") is not False and all(each.get("success") is not False for each in outputs)
    return result_facts(ok, result, first_text(details, "result", "error"))


def _decode_list(result: Any) -> Any:
    return decode_values({"result": result})["result"]


def _hook_script(command: HookCommand, event: AgentEvent) -> str:
    """Cline obeys a reply, not an exit code: a launcher that is missing or fails must be a reply too."""
    entry = "export HOOKLINE_ENTRY=project\n" if command.is_shared else ""
    missing = f"[ -x {command.program} ] || {_exit_without_launcher(command, event)}\n" if command.is_shared else ""
    if not command.fails_closed(event):
        return f"#!/bin/sh\n{missing}{entry}exec {command.bare_command(event)}\n"
    return f"#!/bin/sh\n{missing}{entry}{command.bare_command(event)} || echo '{_cancel(command.failed_message)}'\n"


def _exit_without_launcher(command: HookCommand, event: AgentEvent) -> str:
    if not command.fails_closed(event):
        return "exit 0"
    return f"{{ echo '{_cancel(command.missing_message)}'; exit 0; }}"


def _cancel(reason: str) -> str:
    return json.dumps({"cancel": True, "errorMessage": reason})


_DENY_CANCELS: Final = "yes, and it cancels the task"
_EXTENSION_ONLY: Final = "in the VS Code extension only, and it cancels the task"
_CHANGE: Final = "in the command line program; else deny, with the suggested input"
_EXTENSION_ABILITY: Final = Ability(deny=True, context=True, halt=True)

AGENT = Cline(
    name="cline",
    title="Cline",
    proof=Proof.RUN,
    versions=("3.0.65",),
    events=(
        agent_event("TaskStart", "session.start", "halt", halt="in the VS Code extension only"),
        agent_event("TaskResume", "session.start"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny halt", deny=_EXTENSION_ONLY, halt=_EXTENSION_ONLY),
        agent_event("PreToolUse", "tool.before", "deny change context halt", deny=_DENY_CANCELS, change=_CHANGE),
        agent_event("PostToolUse", "tool.after", "context halt"),
        agent_event("PreCompact", "history.compact"),
        agent_event("TaskComplete", "stop"),
        agent_event("SessionShutdown", "session.end"),
    ),
    timeout=timedelta(seconds=30),
    programs=("cline",),
    homes=(".cline", "Documents/Cline"),
    deny_ends_run=True,
    advice="In VS Code, Cline runs hooks only if they are enabled in its settings.",
    native_layers=layers_of("cline"),
)
