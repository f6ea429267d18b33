"""The windsurf dialect: the hooks of Windsurf in `.windsurf/hooks.json`, for every other agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import FLOW
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import AgentFormat, HandlerType, Layout, Matching, define_format
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern

_VOCABULARY: Final = VOCABULARIES["windsurf"]


def _is_tool(name: str) -> Condition:
    return match_tool_name(shorthand("exactly", name), _VOCABULARY)


_IS_MCP: Final = match_tool_name(pattern("^mcp[_.]", Syntax.JAVASCRIPT), _VOCABULARY)
_COMMAND: Final = {"command_line": "{{tool.input.command | or_empty}}", "cwd": "{{cwd}}"}
_FILE: Final = {"file_path": "{{tool.input.file_path | or_empty}}"}
_EDITS: Final = {**_FILE, "edits": "{{tool.input | edits}}"}
_MCP: Final = {
    "mcp_server_name": "{{tool | mcp_server | or_empty}}",
    "mcp_tool_name": "{{tool | mcp_tool | or_empty}}",
    "mcp_tool_arguments": "{{tool.input}}",
}
_TOOL_INFO: Final = {
    "pre_user_prompt": {"user_prompt": "{{prompt | or_empty}}"},
    "pre_run_command": _COMMAND,
    "pre_read_code": _FILE,
    "pre_write_code": _EDITS,
    "pre_mcp_tool_use": _MCP,
    "post_run_command": _COMMAND,
    "post_read_code": _FILE,
    "post_write_code": _EDITS,
    "post_mcp_tool_use": {**_MCP, "mcp_result": "{{result.text | or_empty}}"},
    "post_cascade_response": {"response": "{{stop.message | or_empty}}"},
}

FORMAT: Final = define_format(
    AgentFormat(
        name="windsurf",
        title="Windsurf",
        layout=Layout.FLAT,
        handlers={
            "command": HandlerType(
                keys=("command", "powershell", "show_output", "working_directory", "name", "description"),
                required=(),
            )
        },
        default_type="command",
        timeout_keys=(),
        matching=Matching.NAMES,
        conditions={
            f"{when}_{what}": condition
            for when in ("pre", "post")
            for what, condition in (
                ("run_command", _is_tool("run_command")),
                ("read_code", _is_tool("read_code")),
                ("write_code", _is_tool("write_code")),
                ("mcp_tool_use", _IS_MCP),
            )
        },
        result=ResultFormat.EXIT2,
        results={name: ResultParser(ResultFormat.ERROR) for name in _TOOL_INFO if name.startswith("post_")},
        timeout=timedelta(seconds=30),
        event_key="agent_action_name",
        common_stdin={
            "trajectory_id": "{{session.id | or_empty}}",
            "execution_id": FLOW,
            "timestamp": "{{time | utc}}",
            "model_name": "{{session.model | or_empty}}",
        },
        stdin={name: {"tool_info": info} for name, info in _TOOL_INFO.items()},
        unsupported_events=("post_cascade_response_with_transcript", "post_setup_worktree"),
        file_keys=("hooks", "version", "$schema"),
        runs_in_project=True,
        own_events=frozenset(_TOOL_INFO),
    )
)
DIALECT: Final = AgentFileDialect(FORMAT)
