"""Kiro, from its documentation: exit code 2 before a tool blocks, and stdout of the first two events is context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.adapter import Adapter, agent_event
from hookline.hosts.agents.agent import ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import MergedDecision, replace_surrogates
from hookline.hosts.agents.payload import (
    Facts,
    decode_object,
    first_mapping,
    first_text,
    mcp_tool_name,
    result_facts,
    tool_facts,
)


@dataclass(frozen=True)
class KiroAdapter(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        found = claude_protocol.payload_facts(self.vocabulary_name, event, payload, _tool_result_facts)
        if event not in ("tool.before", "tool.after"):
            return found
        ran = _tool_result_facts(payload) if event == "tool.after" else {}
        base = {key: value for key, value in found[0].items() if key != "tool"}
        return [{**base, "tool": {**tool, **ran}} for tool in self._tool_facts(payload)]

    def _tool_facts(self, payload: Mapping[str, Any]) -> list[Facts]:
        name, input = first_text(payload, "tool_name"), decode_object(payload.get("tool_input", {}))
        if name.startswith("@") and "/" in name:
            server, _, tool = name[1:].partition("/")
            return tool_facts(self.vocabulary_name, mcp_tool_name(server, tool), "", input)
        edits = name in _WRITE_TOOLS and first_text(input, "command") not in ("", "create")
        return tool_facts(self.vocabulary_name, name, "", input, ToolKind.EDIT if edits else None)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.is_denied:
            return Reply(stderr=replace_surrogates(answer.reason), exit_code=2)
        return Reply(stdout=replace_surrogates(answer.context))


_WRITE_TOOLS = {"fs_write", "write"}


def _tool_result_facts(payload: Mapping[str, Any]) -> Facts:
    result = payload.get("tool_response")
    ok = first_mapping(payload, "tool_response").get("success") is not False
    return result_facts(ok, result, first_text(result, "error"))


AGENT = KiroAdapter(
    name="kiro",
    title="Kiro CLI",
    verified=False,
    events=(
        agent_event("agentSpawn", "session.start", "context"),
        agent_event("userPromptSubmit", "prompt.submit", "context"),
        agent_event("preToolUse", "tool.before", "deny"),
        agent_event("postToolUse", "tool.after"),
        agent_event("stop", "stop"),
    ),
    event_aliases={
        "SessionStart": "agentSpawn",
        "UserPromptSubmit": "userPromptSubmit",
        "PreToolUse": "preToolUse",
        "PostToolUse": "postToolUse",
        "Stop": "stop",
    },
)
