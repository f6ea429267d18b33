"""Cursor, from its documentation.

Its `before…` and `after…` events of single tools tell of the same calls as `preToolUse` and `postToolUse`: they can
be read, but only the general ones are installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline.hooks.outcome import Verdict
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, line, text_of
from hookline.hosts.payload import Facts, ended, mcp_name, opened, text, told, tools
from hookline.project.sources import Layering


@dataclass(frozen=True)
class Cursor(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        base = _base(payload)
        match event:
            case "tool.before" | "tool.after":
                return [{**base, "tool": {**tool, **_ran(name, event, payload)}} for tool in self._tools(name, payload)]
            case "prompt.submit":
                return [{**base, "prompt": text(payload, "prompt")}]
            case "stop":
                return [{**base, "stop": {"reason": text(payload, "status") or "end_turn"}}]
            case "history.compact":
                return [{**base, **told(trigger=text(payload, "trigger"))}]
            case "subagent.start" | "subagent.end":
                who = told(id=text(payload, "subagent_id"), name=text(payload, "subagent_type"))
                said = text(payload, "summary", "result")
                ended = told(tool=told(result=said), stop=told(message=said))
                return [{**base, **told(subagent=who), **(ended if event == "subagent.end" else {})}]
        return [base]

    def _tools(self, name: str, payload: Mapping[str, Any]) -> list[Facts]:
        id = text(payload, "tool_use_id")
        match name:
            case "beforeShellExecution" | "afterShellExecution":
                input = told(command=text(payload, "command"), cwd=text(payload, "cwd"))
                return tools(self.tongue, "Shell", id, input)
            case "beforeReadFile":
                return tools(self.tongue, "Read", id, told(file_path=text(payload, "file_path")))
            case "afterFileEdit":
                return tools(
                    self.tongue, "Edit", id, {key: payload[key] for key in ("file_path", "edits") if key in payload}
                )
            case "beforeMCPExecution" | "afterMCPExecution":
                own = mcp_name(text(payload, "server", "server_name", "mcp_server"), text(payload, "tool_name"))
                return tools(self.tongue, own, id, opened(payload.get("tool_input", {})))
        return tools(self.tongue, text(payload, "tool_name"), id, opened(payload.get("tool_input", {})))

    def quiet(self, name: str) -> Reply:
        return Reply("{}")

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        said: dict[str, Any] = {}
        match known.event:
            case "tool.before" | "subagent.start" if answer.denied:
                said = {"permission": "deny", "user_message": answer.reason, "agent_message": answer.reason}
            case "tool.before" | "subagent.start" if answer.verdict is Verdict.ALLOW:
                said = {"permission": "allow"}
            case "prompt.submit" if answer.denied:
                said = {"continue": False, "user_message": answer.reason}
            case "stop" | "subagent.end" if answer.denied:
                said = {"followup_message": answer.reason}
            case "history.compact" if answer.message:
                said = {"user_message": answer.message}
        if answer.context:
            said["additional_context"] = answer.context
        return Reply(line(said) or "{}")


def _base(payload: Mapping[str, Any]) -> Facts:
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    session = told(id=text(payload, "conversation_id", "session_id"))
    return told(session=session, cwd=text(payload, "cwd") or root, workspace=root)


def _ran(name: str, event: str, payload: Mapping[str, Any]) -> Facts:
    if event == "tool.before":
        return {}
    if name == "postToolUseFailure":
        return ended(False, error=text(payload, "error_message", "error") or text_of(payload.get("error", "")))
    names = ("tool_output", "output", "result_json")
    return ended(True, next((payload[each] for each in names if each in payload), None))


_NO_ASK = "deny: Cursor does not heed ask before a tool"
_NO_CHANGE = "deny, with the suggested input: a change was not seen to be heeded"

AGENT = Cursor(
    name="cursor",
    title="Cursor",
    verified=False,
    events=(
        heard("sessionStart", "session.start", "context"),
        heard("beforeSubmitPrompt", "prompt.submit", "deny"),
        heard("preToolUse", "tool.before", "deny allow", ask=_NO_ASK, change=_NO_CHANGE),
        heard("postToolUse", "tool.after", "context"),
        heard("postToolUseFailure", "tool.after"),
        heard("preCompact", "history.compact", "user"),
        heard("subagentStart", "subagent.start", "deny allow"),
        heard("subagentStop", "subagent.end", "deny"),
        heard("stop", "stop", "deny"),
        heard("sessionEnd", "session.end"),
    ),
    project_variables=("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    runs_itself=frozenset(("claude_code", each) for each in Layering),
    also={
        "beforeShellExecution": "preToolUse",
        "beforeMCPExecution": "preToolUse",
        "beforeReadFile": "preToolUse",
        "afterShellExecution": "postToolUse",
        "afterMCPExecution": "postToolUse",
        "afterFileEdit": "postToolUse",
    },
)
