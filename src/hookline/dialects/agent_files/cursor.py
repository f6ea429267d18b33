"""The cursor dialect: the hooks of Cursor in `.cursor/hooks.json`, for every other agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import FLOW, TRIGGER_STDIN
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import (
    TOOL_FAILED,
    AgentFormat,
    BadPatternPolicy,
    HandlerType,
    Layout,
    Matching,
    define_format,
)
from hookline.dialects.settings_json import TOOL_SUCCEEDED
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.conditions.logic import all_of
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern

_VOCABULARY: Final = VOCABULARIES["cursor"]
_COMMON_KEYS: Final = ("timeout", "failClosed", "loop_limit", "name", "description")
_TOOL_STDIN: Final = {
    "tool_name": "{{tool.name}}",
    "tool_input": "{{tool.input}}",
    "tool_use_id": "{{tool.id | or_empty}}",
    "cwd": "{{cwd}}",
}
_SHELL_STDIN: Final = {"command": "{{tool.input.command | or_empty}}", "cwd": "{{cwd}}", "sandbox": False}
_MCP_STDIN: Final = {
    "tool_name": "{{tool | mcp_tool | or_empty}}",
    "tool_input": "{{tool.input | json | or_empty}}",
    "mcp_server_name": "{{tool | mcp_server | or_empty}}",
}
_SUBAGENT_STDIN: Final = {
    "subagent_id": "{{subagent.id | or_empty}}",
    "subagent_type": "{{subagent.name | or_empty}}",
    "task": "{{tool.input.prompt | or_empty}}",
}
_DURATION: Final = {"duration": 0}  # no fact
_END_REASONS: Final = "completed aborted error window_close user_close"


def _is_tool(names: str) -> Condition:
    return match_tool_name(shorthand("tool", names), _VOCABULARY)


_IS_SHELL: Final = _is_tool("Shell")
_IS_MCP: Final = match_tool_name(pattern("^MCP:", Syntax.JAVASCRIPT), _VOCABULARY)
_WRITES_FILE: Final = _is_tool("Write|StrReplace|ApplyPatch")

FORMAT: Final = define_format(
    AgentFormat(
        name="cursor",
        title="Cursor",
        layout=Layout.FLAT,
        handlers={
            "command": HandlerType(keys=("command", *_COMMON_KEYS), required=("command",)),
            "prompt": HandlerType(keys=("prompt", "model", *_COMMON_KEYS), required=("prompt",)),
        },
        default_type="command",
        matching=Matching.REGEX,
        bad_matcher=BadPatternPolicy.RUNS,
        matcher_facts={
            "beforeShellExecution": (("tool", "input", "command"), ""),
            "afterShellExecution": (("tool", "input", "command"), ""),
            "subagentStart": (("subagent", "name"), ""),
            "subagentStop": (("subagent", "name"), ""),
            "preCompact": (("trigger",), "auto"),
        },
        conditions={
            "beforeShellExecution": _IS_SHELL,
            "beforeMCPExecution": _IS_MCP,
            "beforeReadFile": _is_tool("Read"),
            "postToolUse": TOOL_SUCCEEDED,
            "postToolUseFailure": TOOL_FAILED,
            "afterShellExecution": all_of([_IS_SHELL, TOOL_SUCCEEDED]),
            "afterMCPExecution": all_of([_IS_MCP, TOOL_SUCCEEDED]),
            "afterFileEdit": all_of([_WRITES_FILE, TOOL_SUCCEEDED]),
        },
        result=ResultFormat.CURSOR,
        timeout=timedelta(seconds=60),
        common_stdin={
            "conversation_id": "{{session.id | or_empty}}",
            "generation_id": FLOW,
            "model": "{{session.model | or_empty}}",
            "session_id": "{{session.id | or_empty}}",
            "cursor_version": "",
            "workspace_roots": ["{{workspace}}"],
            "user_email": None,
            "transcript_path": "{{session.transcript | or null}}",
        },
        stdin={
            "sessionStart": {"is_background_agent": False, "composer_mode": "agent"},
            "sessionEnd": {
                "reason": f"{{{{session.reason | one_of {_END_REASONS}}}}}",
                "final_status": f"{{{{session.reason | one_of {_END_REASONS}}}}}",
                "is_background_agent": False,
                "duration_ms": 0,
            },
            "beforeSubmitPrompt": {"prompt": "{{prompt | or_empty}}", "attachments": [], "composer_mode": "agent"},
            "preToolUse": _TOOL_STDIN,
            "beforeShellExecution": _SHELL_STDIN,
            "beforeMCPExecution": _MCP_STDIN,
            "beforeReadFile": {
                "file_path": "{{tool.input.file_path | or_empty}}",
                "content": "{{file.text | or_empty}}",
                "attachments": [],
            },
            "postToolUse": {**_TOOL_STDIN, **_DURATION, "tool_output": "{{tool.result | json | or_empty}}"},
            "postToolUseFailure": {
                **_TOOL_STDIN,
                **_DURATION,
                "error_message": "{{tool.error | or_empty}}",
                "failure_type": "error",
                "is_interrupt": False,
            },
            "afterShellExecution": {**_SHELL_STDIN, **_DURATION, "output": "{{result.text | or_empty}}"},
            "afterMCPExecution": {**_MCP_STDIN, **_DURATION, "result_json": "{{tool.result | json | or_empty}}"},
            "afterFileEdit": {"file_path": "{{tool.input.file_path | or_empty}}", "edits": "{{tool.input | edits}}"},
            "preCompact": {
                **TRIGGER_STDIN,
                "context_usage_percent": "{{context.pressure | percent | or 0}}",
                "context_tokens": "{{context.tokens | or 0}}",
                "context_window_size": "{{context.limit | or 0}}",
                "message_count": "{{messages | count | or 0}}",
                "messages_to_compact": 0,
                "is_first_compaction": False,
            },
            "subagentStart": {
                **_SUBAGENT_STDIN,
                "parent_conversation_id": "{{session.id | or_empty}}",
                "tool_call_id": "{{tool.id | or_empty}}",
                "subagent_model": "{{session.model | or_empty}}",
                "is_parallel_worker": False,
            },
            "subagentStop": {
                **_SUBAGENT_STDIN,
                "description": "{{tool.input.description | or_empty}}",
                "status": "completed",
                "summary": "{{stop.message | or_empty}}",
                "duration_ms": 0,
                "message_count": 0,
                "tool_call_count": 0,
                "loop_count": 0,
                "modified_files": [],
                "agent_transcript_path": "{{subagent.transcript | or null}}",
            },
            "stop": {"status": "completed", "loop_count": 0},
        },
        environment={"CURSOR_PROJECT_DIR": "{{workspace}}", "CLAUDE_PROJECT_DIR": "{{workspace}}"},
        unsupported_events=(
            "afterAgentResponse",
            "afterAgentThought",
            "beforeTabFileRead",
            "afterTabFileEdit",
            "workspaceOpen",
        ),
        file_keys=("version", "hooks", "$schema"),
        runs_in_project=True,
        own_events=frozenset(
            (
                "beforeShellExecution",
                "afterShellExecution",
                "beforeMCPExecution",
                "afterMCPExecution",
                "beforeReadFile",
                "afterFileEdit",
                "beforeSubmitPrompt",
            )
        ),
        own_keys=frozenset(("failClosed", "loop_limit")),
    )
)
DIALECT: Final = AgentFileDialect(FORMAT, {"version": 1})
