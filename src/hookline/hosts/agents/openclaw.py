"""OpenClaw, whose hooks are plugins, not programs. hookline's plugin passes each hook on and applies the reply.

The plugin sends one JSON object, and gets one:

```
{"event": "before_tool_call", "directory": …, "input": {…}, "context": {"agentId": …, "sessionId": …, …}}
→ {"deny": reason, "ask": reason, "input": {…}, "context": …, "message": …}
```

`input` is OpenClaw's event without the conversation. OpenClaw blocks a tool if the plugin fails or takes 15 seconds.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.config.reader import FileFormat, read_text
from hookline.hooks.outcome import Verdict
from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    SAMPLE_COMMAND,
    SAMPLE_ID,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
)
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, OwnFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import (
    Facts,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    result_facts,
    shell_result_facts,
    tool_facts,
)
from hookline.hosts.agents.plugin_agent import PluginAgent
from hookline.lazy_dataclasses import dataclass

_PLUGIN_SOURCE: Final = Path(__file__).with_name("openclaw_plugin.js")
_PROCESS_TOOL: Final = "process"  # it types into programs that run
_PLUGIN_ID: Final = "hookline"
_ENABLED: Final = {"enabled": True, "hooks": {"allowConversationAccess": True}}
_PACKAGE: Final = {
    "name": "hookline",
    "version": "1.0.0",
    "private": True,
    "type": "module",
    "openclaw": {"extensions": ["./index.js"]},
}
_MANIFEST: Final = {
    "id": "hookline",
    "name": "hookline",
    "activation": {"onStartup": True},
    "configSchema": {"type": "object", "additionalProperties": False},
}


@dataclass(frozen=True)
class OpenClaw(PluginAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        told, context = first_mapping(payload, "input"), first_mapping(payload, "context")
        base = known_facts(
            session=known_facts(id=first_text(context, "sessionId", "sessionKey") or first_text(told, "sessionId")),
            execution=known_facts(flow=first_text(context, "runId") or first_text(told, "runId")),
            cwd=first_text(payload, "directory"),
            agent=known_facts(name=first_text(context, "agentId")),
        )
        match event:
            case "tool.before" | "tool.after":
                result = _tool_result_facts(told) if event == "tool.after" else {}
                return [{**base, "tool": {**tool, **result}} for tool in self._tool_facts(told)]
            case "prompt.submit":
                return [{**base, "prompt": first_text(told, "prompt")}]
            case "stop":
                active = told.get("stopHookActive")
                known = {"active": active} if isinstance(active, bool) else {}
                message = known_facts(message=first_text(told, "lastAssistantMessage"))
                return [{**base, "stop": {"reason": "end_turn", **known, **message}}]
        return [base]

    def _tool_facts(self, told: Mapping[str, Any]) -> list[Facts]:
        name = first_text(told, "toolName")
        runs_code = name == _PROCESS_TOOL or first_text(told, "toolKind") == "code_mode_exec"
        kind = ToolKind.SHELL if runs_code else None
        return tool_facts(self.vocabulary_name, name, first_text(told, "toolCallId"), told.get("params", {}), kind)

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        return first_mapping(payload, "input").get("params")

    def empty_reply(self) -> Reply:
        return Reply("{}")

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        output: dict[str, Any] = {"deny": answer.reason} if answer.is_denied else {}
        if answer.verdict is Verdict.ASK:
            output["ask"] = answer.reason
        if answer.is_changed:
            output["input"] = answer.new
        if answer.context:
            output["context"] = answer.context
        if answer.message:
            output["message"] = answer.message
        return Reply(json_line(output) or "{}")

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        directory = self.home_directories(machine)[0] / "extensions" / "hookline"
        text = self.plugin_text(_PLUGIN_SOURCE, machine, scope, command)
        return (
            OwnFile(directory / "index.js", text, signature=self.signature),
            OwnFile(directory / "package.json", json.dumps(_PACKAGE, indent=2) + "\n"),
            OwnFile(directory / "openclaw.plugin.json", json.dumps(_MANIFEST, indent=2) + "\n"),
        )

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        call = {"toolName": "exec", "params": {"command": SAMPLE_COMMAND}, "toolCallId": SAMPLE_ID}
        payload = {"event": "before_tool_call", "directory": directory, "context": {"sessionId": SAMPLE_ID}}
        return "before_tool_call", {**payload, "input": call}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with OpenClaw 2026.9.6."""
        model = {"id": "scripted", "name": "scripted", "contextWindow": 200000, "maxTokens": 8000}
        provider = {"baseUrl": f"{url}/v1", "apiKey": FAKE_API_KEY, "api": "openai-completions", "models": [model]}
        path = home / ".openclaw" / "openclaw.json"
        own = _read_settings(path) if path.exists() else {}
        if own is None or "models" not in own:
            settings = {
                "models": {"mode": "merge", "providers": {"loopback": provider}},
                "agents": {
                    "defaults": {"model": {"primary": "loopback/scripted"}, "workspace": str(home.parent / "project")}
                },
                "tools": {"exec": {"security": "full", "ask": "off", "host": "gateway"}},
            }
            entries = {_PLUGIN_ID: _ENABLED, **first_mapping(first_mapping(own, "plugins"), "entries")}
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({**(own or {}), **settings, "plugins": {"entries": entries}}), "utf-8")
        session = f"hookline-{secrets.token_hex(8)}"
        return HeadlessRun(("agent", "--local", "--session-id", session, "--message", HEADLESS_PROMPT), {})

    def find_obstacle(self, machine: Machine) -> tuple[str, str]:
        path = self.home_directories(machine)[0] / "openclaw.json"
        settings = _read_settings(path)
        if settings is None:
            return (
                "openclaw.json cannot be read, so OpenClaw may not load the plugin",
                "openclaw plugins enable hookline",
            )
        plugins = first_mapping(settings, "plugins")
        allowed = plugins.get("allow")
        if isinstance(allowed, list) and _PLUGIN_ID not in allowed:
            return "plugins.allow in openclaw.json does not list hookline", 'add "hookline" to plugins.allow'
        entry = first_mapping(first_mapping(plugins, "entries"), _PLUGIN_ID)
        if entry.get("enabled") is not True:
            return "OpenClaw does not load the plugin before you enable it", "openclaw plugins enable hookline"
        return "", ""


def _read_settings(path: Path) -> dict[str, Any] | None:
    """None if it is not JSON, perhaps with comments."""
    try:
        document, _ = read_text(path.read_text("utf-8") if path.exists() else "{}", path.name, FileFormat.JSON)
    except (OSError, UnicodeDecodeError):
        return None
    return document.value if document is not None and isinstance(document.value, dict) else None


def _tool_result_facts(told: Mapping[str, Any]) -> Facts:
    result = first_mapping(told, "result")
    text = "\n".join(first_text(part, "text") for part in mapping_list(result, "content"))
    code = first_mapping(result, "details").get("exitCode")
    if type(code) is int:
        return shell_result_facts(code, text)
    error = first_text(told, "error")
    return result_facts(not error, text or None, error)


_ASK: Final = "yes; deny without a person to answer"
_ACCESS: Final = "yes, with allowConversationAccess"

AGENT = OpenClaw(
    name="openclaw",
    title="OpenClaw",
    proof=Proof.RUN,
    versions=("2026.9.6",),
    events=(
        agent_event("session_start", "session.start"),
        agent_event("before_prompt_build", "prompt.submit", "deny context", deny=_ACCESS, context=_ACCESS),
        agent_event("before_tool_call", "tool.before", "deny ask change", ask=_ASK),
        agent_event("after_tool_call", "tool.after"),
        agent_event(
            "before_agent_finalize", "stop", "deny", deny="only with allowConversationAccess, and if no tool ran"
        ),
        agent_event("session_end", "session.end"),
    ),
    timeout=timedelta(seconds=15),
    programs=("openclaw",),
    homes=(".openclaw",),
    home_variable="OPENCLAW_STATE_DIR",
    has_project_hooks=False,
    advice="OpenClaw loads the plugin after you run: openclaw plugins enable hookline. For prompts and stops, set "
    "plugins.entries.hookline.hooks.allowConversationAccess to true in openclaw.json.",
)
