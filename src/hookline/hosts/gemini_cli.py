"""Gemini CLI: events of its own, and the decision at the top of the answer.

It reads stderr as the answer where stdout is empty, so nothing is ever written there; the exit code is always 0, for
it blocks without a reason and lets run without a word in ways of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.event import same
from hookline.hooks.outcome import Verdict
from hookline.hosts import claude_shape
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, cut, line, text_of, worded
from hookline.hosts.payload import Facts, mapping, mcp_name, shell_ended, text, told, tools

_SHELL: Final = "run_shell_command"
_EXIT_CODE: Final = re.compile(r"\nExit Code: (\d{1,9})(?:\n[^\n]*){0,3}\n</untrusted_context>\s*\Z")
"""In its own last lines of what the model reads of a command; a command that succeeds has none."""


@dataclass(frozen=True)
class GeminiCli(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        if event == "approval.request":
            return self._notified(payload)
        origin = mapping(payload, "mcp_context")
        if text(origin, "server_name") and text(origin, "tool_name"):
            payload = {**payload, "tool_name": mcp_name(text(origin, "server_name"), text(origin, "tool_name"))}
        return claude_shape.facts(self.tongue, event, payload, _ran)

    def _notified(self, payload: Mapping[str, Any]) -> list[Facts]:
        if payload.get("notification_type") != "ToolPermission":
            return []
        base = told(session=told(id=text(payload, "session_id")), cwd=text(payload, "cwd"))
        approval = told(message=text(payload, "message"), details=mapping(payload, "details"))
        found = [{**base, "approval": approval, "tool": tool} for tool in self._asked(mapping(payload, "details"))]
        return found or [{**base, "approval": approval}]

    def _asked(self, details: Mapping[str, Any]) -> list[Facts]:
        """The call that a permission is asked for, as far as the question tells it."""
        match details.get("type"):
            case "exec":
                return tools(self.tongue, _SHELL, "", told(command=text(details, "command")))
            case "edit":
                return tools(self.tongue, "replace", "", told(file_path=text(details, "filePath", "fileName")))
            case "mcp":
                name = mcp_name(text(details, "serverName"), text(details, "toolName"))
                return tools(self.tongue, name, "", mapping(details, "toolArgs"))
        return []

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        said = claude_shape.universal(answer)
        specific: dict[str, Any] = {}
        merged = _merged(answer) if known.event == "tool.before" and answer.changed else {}
        if merged is None:
            said |= {"decision": "deny", "reason": _REMOVED + cut(text_of(answer.new), 4000)}
        elif answer.verdict is not Verdict.SILENT:
            said |= {"decision": answer.verdict.word, **({"reason": answer.reason} if answer.reason else {})}
        elif known.event == "tool.after" and answer.changed:
            said |= {"decision": "deny", "reason": worded(answer.new)}
        if merged:
            specific["tool_input"] = merged
        if answer.context:
            specific["additionalContext"] = answer.context
        return Reply(line({**said, "hookSpecificOutput": {"hookEventName": name, **specific}} if specific else said))


def _ran(payload: Mapping[str, Any]) -> Facts:
    facts = claude_shape.shown(payload)
    read = facts.get("result")
    shell = _EXIT_CODE.search(read) if isinstance(read, str) and payload.get("tool_name") == _SHELL else None
    return shell_ended(int(shell[1]), read) if shell is not None and facts["ok"] else facts


_REMOVED = "A hook removed a field of the input, which cannot be done here. Use this instead: "


def _merged(answer: Answer) -> dict[str, Any] | None:
    """The fields that hooks changed: Gemini merges them into the input. None where one was removed."""
    old, new = answer.old if isinstance(answer.old, dict) else {}, answer.new
    if old.keys() - new.keys():
        return None
    return {key: value for key, value in new.items() if key not in old or not same(old[key], value)}


_NO_ASK = "deny: where nobody is there to answer, Gemini waits for ever"

AGENT = GeminiCli(
    name="gemini-cli",
    title="Gemini CLI",
    verified=True,
    events=(
        heard("SessionStart", "session.start", "context user"),
        heard("BeforeAgent", "prompt.submit", "deny context halt user"),
        heard("BeforeTool", "tool.before", "deny allow change halt user", ask=_NO_ASK),
        heard("Notification", "approval.request", "user"),
        heard("AfterTool", "tool.after", "change context halt user"),
        heard("PreCompress", "history.compact", "user"),
        heard("AfterAgent", "stop", "deny halt user"),
        heard("SessionEnd", "session.end"),
    ),
    project_variables=("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
)
