"""Claude Code. Answers are JSON on stdout with exit code 0. Context at a stop is not said: the agent would go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hookline.hooks.event import MISSING
from hookline.hosts import claude_shape
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, joined, line, text_of
from hookline.hosts.payload import Facts
from hookline.project.sources import Layering


@dataclass(frozen=True)
class ClaudeCode(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        return claude_shape.facts(self.tongue, event, {**payload, "hook_event_name": name}, claude_shape.ran)

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        if known.event == "tool.after" and answer.changed:
            answer = _as_output(answer)
        return Reply(line(claude_shape.output(name, answer)))


def _as_output(answer: Answer) -> Answer:
    """A changed result in the shape of the tool's own: Claude Code ignores one of another shape."""
    old, new = answer.old, answer.new
    if type(old) is type(new) or not isinstance(old, dict):
        return answer
    if "stdout" in old:
        return replace(answer, new={**old, "stdout": text_of(new), "stderr": ""})
    told = f"A hook changed this result. Read it as:\n{text_of(new)}"
    return replace(answer, new=MISSING, context=joined((answer.context, told)))


AGENT = ClaudeCode(
    name="claude-code",
    title="Claude Code",
    verified=True,
    events=(
        heard("SessionStart", "session.start", "context user"),
        heard("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        heard("PreToolUse", "tool.before", "deny ask allow change context halt user"),
        heard("PermissionRequest", "approval.request", "deny allow halt user"),
        heard("PostToolUse", "tool.after", "change context halt user"),
        heard("PostToolUseFailure", "tool.after", "context user"),
        heard("PreCompact", "history.compact", "deny halt user"),
        heard("SubagentStart", "subagent.start", "context user"),
        heard("SubagentStop", "subagent.end", "deny halt user"),
        heard("Stop", "stop", "deny halt user"),
        heard("SessionEnd", "session.end"),
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    runs_itself=frozenset(("claude_code", each) for each in Layering),
)
