"""Hermes: events of its own, and a reply that may block a tool or add context to a prompt. Its settings are YAML.

It obeys no exit code, so an entry prints the block itself if hookline cannot be run. It runs an entry without a shell.
"""

from __future__ import annotations

import json
import math
import shlex
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
)
from hookline.hosts.agents.agent_event import AgentEvent, agent_event
from hookline.hosts.agents.entries import DesiredFile, Entry, HookCommand, MarkedFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    known_facts,
    result_facts,
    tool_facts,
)
from hookline.lazy_dataclasses import dataclass

_PROCESS_TOOL: Final = "process"  # it types into programs that run


@dataclass(frozen=True)
class Hermes(CodingAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        extra = first_mapping(payload, "extra")
        session = known_facts(id=first_text(payload, "session_id"), model=first_text(extra, "model"))
        execution = known_facts(flow=first_text(extra, "turn_id"))
        base = known_facts(session=session, execution=execution, cwd=first_text(payload, "cwd"))
        match event:
            case "tool.before" | "tool.after":
                result = _tool_result_facts(extra) if event == "tool.after" else {}
                return [{**base, "tool": {**tool, **result}} for tool in self._tool_facts(payload, extra)]
            case "prompt.submit":
                return [{**base, "prompt": first_text(extra, "user_message")}]
            case "stop":
                return [{**base, "stop": {"reason": "end_turn"}}]
            case "subagent.start" | "subagent.end":
                who = known_facts(id=first_text(extra, "child_session_id"), name=first_text(extra, "child_role"))
                text = first_text(extra, "child_summary")
                end = known_facts(tool=known_facts(result=text), stop=known_facts(message=text))
                return [{**base, **known_facts(subagent=who), **(end if event == "subagent.end" else {})}]
        return [base]

    def _tool_facts(self, payload: Mapping[str, Any], extra: Mapping[str, Any]) -> list[Facts]:
        name, input = first_text(payload, "tool_name"), decode_object(payload.get("tool_input"))
        kind = ToolKind.SHELL if name == _PROCESS_TOOL else None
        return tool_facts(self.vocabulary_name, name, first_text(extra, "tool_call_id"), input, kind)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.event == "stop" and answer.is_denied:
            return Reply(json_line({"action": "continue", "message": answer.reason}))
        if answer.is_denied:
            return Reply(json_line({"action": "block", "message": answer.reason}))
        return Reply(json_line({"context": answer.context} if answer.context else {}))

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.home_directories(machine)[0] / "config.yaml"
        return (MarkedFile(path, tuple((event.name, _entry(self, command, event)) for event in self.events)),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "pre_tool_call", {
            "hook_event_name": "pre_tool_call",
            "tool_name": "terminal",
            "tool_input": {"command": SAMPLE_COMMAND},
            "session_id": SAMPLE_ID,
            "cwd": directory,
            "extra": {"tool_call_id": SAMPLE_ID},
        }

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with Hermes 0.19.0."""
        model = {"default": "scripted", "provider": "custom", "base_url": f"{url}/v1", "api_key": FAKE_API_KEY}
        lines = ["model:", *(f"  {key}: {value}" for key, value in model.items()), "  context_length: 200000", ""]
        config = home / ".hermes" / "config.yaml"
        own = config.read_text("utf-8") if config.exists() else ""
        if "model:" not in own:
            config.parent.mkdir(parents=True, exist_ok=True)
            config.write_text("\n".join(lines) + own, "utf-8")
        return HeadlessRun(("--accept-hooks", "--yolo", "-z", HEADLESS_PROMPT), {})


def _entry(agent: CodingAgent, command: HookCommand, event: AgentEvent) -> Entry:
    """A block if the launcher fails: Hermes would run the tool."""
    line = command.bare_command(event)
    if command.fails_closed(event) and event.ability.deny:
        block = json.dumps({"action": "block", "message": command.failed_message})
        guard = f'"$0" "$@" || echo {shlex.quote(block)}'
        line = f"sh -c {shlex.quote(guard)} {line}"
    return {"command": line, "timeout": math.ceil(agent.event_timeout(event.name).total_seconds())}


def _tool_result_facts(extra: Mapping[str, Any]) -> Facts:
    result = decode_object(extra.get("result"))
    code = first_mapping({"result": result}, "result").get("exit_code")
    failed = extra.get("status") not in (None, "ok") or (type(code) is int and code != 0)
    return result_facts(not failed, result, first_text(extra, "error_message") or (f"exit code {code}" if code else ""))


AGENT = Hermes(
    name="hermes",
    title="Hermes",
    proof=Proof.RUN,
    versions=("0.19.0",),
    events=(
        agent_event("on_session_start", "session.start"),
        agent_event("pre_llm_call", "prompt.submit", "context"),
        agent_event("pre_tool_call", "tool.before", "deny"),
        agent_event("post_tool_call", "tool.after"),
        agent_event("subagent_start", "subagent.start"),
        agent_event("subagent_stop", "subagent.end"),
        agent_event("pre_verify", "stop", "deny", deny="yes, after the agent has edited code"),
        agent_event("on_session_finalize", "session.end"),
    ),
    timeout=timedelta(minutes=1),
    programs=("hermes",),
    homes=(".hermes",),
    home_variable="HERMES_HOME",
    has_project_hooks=False,
    advice="Hermes asks you about each hook when it starts. Without a terminal, start it with --accept-hooks.",
)
