"""Kiro, from its documentation: exit code 2 before a tool blocks, and stdout of the first two events is context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline.hooks.tools import Kind
from hookline.hosts import claude_shape
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, clean
from hookline.hosts.payload import Facts, ended, mapping, mcp_name, opened, text, tools


@dataclass(frozen=True)
class Kiro(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        found = claude_shape.facts(self.tongue, event, payload, _ran)
        if event not in ("tool.before", "tool.after"):
            return found
        ran = _ran(payload) if event == "tool.after" else {}
        base = {key: value for key, value in found[0].items() if key != "tool"}
        return [{**base, "tool": {**tool, **ran}} for tool in self._tools(payload)]

    def _tools(self, payload: Mapping[str, Any]) -> list[Facts]:
        name, input = text(payload, "tool_name"), opened(payload.get("tool_input", {}))
        if name.startswith("@") and "/" in name:
            server, _, tool = name[1:].partition("/")
            return tools(self.tongue, mcp_name(server, tool), "", input)
        edits = name in _WRITES and text(input, "command") not in ("", "create")
        return tools(self.tongue, name, "", input, Kind.EDIT if edits else None)

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        if answer.denied:
            return Reply(stderr=clean(answer.reason), exit_code=2)
        return Reply(stdout=clean(answer.context))


_WRITES = {"fs_write", "write"}


def _ran(payload: Mapping[str, Any]) -> Facts:
    result = payload.get("tool_response")
    ok = mapping(payload, "tool_response").get("success") is not False
    return ended(ok, result, text(result, "error"))


AGENT = Kiro(
    name="kiro",
    title="Kiro CLI",
    verified=False,
    events=(
        heard("agentSpawn", "session.start", "context"),
        heard("userPromptSubmit", "prompt.submit", "context"),
        heard("preToolUse", "tool.before", "deny"),
        heard("postToolUse", "tool.after"),
        heard("stop", "stop"),
    ),
    also={
        "SessionStart": "agentSpawn",
        "UserPromptSubmit": "userPromptSubmit",
        "PreToolUse": "preToolUse",
        "PostToolUse": "postToolUse",
        "Stop": "stop",
    },
)
