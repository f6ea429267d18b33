"""The format's own names: versions, events, keys and defaults, and what a program of its hooks gets."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.dialects.claude_stdin import stdin_template
from hookline.dialects.settings_json import TOOL_SUCCEEDED
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.conditions.text import Equals
from hookline.hooks.events import EVENTS as KINDS
from hookline.hooks.events import events_by_name
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict
from hookline.hooks.protocols import Condition, May
from hookline.hooks.templates import DataTemplate
from hookline.hooks.tools import VOCABULARIES, ToolKind

NAME: Final = "hook_interchange"
SPEC: Final = "hooks/0.1"
VOCABULARY: Final = VOCABULARIES["claude_code"]
"""The format leaves stdin to the agent. Most of its hooks were written for Claude Code's, so they get that."""
TOOL_KINDS: Final = {
    "shell": ToolKind.SHELL,
    "file_read": ToolKind.READ,
    "file_write": ToolKind.WRITE,
    "file_edit": ToolKind.EDIT,
    "search": ToolKind.GREP,
    "find": ToolKind.GLOB,
    "web_search": ToolKind.SEARCH,
    "web_fetch": ToolKind.FETCH,
    "agent": ToolKind.AGENT,
}
"""The format's vocabulary of tools."""
EVENTS: Final = events_by_name(NAME)
ABSENT_EVENTS: Final = (
    "after_compact", "file_changed", "permission_denied", "before_model", "after_model", "before_tool_selection",
    "config_change", "instructions_loaded", "task_created", "task_completed", "teammate_idle", "cwd_changed",
    "elicitation", "elicitation_result", "file_created", "file_deleted", "file_saved", "before_task", "after_task", "manual_trigger",
    "windsurf_transcript_response", "windsurf_worktree_setup", "opencode_command_before", "opencode_command_after",
    "opencode_chat_params", "opencode_chat_headers", "opencode_shell_env", "opencode_tool_definition",
    "opencode_tui_events", "cursor_agent_thought", "cursor_tab_file_read", "cursor_tab_file_edit",
)  # fmt: skip
"""Events of the format's registry and examples that hookline does not fire."""
TOOL_EVENTS: Final = ("before_tool_execute", "after_tool_execute", "tool_use_failure", "permission_request")
OUTCOME_CONDITIONS: Final[dict[str, Condition]] = {
    "after_tool_execute": TOOL_SUCCEEDED,
    "tool_use_failure": Equals(("tool", "ok"), False),
}

HOOK_KEYS: Final = (
    "name", "event", "matcher", "handler", "blocking", "degradation", "provider_data", "capabilities",
)  # fmt: skip
HANDLER_KEYS: Final = {
    "command": ("type", "command", "platform", "cwd", "env", "timeout", "timeout_action", "async", "status_message"),
    "http": ("type", "url", "headers", "timeout", "timeout_action", "status_message"),
    "prompt": ("type", "prompt", "model", "timeout", "timeout_action", "status_message"),
    "agent": ("type", "prompt", "model", "agent", "timeout", "timeout_action", "status_message"),
}
PLATFORMS: Final = ("windows", "linux", "darwin")
TIMEOUT_ACTIONS: Final = ("warn", "block")
STRATEGIES: Final = ("block", "warn", "exclude")
DEFAULT_STRATEGIES: Final = {
    "structured_output": "warn",
    "llm_evaluated": "exclude",
    "http_handler": "warn",
    "async_execution": "warn",
    "platform_commands": "warn",
    "custom_env": "warn",
    "configurable_cwd": "warn",
}
"""Whether a hook rewrites the input cannot be seen in a manifest: it does if its author has a strategy for that."""
DEFAULT_TIMEOUT: Final = timedelta(seconds=30)

FAILURE_OUTCOME: Final = Outcome(notes=(Note("", Audience.USER),))
"""A failure is a warning: the action proceeds, and the user sees why the hook failed."""
MODEL_TYPES: Final = ("prompt", "agent")
MODEL_GUARDS: Final = {
    "before_tool_execute": Outcome(Verdict.ASK),
    "before_prompt": Outcome(Verdict.DENY),
    "before_compact": Outcome(Verdict.DENY),
}
"""What it counts as if a model that was to block does not answer."""
UNCONVERTED_KEYS: Final = {
    "degradation", "provider_data", "capabilities", "platform", "model", "agent", "status_message",
}  # fmt: skip
"""Keys of a hook and of its handler that no other format has."""
CLAUDE_EVENTS: Final = {
    "before_tool_execute": "PreToolUse",
    "after_tool_execute": "PostToolUse",
    "tool_use_failure": "PostToolUseFailure",
    "permission_request": "PermissionRequest",
    "notification": "Notification",
    "before_prompt": "UserPromptSubmit",
    "session_start": "SessionStart",
    "session_end": "SessionEnd",
    "agent_stop": "Stop",
    "subagent_start": "SubagentStart",
    "subagent_stop": "SubagentStop",
    "before_compact": "PreCompact",
    "error_occurred": "StopFailure",
}


def stdin_of(event_name: str) -> DataTemplate:
    return stdin_template(CLAUDE_EVENTS[event_name])


def result_parser(blocking: bool) -> ResultParser:
    return ResultParser(ResultFormat.INTERCHANGE if blocking else ResultFormat.INTERCHANGE_ADVISORY)


def can_block(event_name: str) -> bool:
    return bool(KINDS[EVENTS[event_name]].accepts & May.DENY)


def outcome_condition(event_name: str) -> Condition:
    return OUTCOME_CONDITIONS.get(event_name, ALWAYS)
