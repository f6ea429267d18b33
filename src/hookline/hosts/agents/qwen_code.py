"""Qwen Code: Claude Code's protocol with Gemini's tools. Before a tool it reads no changed input and no context.

`continue: false` after a tool does not end its turn, and at a stop makes it go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline.hosts.agents import claude_protocol
from hookline.hosts.agents.adapter import Adapter, agent_event
from hookline.hosts.agents.agent import ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import MergedDecision, json_line
from hookline.hosts.agents.payload import Facts, first_text


@dataclass(frozen=True)
class QwenCodeAdapter(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        if event == "prompt.submit" and not first_text(payload, "prompt"):
            return []  # it comes again, with nothing in it, after each tool result
        outcome = (
            claude_protocol.claude_result_facts
            if name == "PostToolUseFailure"
            else claude_protocol.displayed_result_facts
        )
        return claude_protocol.payload_facts(self.vocabulary_name, event, {**payload, "hook_event_name": name}, outcome)

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        return Reply(json_line(claude_protocol.build_output(parsed.name, answer)))


AGENT = QwenCodeAdapter(
    name="qwen-code",
    title="Qwen Code",
    verified=True,
    events=(
        agent_event("SessionStart", "session.start", "context user"),
        agent_event("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        agent_event("PreToolUse", "tool.before", "deny ask allow user"),
        agent_event("PermissionRequest", "approval.request", "deny allow halt user"),
        agent_event("PostToolUse", "tool.after", "context user"),
        agent_event("PostToolUseFailure", "tool.after", "context user"),
        agent_event("PreCompact", "history.compact", "user"),
        agent_event("SubagentStart", "subagent.start", "context user"),
        agent_event("SubagentStop", "subagent.end", "deny user"),
        agent_event("Stop", "stop", "deny user"),
        agent_event("SessionEnd", "session.end"),
    ),
    project_variables=("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
)
