"""Codex CLI. It refuses an answer with one key or word that it does not know, and then runs the tool.

So nothing is said that is not in its schemas and in use there: no ask, no bare allow, no halt before a tool, no
context beside a deny.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hookline.hooks.event import MISSING
from hookline.hooks.outcome import Verdict
from hookline.hooks.tools import Kind
from hookline.hosts import claude_shape, patch
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, line, text_of, worded
from hookline.hosts.payload import Facts, ended, mapping, text


@dataclass(frozen=True)
class Codex(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        found = claude_shape.facts(self.tongue, event, payload, _ran)
        return [*found, *(patched for facts in found for patched in _patched(facts))]

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        if known.event == "history.compact" and answer.denied:
            return Reply(line(claude_shape.universal(replace(answer, halt=True))))
        if known.event == "tool.before" and not answer.denied:
            answer = replace(answer, verdict=Verdict.ALLOW if answer.changed else Verdict.SILENT, reason="")
        if known.event == "tool.after" and answer.changed:
            said = claude_shape.output(name, replace(answer, new=MISSING))
            return Reply(line({"decision": "block", "reason": worded(answer.new), **said}))
        return Reply(line(claude_shape.output(name, answer)))


def _patched(facts: Facts) -> list[Facts]:
    """The files of the patches that a shell command brings.

    Codex applies such a patch itself, as if its own tool were called, but tells of the shell only.
    """
    tool = mapping(facts, "tool")
    if tool.get("kind") != Kind.SHELL:
        return []
    parts = text(mapping(tool, "input"), "command").split(_BEGIN)[1:]
    found = [call for part in parts for call in patch.calls(_BEGIN + part.partition(_END)[0] + _END)]
    told = [{"name": "apply_patch", "kind": str(kind), "input": input} for kind, input in found]
    return [{**facts, "tool": {**tool, **each}} for each in told]


def _ran(payload: Mapping[str, Any]) -> Facts:
    """Codex has no event of its own for a failure; an MCP tool's response says so itself."""
    response = mapping(payload, "tool_response")
    if response.get("isError") is True or response.get("is_error") is True:
        return ended(False, response, text_of(response))
    return ended(True, payload.get("tool_response"))


_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_NO_ASK = "deny: Codex runs the tool when a hook asks"

AGENT = Codex(
    name="codex",
    title="Codex CLI",
    verified=True,
    events=(
        heard("SessionStart", "session.start", "context halt user"),
        heard("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        heard("PreToolUse", "tool.before", "deny change context user", ask=_NO_ASK),
        heard("PermissionRequest", "approval.request", "deny allow user"),
        heard("PostToolUse", "tool.after", "change context user"),
        heard("PreCompact", "history.compact", "deny halt user", deny="yes, and the turn ends"),
        heard("SubagentStart", "subagent.start", "context user"),
        heard("SubagentStop", "subagent.end", "deny halt user"),
        heard("Stop", "stop", "deny halt user"),
        heard("SessionEnd", "session.end"),
    ),
)
