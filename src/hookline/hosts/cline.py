"""Cline, from its source: one executable file for each event, and an answer that cancels the task or does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, cut, line
from hookline.hosts.payload import Facts, ended, mapping, mcp_name, opened, text, told, tools

CONTEXT: Final = 50_000  # of added context that it reads


@dataclass(frozen=True)
class Cline(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        roots = payload.get("workspaceRoots")
        root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
        base = told(session=told(id=text(payload, "taskId")), cwd=root, workspace=root)
        own = mapping(payload, name[:1].lower() + name[1:])
        match event:
            case "tool.before" | "tool.after":
                ran = _ran(own) if event == "tool.after" else {}
                return [{**base, "tool": {**tool, **ran}} for tool in self._tools(own)]
            case "prompt.submit":
                return [{**base, "prompt": text(own, "prompt")}]
            case "stop":
                return [{**base, "stop": {"reason": "end_turn"}}]
        return [base]

    def _tools(self, own: Mapping[str, Any]) -> list[Facts]:
        name, given = text(own, "toolName", "tool"), opened(own.get("parameters", {}))
        if name == "use_mcp_tool" and text(given, "server_name") and text(given, "tool_name"):
            name = mcp_name(text(given, "server_name"), text(given, "tool_name"))
            given = opened(given.get("arguments", {}))
        return tools(self.tongue, name, "", given)

    def quiet(self, name: str) -> Reply:
        return Reply('{"cancel":false}')

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        stopped = answer.denied or answer.halt
        said: dict[str, Any] = {"cancel": stopped}
        if answer.context:
            said["contextModification"] = cut(answer.context, CONTEXT)
        if stopped:
            said["errorMessage"] = answer.reason
        return Reply(line(said))


def _ran(own: Mapping[str, Any]) -> Facts:
    result = own.get("result")
    return ended(own.get("success") is not False, result, text(own, "result", "error"))


_CANCELS: Final = "yes, and the task is cancelled"
_NO_CHANGE: Final = "deny, with the suggested input: not every Cline heeds a change"

AGENT = Cline(
    name="cline",
    title="Cline",
    verified=False,
    events=(
        heard("TaskStart", "session.start", "context halt"),
        heard("TaskResume", "session.start", "context halt"),
        heard("UserPromptSubmit", "prompt.submit", "deny context halt", deny=_CANCELS),
        heard("PreToolUse", "tool.before", "deny context halt", deny=_CANCELS, change=_NO_CHANGE),
        heard("PostToolUse", "tool.after", "context halt"),
        heard("PreCompact", "history.compact", "deny context halt", deny=_CANCELS),
        heard("TaskComplete", "stop"),
        heard("SessionShutdown", "session.end"),
    ),
)
