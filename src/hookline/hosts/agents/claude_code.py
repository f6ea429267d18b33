"""Claude Code. Answers are JSON on stdout with exit code 0. Context at a stop is not said: the agent would go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hookline.hooks.event import MISSING
from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.adapter import Adapter, agent_event
from hookline.hosts.agents.agent import ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, json_line, value_text
from hookline.hosts.agents.payload import Facts
from hookline.project.sources import SourceLayer


@dataclass(frozen=True)
class ClaudeCodeAdapter(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        return claude_protocol.payload_facts(
            self.vocabulary_name, event, {**payload, "hook_event_name": name}, claude_protocol.claude_result_facts
        )

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        if answer.event == "tool.after" and answer.is_changed:
            answer = _match_result_shape(answer)
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))


def _match_result_shape(answer: MergedDecision) -> MergedDecision:
    """A changed result in the shape of the tool's own: Claude Code ignores one of another shape."""
    old, new = answer.old, answer.new
    if type(old) is type(new) or not isinstance(old, dict):
        return answer
    if "stdout" in old:
        return replace(answer, new={**old, "stdout": value_text(new), "stderr": ""})
    told = f"A hook changed this result. Read it as:\n{value_text(new)}"
    return replace(answer, new=MISSING, context=join_texts((answer.context, told)))


AGENT = ClaudeCodeAdapter(
    name="claude-code",
    title="Claude Code",
    verified=True,
    events=(
        agent_event("SessionStart", "session.start", "context user"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        agent_event("PreToolUse", "tool.before", "deny ask allow change context halt user"),
        agent_event("PermissionRequest", "approval.request", "deny allow halt user"),
        agent_event("PostToolUse", "tool.after", "change context halt user"),
        agent_event("PostToolUseFailure", "tool.after", "context user"),
        agent_event("PreCompact", "history.compact", "deny halt user"),
        agent_event("SubagentStart", "subagent.start", "context user"),
        agent_event("SubagentStop", "subagent.end", "deny halt user"),
        agent_event("Stop", "stop", "deny halt user"),
        agent_event("SessionEnd", "session.end"),
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    native_layers=frozenset(("claude_code", each) for each in SourceLayer),
)
