"""Windsurf, from its documentation: exit code 2 of a `pre_` hook blocks, with stderr as the reason, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline.hooks.tools import Kind
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, clean
from hookline.hosts.payload import Facts, ended, items, mapping, mcp_name, opened, text, told, tools


@dataclass(frozen=True)
class Windsurf(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        info = mapping(payload, "tool_info")
        base = told(session=told(id=text(payload, "trajectory_id")), cwd=text(info, "cwd"))
        match event:
            case "prompt.submit":
                return [{**base, "prompt": text(info, "user_prompt")}]
            case "stop":
                return [{**base, "stop": {"reason": "end_turn"}}]
        ran = ended(True, info.get("mcp_result")) if event == "tool.after" else {}
        return [{**base, "tool": {**tool, **ran}} for tool in self._tools(name.partition("_")[2], info)]

    def _tools(self, name: str, info: dict[str, Any]) -> list[Facts]:
        match name:
            case "run_command":
                input = told(command=text(info, "command_line"), cwd=text(info, "cwd"))
                return tools(self.tongue, name, "", input)
            case "mcp_tool_use":
                own = mcp_name(text(info, "mcp_server_name"), text(info, "mcp_tool_name"))
                return tools(self.tongue, own, "", opened(info.get("mcp_tool_arguments", {})))
            case "write_code" if not any(text(edit, "old_string") for edit in items(info, "edits")):
                return tools(self.tongue, name, "", _written(info), Kind.WRITE)
        return tools(self.tongue, name, "", info)

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        return Reply(stderr=clean(answer.reason), exit_code=2) if answer.denied else Reply()


def _written(info: dict[str, Any]) -> dict[str, Any]:
    """Edits that replace nothing write a file: their new texts are its content."""
    content = "\n".join(text(edit, "new_string") for edit in items(info, "edits"))
    return {**{key: value for key, value in info.items() if key != "edits"}, "content": content}


AGENT = Windsurf(
    name="windsurf",
    title="Windsurf",
    verified=False,
    events=(
        heard("pre_user_prompt", "prompt.submit", "deny"),
        heard("pre_read_code", "tool.before", "deny"),
        heard("pre_write_code", "tool.before", "deny"),
        heard("pre_run_command", "tool.before", "deny"),
        heard("pre_mcp_tool_use", "tool.before", "deny"),
        heard("post_read_code", "tool.after"),
        heard("post_write_code", "tool.after"),
        heard("post_run_command", "tool.after"),
        heard("post_mcp_tool_use", "tool.after"),
        heard("post_cascade_response", "stop"),
    ),
)
