"""The kiro dialect: the hooks in the agents of Kiro, `.kiro/agents/*.json`, for every other agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import AgentFormat, HandlerType, Layout, Matching, define_format
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.outcome import Audience

_TOOL_STDIN: Final = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
_CONTEXT: Final = ResultParser(ResultFormat.ERROR, Audience.AGENT)

FORMAT: Final = define_format(
    AgentFormat(
        name="kiro",
        title="Kiro",
        layout=Layout.FLAT,
        handlers={
            "command": HandlerType(
                keys=("command", "timeout_ms", "cache_ttl_seconds", "max_output_size", "name", "description"),
                required=("command",),
            )
        },
        default_type="command",
        timeout_keys=("timeout_ms",),
        matching=Matching.GLOB,
        tool_aliases={"shell": "execute_bash", "read": "fs_read", "write": "fs_write"},
        result=ResultFormat.EXIT2,
        results={
            "agentSpawn": _CONTEXT,
            "userPromptSubmit": _CONTEXT,
            "postToolUse": ResultParser(ResultFormat.ERROR),
            "stop": ResultParser(ResultFormat.ERROR),
        },
        timeout=timedelta(seconds=30),
        common_stdin={"cwd": "{{cwd}}", "session_id": "{{session.id}}"},
        stdin={
            "userPromptSubmit": {"prompt": "{{prompt}}"},
            "preToolUse": _TOOL_STDIN,
            "postToolUse": {
                **_TOOL_STDIN,
                "tool_response": {"success": "{{tool.ok | or true}}", "result": ["{{tool.result}}"]},
            },
            "stop": {"assistant_response": "{{stop.message | or_empty}}"},
        },
        own_events=frozenset(("agentSpawn",)),
        own_keys=frozenset(("timeout_ms", "cache_ttl_seconds")),
    )
)
DIALECT: Final = AgentFileDialect(FORMAT)
