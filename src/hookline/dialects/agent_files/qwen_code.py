"""The qwen_code dialect: the hooks of Qwen Code in `.qwen/settings.json`, for every other agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import (
    FLOW,
    LIFECYCLE_STDIN,
    MATCHER_FACTS,
    SESSION_STDIN,
    TOOL_ID_STDIN,
    TOOL_STDIN,
    disable_all_hooks,
    disables_all_hooks,
)
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import (
    BY_OUTCOME,
    AgentFormat,
    HandlerType,
    Layout,
    Matching,
    define_format,
)
from hookline.hooks.actions.program_result import ResultFormat

_COMMON_KEYS: Final = ("name", "description", "timeout", "statusMessage", "once")
_PROMPT_ID_STDIN: Final = {"prompt_id": FLOW}
_TOOL_STDIN: Final = {**_PROMPT_ID_STDIN, **TOOL_STDIN, **TOOL_ID_STDIN, "tool_call_id": "{{tool.id | or_empty}}"}
_RESPONSE: Final = {"llmContent": "{{tool.result | or_empty}}", "returnDisplay": "{{tool.result | or_empty}}"}

FORMAT: Final = define_format(
    AgentFormat(
        name="qwen_code",
        title="Qwen Code",
        layout=Layout.GROUPS,
        handlers={
            "command": HandlerType(
                keys=("command", "args", "async", "env", "shell", *_COMMON_KEYS),
                required=("command",),
            ),
            "http": HandlerType(
                keys=("url", "headers", "allowedEnvVars", *_COMMON_KEYS),
                required=("url",),
                timeout=timedelta(minutes=10),
            ),
            "prompt": HandlerType(
                keys=("prompt", "model", *_COMMON_KEYS), required=("prompt",), timeout=timedelta(seconds=30)
            ),
        },
        group_keys=("matcher", "hooks", "sequential", "async"),
        matching=Matching.REGEX,
        tool_aliases={
            "Bash": "run_shell_command",
            "Shell": "run_shell_command",
            "Read": "read_file",
            "ReadFile": "read_file",
            "Write": "write_file",
            "WriteFile": "write_file",
            "Edit": "edit",
            "Glob": "glob",
            "Grep": "grep_search",
            "WebFetch": "web_fetch",
            "LS": "list_directory",
            "ListFiles": "list_directory",
            "Task": "agent",
            "Agent": "agent",
        },
        matcher_facts=MATCHER_FACTS,
        conditions=BY_OUTCOME,
        result=ResultFormat.QWEN,
        timeout=timedelta(seconds=60),
        reads_milliseconds_from=1000,
        common_stdin={
            **SESSION_STDIN,
            "timestamp": "{{time | utc}}",
            "permission_mode": "{{session.mode | one_of default plan auto_edit auto yolo}}",
        },
        stdin={
            **LIFECYCLE_STDIN,
            "SessionStart": {**LIFECYCLE_STDIN["SessionStart"], "model": "{{session.model | or_empty}}"},
            "UserPromptSubmit": {**_PROMPT_ID_STDIN, **LIFECYCLE_STDIN["UserPromptSubmit"]},
            "PreToolUse": _TOOL_STDIN,
            "PostToolUse": {**_TOOL_STDIN, "tool_response": _RESPONSE},
            "PostToolUseFailure": {**_TOOL_STDIN, "error": "{{tool.error | or_empty}}"},
            "PermissionRequest": {**_PROMPT_ID_STDIN, **LIFECYCLE_STDIN["PermissionRequest"]},
            "Stop": {
                **_PROMPT_ID_STDIN,
                **LIFECYCLE_STDIN["Stop"],
                "background_tasks": [],
                "crons": [],
                "context_usage": "{{context.pressure | or 0}}",
                "context_limit": "{{context.limit | or 0}}",
                "input_tokens": "{{context.tokens | or 0}}",
            },
        },
        environment={
            "QWEN_PROJECT_DIR": "{{workspace}}",
            "GEMINI_PROJECT_DIR": "{{workspace}}",
            "CLAUDE_PROJECT_DIR": "{{workspace}}",
        },
        unsupported_events=(
            "PostToolBatch", "UserPromptExpansion", "MessageDisplay", "PostCompact", "SessionDelete", "PermissionDenied",
            "StopFailure", "TodoCreated", "TodoCompleted", "InstructionsLoaded", "QueryEnd", "ConfigChange",
            "TeammateIdle", "CwdChanged", "FileChanged", "WorktreeCreate", "WorktreeRemove", "Elicitation",
            "ElicitationResult", "TaskCreated", "TaskCompleted",
        ),
        other_hook_keys=("enabled", "disabled"),
        deduplicates=True,
        switch=disables_all_hooks,
        write_switch=disable_all_hooks,
    )
)  # fmt: skip
DIALECT: Final = AgentFileDialect(FORMAT)
