"""Pi, whose hooks are extensions, not programs. hookline's extension passes each event on and applies the reply.

The extension sends one JSON object, and gets one:

```
{"event": "tool_call", "directory": …, "session": …, "hasUI": …, "input": {…}}
→ {"deny": reason, "ask": reason, "input": {…}, "prompt": …, "result": …, "context": …, "message": …}
```

`input` is Pi's event. The reply contains only the keys that apply: `ask` lets the tool run if the person confirms, and
blocks it where there is nobody to ask; `context` before and after a tool is appended to its result, with a prompt to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    SAMPLE_COMMAND,
    SAMPLE_ID,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
    write_if_absent,
)
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, OwnFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, value_text
from hookline.hosts.agents.payload import (
    Facts,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    result_facts,
    tool_facts,
)
from hookline.hosts.agents.plugin_agent import PluginAgent
from hookline.lazy_dataclasses import dataclass

_EXTENSION_SOURCE: Final = Path(__file__).with_name("pi_extension.js")
_CHANGE_KEYS: Final = {"tool.before": "input", "prompt.submit": "prompt", "tool.after": "result"}


@dataclass(frozen=True)
class Pi(PluginAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        told = first_mapping(payload, "input")
        session = known_facts(id=first_text(payload, "session"), **_start_or_end_facts(event, told))
        base = known_facts(session=session, cwd=first_text(payload, "directory"))
        match event:
            case "tool.before" | "tool.after":
                result = _tool_result_facts(told) if event == "tool.after" else {}
                tools = tool_facts(
                    self.vocabulary_name,
                    first_text(told, "toolName"),
                    first_text(told, "toolCallId"),
                    told.get("input", {}),
                )
                return [{**base, "tool": {**tool, **result}} for tool in tools]
            case "prompt.submit":
                return [{**base, "prompt": first_text(told, "text")}]
            case "stop":
                return [{**base, "stop": {"reason": first_text(told, "outcome") or "end_turn"}}]
            case "history.compact":
                return [{**base, **known_facts(trigger=first_text(told, "reason"))}]
        return [base]

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        return first_mapping(payload, "input").get("input")

    def empty_reply(self) -> Reply:
        return Reply("{}")

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        output: dict[str, Any] = {"deny": answer.reason} if answer.is_denied else {}
        if answer.verdict is Verdict.ASK:
            output["ask"] = answer.reason
        if answer.is_changed:
            value = answer.new if answer.event == "tool.before" else value_text(answer.new)
            output[_CHANGE_KEYS[answer.event]] = value
        if answer.context:
            output["context"] = answer.context
        if answer.message:
            output["message"] = answer.message
        return Reply(json_line(output) or "{}")

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "extensions/hookline.js", ".pi/extensions/hookline.js")
        text = self.plugin_text(_EXTENSION_SOURCE, machine, scope, command)
        return (OwnFile(path, text, signature=self.signature),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        call = {"toolName": "bash", "toolCallId": SAMPLE_ID, "input": {"command": SAMPLE_COMMAND}}
        payload = {"event": "tool_call", "directory": directory, "session": SAMPLE_ID, "hasUI": False}
        return "tool_call", {**payload, "input": {"type": "tool_call", **call}}

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Pi 0.87.1."""
        model = {"id": "scripted", "contextWindow": 200000, "maxTokens": 8000}
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": FAKE_API_KEY, "models": [model]}
        write_if_absent(home / ".pi" / "agent" / "models.json", {"providers": {"loopback": provider}})
        return HeadlessRun(
            ("-p", "--provider", "loopback", "--model", "scripted", HEADLESS_PROMPT), {"PI_OFFLINE": "1"}
        )


def _start_or_end_facts(event: str, told: Mapping[str, Any]) -> Facts:
    if event not in ("session.start", "session.end"):
        return {}
    return {"source" if event == "session.start" else "reason": first_text(told, "reason")}


def _tool_result_facts(told: Mapping[str, Any]) -> Facts:
    text = "\n".join(first_text(part, "text") for part in mapping_list(told, "content") if part.get("type") == "text")
    return result_facts(told.get("isError") is not True, text, text)


_ASK: Final = "yes; deny without a terminal"

AGENT = Pi(
    name="pi",
    title="Pi",
    proof=Proof.RUN,
    versions=("0.87.1",),
    events=(
        agent_event("session_start", "session.start", "user"),
        agent_event("input", "prompt.submit", "deny change context user"),
        agent_event("tool_call", "tool.before", "deny ask change context user", ask=_ASK),
        agent_event("tool_result", "tool.after", "change context user"),
        agent_event("session_before_compact", "history.compact", "deny user"),
        agent_event("agent_before_settle", "stop", "deny user"),
        agent_event("session_shutdown", "session.end"),
    ),
    timeout=timedelta(minutes=10),  # Pi itself has no limit
    programs=("pi",),
    homes=(".pi/agent",),
    home_variable="PI_CODING_AGENT_DIR",
    advice="Pi loads a project's extensions only after you trust the project.",
)
