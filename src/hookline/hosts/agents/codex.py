"""Codex CLI. It rejects a reply that contains an unknown key or value, and then runs the tool.

So replies contain only what its schemas list and its code uses: no ask, no allow without a change, no halt before a
tool, no context besides a deny.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.hooks.event import MISSING
from hookline.hooks.outcome import Verdict
from hookline.hooks.tool_input import command_texts
from hookline.hooks.tools import ToolKind
from hookline.hosts.agents import claude_protocol
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
)
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, grouped_entries
from hookline.hosts.agents.json_reader import JsonReader, find_malformed_group
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, value_as_reason, value_text
from hookline.hosts.agents.payload import (
    PATCH_BEGIN,
    PATCH_END,
    Facts,
    first_mapping,
    result_facts,
    split_patch,
)
from hookline.lazy_dataclasses import dataclass, replace


@dataclass(frozen=True)
class Codex(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        found = claude_protocol.payload_facts(self.vocabulary_name, event, payload, _tool_result_facts)
        return [*found, *(patched for facts in found for patched in _patch_facts(facts))]

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.event == "history.compact" and answer.is_denied:
            return Reply(json_line(claude_protocol.common_output(replace(answer, halt=True))))
        if answer.event == "tool.before" and not answer.is_denied:
            answer = replace(answer, verdict=Verdict.ALLOW if answer.is_changed else Verdict.SILENT, reason="")
        if answer.event == "tool.after" and answer.is_changed:
            output = claude_protocol.build_output(parsed.name, replace(answer, new=MISSING))
            return Reply(json_line({"decision": "block", "reason": value_as_reason(answer.new), **output}))
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "hooks.json", ".codex/hooks.json")
        return (grouped_entries(path, self.events, partial(claude_protocol.entry_in_seconds, self, command)),)

    def find_fault(self, text: str, settings: Mapping[str, Any]) -> str:
        """Seen in Codex 0.166.0."""
        unknown = next((key for key in settings if key not in ("description", "hooks")), None)
        if unknown is not None:
            return (
                f"{self.title} ignores this file because of its key {unknown!r}: it may have only description and hooks"
            )
        names = {event.name for event in self.events} | {"PostCompact"}
        place = find_malformed_group(settings.get("hooks"), names, _is_group, _is_handler)
        if place or not isinstance(settings.get("description"), str | None):
            return f"{self.title} ignores this file because of {f'hooks.{place}' if place else 'its description'}"
        return super().find_fault(text, settings)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        own = {"turn_id": SAMPLE_ID, "model": "none", "tool_input": {"command": SAMPLE_COMMAND}}
        return "PreToolUse", {**claude_protocol.sample_payload(directory), **own}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Codex 0.166.0. Its trust is bound to the user's own files, so the run bypasses it."""
        provider = f'{{name = "loopback", base_url = "{url}/v1", wire_api = "responses", env_key = "LOOPBACK_KEY"}}'
        arguments = (
            "exec",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            *("-c", 'model = "scripted"', "-c", 'model_provider = "loopback"'),
            *("-c", f"model_providers.loopback = {provider}"),
            HEADLESS_PROMPT,
        )
        return HeadlessRun(arguments, {"LOOPBACK_KEY": FAKE_API_KEY})


_HANDLER_TEXTS: Final = {"command": ("command",), "mcp_tool": ("server", "tool"), "prompt": (), "agent": ()}


def _is_group(group: Mapping[str, Any]) -> bool:
    return isinstance(group.get("matcher"), str | None) and isinstance(group.get("hooks", []), list)


def _is_handler(handler: Mapping[str, Any]) -> bool:
    texts, timeout = _HANDLER_TEXTS.get(str(handler.get("type"))), handler.get("timeout")
    return (
        texts is not None
        and all(isinstance(handler.get(name), str) for name in texts)
        and (timeout is None or (type(timeout) is int and timeout >= 0))
        and isinstance(handler.get("async", False), bool)
        and isinstance(handler.get("statusMessage"), str | None)
    )


def _patch_facts(facts: Facts) -> list[Facts]:
    """The files of the patches in a shell command.

    Codex applies such a patch as if its own patch tool were called, but reports only the shell command.
    """
    tool = first_mapping(facts, "tool")
    if tool.get("kind") != ToolKind.SHELL:
        return []
    texts = command_texts(first_mapping(tool, "input").get("command"))
    parts = [part for text in texts[-1:] if isinstance(text, str) for part in text.split(PATCH_BEGIN)[1:]]
    found = [call for part in parts for call in split_patch(PATCH_BEGIN + part.partition(PATCH_END)[0] + PATCH_END)]
    calls = [{"name": "apply_patch", "kind": str(kind), "input": input} for kind, input in found]
    return [{**facts, "tool": {**tool, **each}} for each in calls]


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    """Codex has no separate event for a failure. The response of an MCP tool says whether it failed."""
    response = first_mapping(payload, "tool_response")
    if response.get("isError") is True or response.get("is_error") is True:
        return result_facts(False, response, value_text(response))
    return result_facts(True, payload.get("tool_response"))


_NO_ASK = "deny: Codex runs the tool when a hook asks"

AGENT = Codex(
    name="codex",
    title="Codex CLI",
    proof=Proof.RUN,
    versions=("0.166.0",),
    events=(
        agent_event("SessionStart", "session.start", "context halt user"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        agent_event("PreToolUse", "tool.before", "deny change context user", ask=_NO_ASK),
        agent_event("PermissionRequest", "approval.request", "deny allow user"),
        agent_event("PostToolUse", "tool.after", "change context user"),
        agent_event("PreCompact", "history.compact", "deny halt user", deny="yes, and the turn ends"),
        agent_event("SubagentStart", "subagent.start", "context user"),
        agent_event("SubagentStop", "subagent.end", "deny halt user"),
        agent_event("Stop", "stop", "deny halt user"),
        agent_event("SessionEnd", "session.end", timeout=timedelta(seconds=1)),
    ),
    timeout=timedelta(minutes=10),
    programs=("codex",),
    homes=(".codex",),
    managed_files=("/etc/codex/requirements.toml", "/etc/codex/managed_config.toml", "/etc/codex/config.toml"),
    home_variable="CODEX_HOME",
    json_reader=JsonReader(),
    advice="Codex runs no hook before you trust it: start codex, type /hooks and accept the hooks of hookline.",
    native_layers=layers_of("codex"),
)
