"""The kimi_code dialect: the hooks of Kimi Code in its `config.toml`, for every other agent.

Kimi CLI, which came before it, has the same file elsewhere, with other names of tools.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.claude_shape import LIFECYCLE_STDIN, MATCHER_FACTS, TOOL_STDIN
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
from hookline.lazy_dataclasses import replace

_TOOL_STDIN: Final = {**TOOL_STDIN, "tool_call_id": "{{tool.id}}"}

FORMAT: Final = define_format(
    AgentFormat(
        name="kimi_code",
        title="Kimi Code",
        layout=Layout.LIST,
        file_kind="toml",
        handlers={"command": HandlerType(keys=("command", "timeout"), required=("command",))},
        default_type="command",
        matching=Matching.REGEX,
        matcher_facts=MATCHER_FACTS,
        conditions=BY_OUTCOME,
        result=ResultFormat.KIMI,
        timeout=timedelta(seconds=30),
        common_stdin={"session_id": "{{session.id}}", "cwd": "{{cwd}}", "client_type": "{{host.name | or hookline}}"},
        stdin={
            **LIFECYCLE_STDIN,
            "PreToolUse": _TOOL_STDIN,
            "PostToolUse": {**_TOOL_STDIN, "tool_output": "{{result.text}}"},
            "PostToolUseFailure": {**_TOOL_STDIN, "error": {"message": "{{tool.error | or_empty}}"}},
            "UserPromptSubmit": {"prompt": [{"type": "text", "text": "{{prompt}}"}], "is_steer": False},
            "Stop": {"stop_hook_active": "{{stop.active | or false}}"},
            "SubagentStart": {"agent_name": "{{subagent.name}}"},
            "SubagentStop": {"agent_name": "{{subagent.name}}", "response": "{{stop.message}}"},
        },
        unsupported_events=("PostCompact", "StopFailure", "PermissionResult", "TurnStarted", "TurnEnded", "Interrupt"),
        deduplicates=True,
    )
)
CLI_FORMAT: Final = replace(FORMAT, title="Kimi CLI", places=(".kimi/config.toml",), vocabulary_name="kimi_cli")
DIALECT: Final = AgentFileDialect(FORMAT, older_format=CLI_FORMAT)
