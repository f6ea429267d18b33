"""The copilot_cli dialect: the hooks of GitHub Copilot in `.github/hooks/*.json` and its settings, for every other agent.

An event that is written in camelCase has Copilot's own payload, matchers and names of tools; in PascalCase, Claude Code's. Only
the payload of PermissionRequest is Copilot's own in both.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.dialects.agent_files.claude_shape import (
    LIFECYCLE_STDIN,
    NOTIFICATION_STDIN,
    TOOL_STDIN,
    TRIGGER_STDIN,
    disable_all_hooks,
    disables_all_hooks,
)
from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import (
    BY_OUTCOME,
    TOOL_FAILED,
    AgentFormat,
    HandlerType,
    Layout,
    Matching,
    define_format,
)
from hookline.dialects.settings_json import TOOL_SUCCEEDED
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.pattern import Syntax, pattern

_COMMON_KEYS: Final = ("timeoutSec", "timeout", "name", "description", "comment")
_OWN_STDIN: Final = {"sessionId": "{{session.id | or_empty}}", "timestamp": "{{time | milliseconds}}", "cwd": "{{cwd}}"}
_TRANSCRIPT: Final = "{{session.transcript | or_empty}}"
_SOURCE: Final = "{{session.source | one_of new startup resume}}"
_REASON: Final = "{{session.reason | one_of complete error abort timeout user_exit}}"
_STOP_REASON: Final = "{{stop.reason | or end_turn}}"
_OWN_TOOL_STDIN: Final = {"toolName": "{{tool.name}}", "toolArgs": "{{tool.input}}"}
_OWN_EVENTS: Final[dict[str, dict[str, Any]]] = {
    "sessionStart": {"source": _SOURCE},
    "sessionEnd": {"reason": _REASON},
    "userPromptSubmitted": {"prompt": "{{prompt | or_empty}}"},
    "preToolUse": _OWN_TOOL_STDIN,
    "preMcpToolCall": {
        **_OWN_TOOL_STDIN,
        "mcpServerName": "{{tool | mcp_server | or_empty}}",
        "mcpToolName": "{{tool | mcp_tool | or_empty}}",
    },
    "permissionRequest": {
        "hookName": "permissionRequest",
        "toolName": "{{tool.name}}",
        "toolInput": "{{tool.input}}",
        "permissionSuggestions": "{{approval.suggestions | or []}}",
    },
    "notification": {"hook_event_name": "Notification", **NOTIFICATION_STDIN},
    "postToolUse": {
        **_OWN_TOOL_STDIN,
        "toolResult": {"resultType": "success", "textResultForLlm": "{{result.text | or_empty}}"},
    },
    "postToolUseFailure": {**_OWN_TOOL_STDIN, "error": "{{tool.error | or_empty}}"},
    "preCompact": {"transcriptPath": _TRANSCRIPT, **TRIGGER_STDIN, "customInstructions": ""},
    "subagentStart": {
        "transcriptPath": _TRANSCRIPT,
        "agentId": "{{subagent.id | or_empty}}",
        "agentName": "{{subagent.name | or_empty}}",
    },
    "subagentStop": {
        "transcriptPath": _TRANSCRIPT,
        "agentId": "{{subagent.id | or_empty}}",
        "agentType": "{{subagent.name | or_empty}}",
        "agentName": "{{subagent.name | or_empty}}",
        "response": "{{stop.message | or_empty}}",
        "stopReason": _STOP_REASON,
    },
    "agentStop": {
        "transcriptPath": _TRANSCRIPT,
        "stopReason": _STOP_REASON,
        "stop_hook_active": "{{stop.active | or false}}",
    },
}
_CLAUDE_STDIN: Final = {"session_id": "{{session.id | or_empty}}", "timestamp": "{{time | utc}}", "cwd": "{{cwd}}"}
_CLAUDE_STOP_STDIN: Final = {"transcript_path": _TRANSCRIPT, "stop_reason": _STOP_REASON}
_CLAUDE_EVENTS: Final[dict[str, dict[str, Any]]] = {
    **LIFECYCLE_STDIN,
    "SessionStart": {"source": _SOURCE},
    "SessionEnd": {"reason": _REASON},
    "PreCompact": {"transcript_path": _TRANSCRIPT, **LIFECYCLE_STDIN["PreCompact"]},
    "Stop": {**_CLAUDE_STOP_STDIN, **LIFECYCLE_STDIN["Stop"]},
    "SubagentStart": {
        "transcript_path": _TRANSCRIPT,
        **LIFECYCLE_STDIN["SubagentStart"],
        "agent_name": "{{subagent.name | or_empty}}",
    },
    "SubagentStop": {
        **_CLAUDE_STOP_STDIN,
        **LIFECYCLE_STDIN["SubagentStop"],
        "agent_name": "{{subagent.name | or_empty}}",
    },
    "PreToolUse": dict(TOOL_STDIN),
    "PostToolUse": {
        **TOOL_STDIN,
        "tool_result": {"result_type": "success", "text_result_for_llm": "{{result.text | or_empty}}"},
    },
    "PostToolUseFailure": {**TOOL_STDIN, "error": "{{tool.error | or_empty}}"},
}

FORMAT: Final = define_format(
    AgentFormat(
        name="copilot_cli",
        title="GitHub Copilot",
        layout=Layout.EITHER,
        handlers={
            "command": HandlerType(
                keys=(
                    "bash", "powershell", "command", "windows", "linux", "osx", "exec", "args", "cwd", "env", *_COMMON_KEYS,
                ),
                required=(),
            ),
            "http": HandlerType(keys=("url", "headers", "allowedEnvVars", *_COMMON_KEYS), required=("url",)),
            "prompt": HandlerType(
                keys=("prompt", *_COMMON_KEYS),
                required=("prompt",),
                not_here="only GitHub Copilot submits the prompt of a hook when a session starts.",
            ),
        },
        default_type="command",
        command_keys=("bash", "command", "linux", "exec"),
        program_key="exec",
        timeout_keys=("timeoutSec", "timeout"),
        matching=Matching.WHOLE,
        claude_events=frozenset(_CLAUDE_EVENTS),
        conditions={
            **BY_OUTCOME,
            "postToolUse": TOOL_SUCCEEDED,
            "postToolUseFailure": TOOL_FAILED,
            "preMcpToolCall": match_tool_name(pattern("^mcp[_.]", Syntax.JAVASCRIPT), VOCABULARIES["copilot_cli"]),
        },
        matcher_facts={
            **dict.fromkeys(("preCompact", "PreCompact"), (("trigger",), "auto")),
            **dict.fromkeys(("notification", "Notification"), (("notification", "type"), "")),
            **dict.fromkeys(("subagentStart", "SubagentStart"), (("subagent", "name"), "")),
        },
        result=ResultFormat.COPILOT,
        timeout=timedelta(seconds=30),
        common_stdin={},
        event_key="",
        stdin={
            **{name: {**_OWN_STDIN, **own} for name, own in _OWN_EVENTS.items()},
            **{name: {"hook_event_name": name, **_CLAUDE_STDIN, **own} for name, own in _CLAUDE_EVENTS.items()},
            "PermissionRequest": {**_OWN_STDIN, **_OWN_EVENTS["permissionRequest"]},  # Copilot sends no other
        },
        events_with_agent_stdin=frozenset(("PermissionRequest",)),
        environment={"COPILOT_PROJECT_DIR": "{{workspace}}", "CLAUDE_PROJECT_DIR": "{{workspace}}"},
        unsupported_events=("userPromptTransformed", "errorOccurred", "ErrorOccurred"),
        file_keys=("version", "hooks", "disableAllHooks", "$schema", "description", "name"),
        settings_files=(".github/copilot/settings*.json", ".copilot/settings.json"),
        switch=disables_all_hooks,
        write_switch=disable_all_hooks,
        runs_in_project=True,
        own_events=frozenset(("userPromptSubmitted", "agentStop", "errorOccurred", "permissionRequest")),
        own_keys=frozenset(("bash", "powershell", "exec", "timeoutSec")),
    )
)  # fmt: skip
DIALECT: Final = AgentFileDialect(FORMAT, {"version": 1})
