"""Grok Build: Claude Code's protocol, with tool names of its own.

Each key of a payload stands there in two spellings. Context at the session's start and with a prompt is lost, and at a
stop it makes the agent continue, so it is left out there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    SAMPLE_ID,
    CodingAgent,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
)
from hookline.hosts.agents.agent_event import Ability, agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, limit_to, value_text
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    mcp_tool_name,
    result_facts,
    shell_result_facts,
)
from hookline.lazy_dataclasses import dataclass
from hookline.project.sources import SourceLayer

_MCP_TOOL: Final = "use_tool"
_BYPASS: Final = "bypassPermissions"
_WITHOUT_ASK: Final = Ability(deny=True, change=True, context=True)


@dataclass(frozen=True)
class GrokBuild(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        if event == "stop" and payload.get("reason") == "shutdown":
            return []  # it fires once more after the session's end
        payload = {**payload, "hook_event_name": name, **_tool_call(payload)}
        if "stop_hook_active" not in payload and "stopHookActive" in payload:
            payload["stop_hook_active"] = payload["stopHookActive"]
        if not first_text(payload, "last_assistant_message"):
            payload["last_assistant_message"] = first_text(payload, "lastAssistantMessage")
        outcome = claude_protocol.claude_result_facts if name == "PostToolUseFailure" else _tool_result_facts
        return claude_protocol.payload_facts(self.vocabulary_name, event, payload, outcome)

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        return _tool_call(payload).get("tool_input", super().called_input(payload))

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.verdict is Verdict.ASK and first_text(parsed.payload, "permission_mode", "permissionMode") == _BYPASS:
            answer = limit_to(answer, _WITHOUT_ASK)  # with --always-approve, Grok runs what a hook asks about
        if answer.is_changed and first_text(parsed.payload, "tool_name") == _MCP_TOOL:
            whole = {**first_mapping(parsed.payload, "tool_input"), "tool_input": answer.new}
            return Reply(json_line(_output(parsed.name, answer, whole)))
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks/hookline.json", ".grok/hooks/hookline.json")
        return (grouped_entries(path, self.events, partial(claude_protocol.entry_in_seconds, self, command)),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        own = {
            "hookEventName": "pre_tool_use",
            "sessionId": SAMPLE_ID,
            "workspaceRoot": directory,
            "timestamp": "2026-01-01T00:00:00.000000000+00:00",
            "tool_name": "run_terminal_command",
            "tool_use_id": SAMPLE_ID,
        }
        return "PreToolUse", {**claude_protocol.sample_payload(directory), **own}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Grok Build 1.0.41."""
        model = {"model": "scripted", "base_url": f"{url}/v1", "env_key": "LOOPBACK_KEY", "name": "scripted"}
        lines = [
            "[models]",
            'default = "scripted"',
            "[model.scripted]",
            *(f'{key} = "{value}"' for key, value in model.items()),
            'api_backend = "chat_completions"',
            "context_window = 200000",
            "[cli]",
            "auto_update = false",
        ]
        config = home / ".grok" / "config.toml"
        if not config.exists():
            config.parent.mkdir(parents=True, exist_ok=True)
            config.write_text("\n".join((*lines, "")), "utf-8")
        arguments = ("-p", HEADLESS_PROMPT, "-m", "scripted", "--always-approve")
        return HeadlessRun(arguments, {"LOOPBACK_KEY": FAKE_API_KEY})


def _output(name: str, answer: MergedDecision, input: dict[str, Any]) -> dict[str, Any]:
    output = claude_protocol.build_output(name, answer)
    return {**output, "hookSpecificOutput": {**output["hookSpecificOutput"], "updatedInput": input}}


def _tool_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's name and input as guards know them: an MCP tool by its own name, and no input that Grok has cut."""
    name, input = first_text(payload, "tool_name", "toolName"), payload.get("tool_input", payload.get("toolInput"))
    if not name:
        return {}
    if payload.get("toolInputTruncated") is True:
        return {"tool_name": name, "tool_input": {}}
    if name == _MCP_TOOL and first_text(input, "tool_name"):
        name, input = first_text(input, "tool_name"), decode_object(input.get("tool_input", {}))
    server, found, tool = name.partition("__")
    if found and server and tool and server != "mcp":
        name = mcp_tool_name(server, tool)
    return {"tool_name": name, "tool_input": input}


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    """A command's output is a list of bytes there, beside the text that the model reads."""
    result = first_mapping(payload, "tool_response", "toolResult")
    read = result.get("output_for_prompt", payload.get("tool_response", payload.get("toolResult")))
    code = result.get("exit_code")
    if type(code) is int:
        return shell_result_facts(code, read)
    return result_facts(not result.get("error"), read, value_text(result.get("error")))


_ASK: Final = "yes; deny with --always-approve, because Grok then runs what a hook asks about"

AGENT = GrokBuild(
    name="grok-build",
    title="Grok Build",
    proof=Proof.RUN,
    versions=("1.0.41",),
    events=(
        agent_event("SessionStart", "session.start"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny", deny="yes, without showing the reason"),
        agent_event("PreToolUse", "tool.before", "deny ask change context", ask=_ASK),
        agent_event("Notification", "notification"),
        agent_event("PostToolUse", "tool.after", "context"),
        agent_event("PostToolUseFailure", "tool.after", "context"),
        agent_event("PreCompact", "history.compact"),
        agent_event("SubagentStart", "subagent.start"),
        agent_event("SubagentStop", "subagent.end", "deny"),
        agent_event("Stop", "stop", "deny"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(minutes=1),  # as hookline's entries say; without them it is 5 seconds
    programs=("grok",),
    homes=(".grok",),
    advice="Grok runs a project's hooks only after you trust them: start grok and type /hooks-trust.",
    project_variables=("GROK_WORKSPACE_ROOT", "CLAUDE_PROJECT_DIR"),
    hook_environment={"GROK_HOOK_EVENT": "PreToolUse"},
    json_reader=JsonReader(),
    native_layers=frozenset({("claude_code", SourceLayer.USER)}),
    ignores_some_hooks=True,
)
