"""Kimi Code: Claude Code's events, of which it obeys exit code 2 and, with a prompt, plain text. Its settings are TOML.

It adds everything that a hook of a prompt prints to the prompt, even JSON, so a reply there is text or nothing. A fifth key
in an entry makes its whole file fail to load.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

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
    layers_of,
)
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, MarkedFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, replace_surrogates, value_text
from hookline.hosts.agents.payload import Facts, first_text, mapping_list, result_facts
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class KimiCode(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        payload = {**payload, "hook_event_name": name}
        if event == "prompt.submit" and isinstance(payload.get("prompt"), list):
            payload["prompt"] = "\n".join(first_text(part, "text") for part in mapping_list(payload, "prompt"))
        if event == "stop":
            payload.pop("stop_hook_active", None)  # it is always false, so hookline counts itself
        return claude_protocol.payload_facts(self.vocabulary_name, event, payload, _tool_result_facts)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.is_denied:
            return Reply(stderr=replace_surrogates(answer.reason), exit_code=2)
        return Reply(stdout=replace_surrogates(answer.context))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.home_directories(machine)[0] / "config.toml"
        return (MarkedFile(path, tuple((event.name, self._entry(command, event)) for event in self.events)),)

    def _entry(self, command: HookCommand, event: AgentEvent) -> Entry:
        seconds = math.ceil(self.event_timeout(event.name).total_seconds())
        return {"event": event.name, "command": command.shell_command(event), "timeout": seconds}

    def find_fault(self, text: str, settings: Mapping[str, Any]) -> str:
        """One wrong entry is enough. Seen in Kimi Code 2.1.0."""
        hooks = settings.get("hooks")
        wrong = (at for at, each in enumerate(hooks if isinstance(hooks, list) else ()) if not _is_entry(each))
        at = next(wrong, None)
        return "" if at is None else f"{self.title} ignores all hooks of this file because of hooks[{at}]"

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        sample = claude_protocol.sample_payload(directory)
        for key in ("tool_use_id", "transcript_path", "permission_mode"):
            del sample[key]
        return "PreToolUse", {**sample, "client_type": "kimi_code_cli", "tool_call_id": SAMPLE_ID}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Kimi Code 2.1.0."""
        lines = [
            'default_model = "scripted"',
            "telemetry = false",
            "[providers.loopback]",
            'type = "openai"',
            f'base_url = "{url}/v1"',
            f'api_key = "{FAKE_API_KEY}"',
            "[models.scripted]",
            'provider = "loopback"',
            'model = "scripted"',
            "max_context_size = 200000",
            'capabilities = ["tool_use"]',
        ]
        config = home / ".kimi-code" / "config.toml"
        if not config.exists() or "[providers.loopback]" not in config.read_text("utf-8"):
            config.parent.mkdir(parents=True, exist_ok=True)
            own = config.read_text("utf-8") if config.exists() else ""
            config.write_text("\n".join((*lines, own)), "utf-8")
        return HeadlessRun(("-p", HEADLESS_PROMPT), {})


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not entry.keys() <= {"event", "matcher", "command", "timeout"}:
        return False
    timeout = entry.get("timeout", 1)
    return (
        entry.get("event") in _EVENTS
        and isinstance(entry.get("matcher", ""), str)
        and isinstance(entry.get("command"), str)
        and bool(entry["command"])
        and type(timeout) is int
        and 1 <= timeout <= 600
    )


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    if payload.get("hook_event_name") == "PostToolUseFailure":
        error = payload.get("error")
        return result_facts(False, error=first_text(error, "message") or value_text(error))
    return result_facts(True, payload.get("tool_output"))


_EVENTS: Final = frozenset(
    ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionResult", "UserPromptSubmit",
     "UserPromptQueued", "TurnStarted", "Stop", "StopFailure", "Interrupt", "SessionStart", "SessionEnd", "SessionHeartbeat",
     "SubagentStart", "SubagentStop", "TaskStarted", "PreCompact", "PostCompact", "Notification")
)  # fmt: skip
_NO_ASK: Final = "deny: Kimi runs the tool when a hook asks"

AGENT = KimiCode(
    name="kimi-code",
    title="Kimi Code",
    proof=Proof.RUN,
    versions=("2.1.0",),
    events=(
        agent_event("SessionStart", "session.start"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context"),
        agent_event("PreToolUse", "tool.before", "deny", ask=_NO_ASK),
        agent_event("PostToolUse", "tool.after"),
        agent_event("PostToolUseFailure", "tool.after"),
        agent_event("PreCompact", "history.compact"),
        agent_event("SubagentStart", "subagent.start"),
        agent_event("SubagentStop", "subagent.end"),
        agent_event("Notification", "notification"),
        agent_event("Stop", "stop", "deny", deny="yes, once in a turn"),
        agent_event("SessionEnd", "session.end"),
    ),
    timeout=timedelta(seconds=30),
    programs=("kimi",),
    homes=(".kimi-code",),
    home_variable="KIMI_CODE_HOME",
    has_project_hooks=False,
    native_layers=layers_of("kimi_code"),
    unread_files=(".kimi/config.toml",),  # Kimi CLI's
)
