"""What each agent sends before it runs a harmless shell command in a directory, as captured from it or documented."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

SESSION: Final = "hookline-doctor"
COMMAND: Final = "echo hookline doctor"
Payload = dict[str, Any]


def _claude(directory: str) -> Payload:
    return {
        "session_id": SESSION,
        "transcript_path": f"{directory}/transcript.jsonl",
        "cwd": directory,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": COMMAND, "description": "a test by hookline doctor"},
        "tool_use_id": "toolu_hookline_doctor",
    }


def _codex(directory: str) -> Payload:
    return {**_claude(directory), "turn_id": SESSION, "model": "none", "tool_input": {"command": COMMAND}}


def _gemini(directory: str) -> Payload:
    return {
        "session_id": SESSION,
        "transcript_path": f"{directory}/transcript.json",
        "cwd": directory,
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "tool_name": "run_shell_command",
        "tool_input": {"command": COMMAND, "description": "a test by hookline doctor"},
    }


def _qwen(directory: str) -> Payload:
    return {**_gemini(directory), "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_use_id": SESSION}


def _copilot(directory: str) -> Payload:
    return {
        "sessionId": SESSION,
        "timestamp": 1767225600000,
        "cwd": directory,
        "toolName": "bash",
        "toolArgs": {"command": COMMAND, "description": "a test by hookline doctor"},
    }


def _opencode(directory: str) -> Payload:
    return {
        "event": "tool.execute.before",
        "directory": directory,
        "worktree": directory,
        "input": {"tool": "bash", "sessionID": SESSION, "callID": SESSION},
        "output": {"args": {"command": COMMAND, "description": "a test by hookline doctor"}},
    }


def _cursor(directory: str) -> Payload:
    return {
        "conversation_id": SESSION,
        "generation_id": SESSION,
        "hook_event_name": "preToolUse",
        "workspace_roots": [directory],
        "cwd": directory,
        "tool_name": "Shell",
        "tool_input": {"command": COMMAND},
        "tool_use_id": SESSION,
    }


def _cline(directory: str) -> Payload:
    return {
        "hookName": "PreToolUse",
        "taskId": SESSION,
        "workspaceRoots": [directory],
        "preToolUse": {"toolName": "execute_command", "parameters": {"command": COMMAND}},
    }


def _windsurf(directory: str) -> Payload:
    return {
        "agent_action_name": "pre_run_command",
        "trajectory_id": SESSION,
        "execution_id": SESSION,
        "tool_info": {"command_line": COMMAND, "cwd": directory},
    }


def _kiro(directory: str) -> Payload:
    return {
        "hook_event_name": "preToolUse",
        "cwd": directory,
        "tool_name": "execute_bash",
        "tool_input": {"command": COMMAND},
    }


SAMPLES: Final[dict[str, tuple[str, Callable[[str], Payload]]]] = {
    "claude-code": ("PreToolUse", _claude),
    "codex": ("PreToolUse", _codex),
    "gemini-cli": ("BeforeTool", _gemini),
    "copilot-cli": ("preToolUse", _copilot),
    "qwen-code": ("PreToolUse", _qwen),
    "opencode": ("tool.execute.before", _opencode),
    "cursor": ("preToolUse", _cursor),
    "cline": ("PreToolUse", _cline),
    "windsurf": ("pre_run_command", _windsurf),
    "kiro": ("preToolUse", _kiro),
}
"""Agent → the event, and its payload in a directory."""
