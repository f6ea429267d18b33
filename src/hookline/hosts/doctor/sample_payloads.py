"""What each agent sends before it runs a harmless shell command in a directory, as captured from it or documented."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

SESSION_ID: Final = "hookline-doctor"
TEST_COMMAND: Final = "echo hookline doctor"
SamplePayload = dict[str, Any]


def _claude_sample(directory: str) -> SamplePayload:
    return {
        "session_id": SESSION_ID,
        "transcript_path": f"{directory}/transcript.jsonl",
        "cwd": directory,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": TEST_COMMAND, "description": "a test by hookline doctor"},
        "tool_use_id": "toolu_hookline_doctor",
    }


def _codex_sample(directory: str) -> SamplePayload:
    return {
        **_claude_sample(directory),
        "turn_id": SESSION_ID,
        "model": "none",
        "tool_input": {"command": TEST_COMMAND},
    }


def _gemini_sample(directory: str) -> SamplePayload:
    return {
        "session_id": SESSION_ID,
        "transcript_path": f"{directory}/transcript.json",
        "cwd": directory,
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "tool_name": "run_shell_command",
        "tool_input": {"command": TEST_COMMAND, "description": "a test by hookline doctor"},
    }


def _qwen_sample(directory: str) -> SamplePayload:
    return {
        **_gemini_sample(directory),
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_use_id": SESSION_ID,
    }


def _copilot_sample(directory: str) -> SamplePayload:
    return {
        "sessionId": SESSION_ID,
        "timestamp": 1767225600000,
        "cwd": directory,
        "toolName": "bash",
        "toolArgs": {"command": TEST_COMMAND, "description": "a test by hookline doctor"},
    }


def _opencode_sample(directory: str) -> SamplePayload:
    return {
        "event": "tool.execute.before",
        "directory": directory,
        "worktree": directory,
        "input": {"tool": "bash", "sessionID": SESSION_ID, "callID": SESSION_ID},
        "output": {"args": {"command": TEST_COMMAND, "description": "a test by hookline doctor"}},
    }


def _cursor_sample(directory: str) -> SamplePayload:
    return {
        "conversation_id": SESSION_ID,
        "generation_id": SESSION_ID,
        "hook_event_name": "preToolUse",
        "workspace_roots": [directory],
        "cwd": directory,
        "tool_name": "Shell",
        "tool_input": {"command": TEST_COMMAND},
        "tool_use_id": SESSION_ID,
    }


def _cline_sample(directory: str) -> SamplePayload:
    return {
        "hookName": "PreToolUse",
        "taskId": SESSION_ID,
        "workspaceRoots": [directory],
        "preToolUse": {"toolName": "execute_command", "parameters": {"command": TEST_COMMAND}},
    }


def _windsurf_sample(directory: str) -> SamplePayload:
    return {
        "agent_action_name": "pre_run_command",
        "trajectory_id": SESSION_ID,
        "execution_id": SESSION_ID,
        "tool_info": {"command_line": TEST_COMMAND, "cwd": directory},
    }


def _kiro_sample(directory: str) -> SamplePayload:
    return {
        "hook_event_name": "preToolUse",
        "cwd": directory,
        "tool_name": "execute_bash",
        "tool_input": {"command": TEST_COMMAND},
    }


SAMPLE_PAYLOADS: Final[dict[str, tuple[str, Callable[[str], SamplePayload]]]] = {
    "claude-code": ("PreToolUse", _claude_sample),
    "codex": ("PreToolUse", _codex_sample),
    "gemini-cli": ("BeforeTool", _gemini_sample),
    "copilot-cli": ("preToolUse", _copilot_sample),
    "qwen-code": ("PreToolUse", _qwen_sample),
    "opencode": ("tool.execute.before", _opencode_sample),
    "cursor": ("preToolUse", _cursor_sample),
    "cline": ("PreToolUse", _cline_sample),
    "windsurf": ("pre_run_command", _windsurf_sample),
    "kiro": ("preToolUse", _kiro_sample),
}
"""Agent → the event, and its payload in a directory."""
