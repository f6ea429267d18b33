"""Qwen Code: Claude Code's protocol with Gemini's tools. Before a tool it reads no changed input and no context.

`continue: false` after a tool does not end its turn, and at a stop makes it go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline.hosts import claude_shape
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, line
from hookline.hosts.payload import Facts, text


@dataclass(frozen=True)
class QwenCode(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        if event == "prompt.submit" and not text(payload, "prompt"):
            return []  # it comes again, with nothing in it, after each tool result
        outcome = claude_shape.ran if name == "PostToolUseFailure" else claude_shape.shown
        return claude_shape.facts(self.tongue, event, {**payload, "hook_event_name": name}, outcome)

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        return Reply(line(claude_shape.output(name, answer)))


AGENT = QwenCode(
    name="qwen-code",
    title="Qwen Code",
    verified=True,
    events=(
        heard("SessionStart", "session.start", "context user"),
        heard("UserPromptSubmit", "prompt.submit", "deny context halt user"),
        heard("PreToolUse", "tool.before", "deny ask allow user"),
        heard("PermissionRequest", "approval.request", "deny allow halt user"),
        heard("PostToolUse", "tool.after", "context user"),
        heard("PostToolUseFailure", "tool.after", "context user"),
        heard("PreCompact", "history.compact", "user"),
        heard("SubagentStart", "subagent.start", "context user"),
        heard("SubagentStop", "subagent.end", "deny user"),
        heard("Stop", "stop", "deny user"),
        heard("SessionEnd", "session.end"),
    ),
    project_variables=("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
)
