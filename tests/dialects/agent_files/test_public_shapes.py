"""Hook files in the shapes that public repositories have, with our own words: they load without an error and act."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Event
from hookline.config.document import Document
from hookline.config.problem import errors_of
from hookline.dialects.dialect import AdaptableDialect, get_dialect
from hookline.engine.decision import Decision
from hookline.hooks.conditions.logic import AnyOf
from hookline.hooks.outcome import Verdict
from hookline.lazy_dataclasses import replace
from hookline.project import Trust, find_sources, load_all, load_text

GUARD = "grep -q 'rm -r' && { echo not this >&2; exit 2; }; true"
ANSWER = "cat > seen; echo '{}'"
CURSOR_GUARD = """grep -q 'rm -r' && echo '{"permission": "deny", "agent_message": "not this"}' || echo '{"permission": "allow"}'"""
COPILOT_GUARD = (
    """grep -q 'rm -r' && echo '{"permissionDecision": "deny", "permissionDecisionReason": "not this"}'; true"""
)
GEMINI_GUARD = (
    """grep -q 'rm -r' && echo '{"decision": "deny", "reason": "not this"}' || echo '{"decision": "allow"}'"""
)
CLINE_GUARD = """grep -q 'rm -r' && echo '{"cancel": true, "errorMessage": "not this"}' || echo '{"cancel": false}'"""
SHELL = {"name": "Bash", "input": {"command": "rm -r build"}}
HARMLESS = {"name": "Bash", "input": {"command": "ls"}}


def handler(command: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **more}


def groups(**events: Any) -> str:
    return json.dumps({"hooks": events})


def all_events(events: tuple[str, ...], matcher: str | None = None) -> dict[str, Any]:
    own = {} if matcher is None else {"matcher": matcher}
    return {event: [{**own, "hooks": [handler(f"cat > /dev/null # {event}")]}] for event in events}


DENIES = {
    "codex: a guard of the shell beside one for every tool": (
        ".codex/hooks.json",
        groups(PreToolUse=[{"matcher": "Bash", "hooks": [handler(GUARD)]}, {"hooks": [handler("cat > /dev/null")]}]),
    ),
    "codex: a description, a status message and short timeouts": (
        ".codex/hooks.json",
        json.dumps(
            {
                "description": "Checks every call.",
                "hooks": {
                    **all_events(("SessionStart", "SubagentStart", "SessionEnd")),
                    "PreToolUse": [{"matcher": "*", "hooks": [handler(GUARD, timeout=5, statusMessage="checking")]}],
                    "PermissionRequest": [{"matcher": "*", "hooks": [handler("cat > /dev/null", timeout=5)]}],
                },
            }
        ),
    ),
    "codex: an entry for every event": (
        ".codex/hooks.json",
        groups(
            **all_events(("UserPromptSubmit", "PostToolUse", "Stop", "PostCompact", "SubagentStart", "SubagentStop")),
            **all_events(("PreCompact",), "manual|auto"),
            **all_events(("SessionStart",), "startup|resume|clear|compact"),
            PreToolUse=[{"hooks": [handler(f"{GUARD} # managed")]}],
        ),
    ),
    "codex: an anchored matcher": (
        ".codex/hooks.json",
        groups(PreToolUse=[{"matcher": "^Bash$", "hooks": [handler(GUARD, timeout=30)]}]),
    ),
    "codex: tables of config.toml beside a model and servers": (
        ".codex/config.toml",
        'model = "m"\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\n[[hooks.PreToolUse]]\nmatcher = "Bash"\n'
        f"[[hooks.PreToolUse.hooks]]\ntype = 'command'\ncommand = '''{GUARD}'''\n",
    ),
    "gemini: servers and other settings beside the hooks": (
        ".gemini/settings.json",
        json.dumps(
            {
                "_comment": "for the team",
                "mcpServers": {"docs": {"command": "bunx", "args": ["docs"]}},
                "terminal.denyList": ["reboot"],
                "hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [handler(GEMINI_GUARD, timeout=5000)]}]},
            }
        ),
    ),
    "gemini: names, descriptions and a switch": (
        ".gemini/settings.json",
        json.dumps(
            {
                "tools": {"enableHooks": True},
                "hooksConfig": {"enabled": True, "disabled": ["other"]},
                "hooks": {
                    "BeforeTool": [
                        {
                            "matcher": "write_file|replace|run_shell_command",
                            "sequential": True,
                            "hooks": [handler(GEMINI_GUARD, name="guard", description="no rm", timeout=10000)],
                        }
                    ],
                    "SessionStart": [{"matcher": "startup", "hooks": [handler("cat > /dev/null", name="start")]}],
                },
            }
        ),
    ),
    "gemini: hooks of the model beside those of tools": (
        ".gemini/settings.json",
        groups(**all_events(("BeforeModel", "AfterAgent", "AfterTool"), "*"), BeforeTool=[{"hooks": [handler(GUARD)]}]),
    ),
    "qwen: permissions and empty matchers": (
        ".qwen/settings.json",
        json.dumps(
            {
                "permissions": {"allow": ["read_file"], "deny": []},
                "hooks": {
                    **all_events(("PreCompact", "PostToolUseFailure", "SubagentStop"), ""),
                    "PreToolUse": [{"matcher": "run_shell_command|write_file", "hooks": [handler(GUARD)]}],
                },
            }
        ),
    ),
    "qwen: a timeout in milliseconds": (
        ".qwen/settings.json",
        groups(PreToolUse=[{"matcher": "Bash", "hooks": [handler(GUARD, name="guard", timeout=60000)]}]),
    ),
    "droid: a guard with the project's directory": (
        ".factory/settings.json",
        groups(PreToolUse=[{"matcher": "Execute", "hooks": [handler(f'cd "$FACTORY_PROJECT_DIR" && {GUARD}', timeout=10)]}]),
    ),
    "droid: a pattern for the command": (
        ".factory/settings.json",
        groups(PreToolUse=[{"matcher": "Execute", "commandRegex": r"\brm\s+-", "hooks": [handler("echo not this >&2; exit 2")]}]),
    ),
    "droid: prompts, which it does not run, beside a command": (
        ".factory/settings.json",
        groups(
            PreToolUse=[
                {"matcher": "Bash|Execute", "hooks": [{"name": "ask", "type": "prompt", "prompt": "Is it safe?"}]},
                {"matcher": "Execute", "hooks": [handler(GUARD, name="guard")]},
            ]
        ),
    ),
    "droid: hooks.json": (".factory/hooks.json", json.dumps({"PreToolUse": [{"matcher": "Execute|Edit", "hooks": [handler(GUARD)]}]})),
    "cursor: one guard of the shell": (
        ".cursor/hooks.json",
        json.dumps({"version": 1, "hooks": {"beforeShellExecution": [{"command": CURSOR_GUARD}]}}),
    ),
    "cursor: guards and an audit of everything": (
        ".cursor/hooks.json",
        json.dumps(
            {
                "version": 1,
                "hooks": {
                    "beforeShellExecution": [{"command": CURSOR_GUARD}],
                    "beforeReadFile": [{"command": ANSWER, "failClosed": True}],
                    **{event: [{"command": ANSWER}] for event in ("beforeMCPExecution", "afterShellExecution", "sessionStart")},
                    "afterFileEdit": [{"command": ANSWER}],
                },
            }
        ),
    ),
    "cursor: a matcher of commands": (
        ".cursor/hooks.json",
        json.dumps({"version": 1, "hooks": {"beforeShellExecution": [{"command": CURSOR_GUARD, "matcher": "rm|git reset", "timeout": 10}]}}),
    ),
    "cursor: every tool, with events that only it has": (
        ".cursor/hooks.json",
        json.dumps(
            {
                "version": 1,
                "hooks": {
                    "preToolUse": [{"command": CURSOR_GUARD, "matcher": "Shell"}],
                    "afterAgentResponse": [{"command": ANSWER}],
                    "stop": [{"command": ANSWER, "loop_limit": 3}],
                },
            }
        ),
    ),
    "copilot: a script in bash and PowerShell": (
        ".github/hooks/hooks.json",
        json.dumps(
            {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": COPILOT_GUARD, "powershell": "./x.ps1", "cwd": ".", "timeoutSec": 10}]}}
        ),
    ),
    "copilot: without a version, with a comment": (
        ".github/hooks/hooks.json",
        json.dumps({"hooks": {"preToolUse": [{"type": "command", "bash": COPILOT_GUARD, "timeoutSec": 10, "comment": "no rm"}]}}),
    ),
    "copilot: Claude's event without a type": (
        ".github/hooks/guard.json",
        json.dumps({"version": 1, "hooks": {"PreToolUse": [{"command": GUARD, "timeout": 15}]}}),
    ),
    "copilot: groups": (
        ".github/hooks/guard.json",
        json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler(GUARD, timeout=5)]}], "errorOccurred": [{"hooks": [handler("cat")]}]}}),
    ),
    "windsurf: one guard of the shell": (
        ".windsurf/hooks.json",
        json.dumps({"hooks": {"pre_run_command": [{"command": GUARD, "show_output": True}]}}),
    ),
    "windsurf: formatters after a write, and a version": (
        ".windsurf/hooks.json",
        json.dumps(
            {
                "hooks": {
                    "pre_run_command": [{"command": GUARD, "show_output": True, "working_directory": "."}],
                    "post_write_code": [{"command": "cat > /dev/null", "show_output": False}, {"command": "true", "show_output": True}],
                },
                "version": 1,
            }
        ),
    ),
    "kiro: an agent with tools, resources and hooks": (
        ".kiro/agents/dev.json",
        json.dumps(
            {
                "name": "dev",
                "description": "writes code",
                "tools": ["fs_read", "fs_write", "execute_bash"],
                "allowedTools": ["fs_read"],
                "resources": ["file://README.md"],
                "hooks": {
                    "agentSpawn": [{"command": "echo ready"}],
                    "preToolUse": [{"matcher": "execute_bash", "command": GUARD, "timeout_ms": 5000}],
                    "postToolUse": [{"matcher": "fs_write", "command": "cat > /dev/null"}],
                },
            }
        ),
    ),
    "kiro: a file of hooks for saved files, prompts and tools": (
        ".kiro/hooks/safety.json",
        json.dumps(
            {
                "version": "v1",
                "hooks": [
                    {"name": "lint", "trigger": "PostFileSave", "matcher": "\\.(ts|tsx)$", "action": handler("npm run lint"), "timeout": 30, "enabled": True},
                    {"name": "remind", "trigger": "PreToolUse", "matcher": "fs_write|str_replace", "action": {"type": "agent", "prompt": "Update the tests."}},
                    {"name": "log", "description": "keeps prompts", "trigger": "UserPromptSubmit", "action": handler("cat > /dev/null"), "timeout": 5},
                    {"name": "safety", "trigger": "PreToolUse", "matcher": "execute_bash|execute_cmd|shell", "timeout": 10, "action": handler(GUARD)},
                ],
            }
        ),
    ),
    "kiro: a file of the editor, for a kind of tools": (
        ".kiro/hooks/shield.kiro.hook",
        json.dumps(
            {
                "enabled": True,
                "name": "Shield",
                "description": "looks at commands",
                "version": "1",
                "when": {"type": "preToolUse", "toolTypes": ["shell", "write"]},
                "then": {"type": "runCommand", "command": "grep -q 'rm -r' && { echo not this >&2; exit 1; }; true", "timeout": 5},
                "workspaceFolderName": "app",
                "shortName": "shield",
            }
        ),
    ),
    "kiro: the same as JSON, for every tool": (
        ".kiro/hooks/shield.json",
        json.dumps({"name": "Shield", "version": "1.0.0", "when": {"type": "preToolUse"}, "then": {"type": "runCommand", "command": GUARD}}),
    ),
    "kimi: the tools of Kimi CLI": (
        "~/.kimi/config.toml",
        'default_thinking = true\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "WriteFile|StrReplaceFile"\ncommand = "exit 2"\ntimeout = 5\n'
        f'[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell"\ncommand = \'\'\'{GUARD}\'\'\'\ntimeout = 10\n',
    ),
    "cline: a script that reads the tool's other key": (
        ".clinerules/hooks/PreToolUse",
        "#!/usr/bin/env python3\nimport json, sys\ncall = json.load(sys.stdin)['preToolUse']\n"
        "stop = call['tool'] == 'execute_command' and 'rm -r' in call['parameters']['command']\n"
        "print(json.dumps({'cancel': stop, 'contextModification': '', 'errorMessage': 'not this' if stop else ''}))\n",
    ),
    "kimi: a guard beside a model": (
        "~/.kimi-code/config.toml",
        f'default_model = "m"\n[providers.x]\ntype = "openai"\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = \'\'\'{GUARD}\'\'\'\ntimeout = 5\n',
    ),
    "codex: events of another agent, and a variable of plugins": (
        ".codex/hooks.json",
        groups(
            Notification=[{"hooks": [handler("notify-send done")]}],
            Stop=[{"hooks": [handler("node ${CODEX_PLUGIN_ROOT}/stop.js", timeout=5)]}],
            PreToolUse=[{"hooks": [handler(GUARD)], "matcher": "Bash|shell|local_shell"}],
        ),
    ),
    "gemini: a hook straight below its event": (
        ".gemini/settings.json",
        groups(SessionStart=[handler("git fetch")], BeforeTool=[{"matcher": "run_shell_command", "hooks": [handler(GUARD)]}]),
    ),
    "droid: hooks.json with events below hooks": (
        ".factory/hooks.json",
        groups(PreToolUse=[{"matcher": "Execute", "hooks": [handler(GUARD)]}]),
    ),
    "copilot: settings of a repository": (
        ".github/copilot/settings.json",
        json.dumps({"model": "m", "hooks": {"preToolUse": [{"type": "command", "bash": COPILOT_GUARD, "timeoutSec": 10}]}}),
    ),
    "copilot: local settings with Claude's event": (
        ".github/copilot/settings.local.json",
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "type": "command", "command": GUARD}]}}),
    ),
    "kimi: a guard that fails closed": (
        "~/.kimi-code/config.toml",
        f"""[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\nfail_mode = "closed"\ncommand = '''{GUARD}'''\n""",
    ),
    "cline: a shell script": (".clinerules/hooks/PreToolUse", f"#!/usr/bin/env bash\nset -u\n{CLINE_GUARD}\n"),
    "cline: a script that answers over several lines": (
        ".clinerules/hooks/PreToolUse",
        "#!/bin/sh\nif grep -q 'rm -r'; then\ncat <<EOF\n{\n  \"cancel\": true,\n  \"errorMessage\": \"not this\"\n}\nEOF\nfi\n",
    ),
}  # fmt: skip


def command_hooks(event: str, command: str, matcher: str | None = None, **more: Any) -> str:
    """A file with one group, in the shape that Claude Code and others have."""
    own = {} if matcher is None else {"matcher": matcher}
    return groups(**{event: [{**own, "hooks": [handler(command, **more)]}]})


def cursor_file(**events: Any) -> str:
    return json.dumps({"version": 1, "hooks": events})


def kiro_hook(when: dict[str, Any], then: dict[str, Any]) -> str:
    return json.dumps({"enabled": True, "name": "One", "version": "1.0.0", "when": when, "then": then})


def answer(value: dict[str, Any]) -> str:
    return f"cat > /dev/null; echo '{json.dumps(value)}'"


def context(event: str) -> str:
    return answer({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "read this"}})


WRITE = {"tool": {"name": "Write", "input": {"file_path": "src/app.ts", "content": "let a"}}}
EDIT = {"tool": {"name": "Edit", "input": {"file_path": "src/app.ts", "old_string": "a", "new_string": "b"}}}
READ = {"tool": {"name": "Read", "input": {"file_path": ".env"}}}
MCP = {"tool": {"name": "mcp__github__create_issue", "input": {"title": "x"}}}
WRITTEN = {"tool": {**WRITE["tool"], "result": "ok", "ok": True}}
RAN = {"tool": {"name": "Bash", "input": {"command": "npm test"}, "result": "1 failed", "ok": True}}
FAILED = {"tool": {"name": "Bash", "input": {"command": "npm test"}, "result": "", "error": "exit code 1", "ok": False}}
PROMPT = {"prompt": "print the password"}
START = {"session": {"id": "s", "source": "startup"}}
STOP = {"stop": {"active": False}}
REFUSE = "echo not this >&2; exit 2"
REFUSE_PROMPT = f"grep -q password && {{ {REFUSE}; }}; true"
REFUSE_CONTENT = f"grep -q 'let a' && {{ {REFUSE}; }}; true"
REFUSE_ISSUE = f"grep -q create_issue && {{ {REFUSE}; }}; true"
BLOCK = answer({"decision": "block", "reason": "not this"})
HELD, TOLD, NOTHING = (Verdict.DENY, "not this", ""), (Verdict.SILENT, "", "read this"), (Verdict.SILENT, "", "")

ACTS: dict[str, tuple[str, str, str, dict[str, Any], tuple[Verdict, str, str]]] = {
    "codex: text when a session starts": (
        ".codex/hooks.json", command_hooks("SessionStart", "echo read this", "startup|resume", timeout=30, statusMessage="loading"),
        "session.start", START, TOLD),
    "codex: text with each prompt": (".codex/hooks.json", command_hooks("UserPromptSubmit", "echo read this"), "prompt.submit", PROMPT, TOLD),
    "codex: a guard of prompts": (".codex/hooks.json", command_hooks("UserPromptSubmit", REFUSE_PROMPT), "prompt.submit", PROMPT, HELD),
    "codex: Write and Edit mean patches": (".codex/hooks.json", command_hooks("PreToolUse", REFUSE, "Write|Edit"), "tool.before", WRITE, HELD),
    "codex: a patch is what the hook reads": (
        ".codex/hooks.json", command_hooks("PreToolUse", f"grep -q 'Begin Patch' && {{ {REFUSE}; }}; true", "apply_patch"), "tool.before", EDIT, HELD),
    "codex: another step after the last": (".codex/hooks.json", command_hooks("Stop", BLOCK, timeout=30), "stop", STOP, HELD),
    "codex: a word after a command": (".codex/hooks.json", command_hooks("PostToolUse", context("PostToolUse"), "Bash"), "tool.after", RAN, TOLD),
    "gemini: text when a session starts": (
        ".gemini/settings.json", command_hooks("SessionStart", context("SessionStart"), "startup", name="init", description="loads"), "session.start", START, TOLD),
    "gemini: text with each prompt": (".gemini/settings.json", command_hooks("BeforeAgent", context("BeforeAgent"), "*"), "prompt.submit", PROMPT, TOLD),
    "gemini: a guard of what is written": (
        ".gemini/settings.json", command_hooks("BeforeTool", REFUSE_CONTENT, "write_file|replace", timeout=5000), "tool.before", WRITE, HELD),
    "gemini: replace is an edit": (".gemini/settings.json", command_hooks("BeforeTool", REFUSE, "replace"), "tool.before", EDIT, HELD),
    "gemini: a word after a file is written": (
        ".gemini/settings.json", command_hooks("AfterTool", context("AfterTool"), "write_file|replace"), "tool.after", WRITTEN, TOLD),
    "gemini: another step after the last": (
        ".gemini/settings.json", command_hooks("AfterAgent", answer({"decision": "deny", "reason": "not this"})), "stop", STOP, HELD),
    "gemini: MCP tools of one server": (".gemini/settings.json", command_hooks("BeforeTool", REFUSE, "mcp_github_.*"), "tool.before", MCP, HELD),
    "qwen: a word after a file is written": (
        ".qwen/settings.json", command_hooks("PostToolUse", context("PostToolUse"), "write_file|edit"), "tool.after", WRITTEN, TOLD),
    "qwen: a failed command": (".qwen/settings.json", command_hooks("PostToolUseFailure", context("PostToolUseFailure"), ""), "tool.after", FAILED, TOLD),
    "qwen: another step after the last": (".qwen/settings.json", command_hooks("Stop", BLOCK), "stop", STOP, HELD),
    "droid: a guard of edits": (
        ".factory/settings.json", command_hooks("PreToolUse", f'cd "$FACTORY_PROJECT_DIR"; {REFUSE}', "Edit|MultiEdit|Update"),
        "tool.before", EDIT, HELD),
    "droid: Create writes files": (
        ".factory/settings.json", command_hooks("PreToolUse", REFUSE_CONTENT, "Create|Edit|Write"), "tool.before", WRITE, HELD),
    "droid: a guard of prompts": (
        ".factory/settings.json", command_hooks("UserPromptSubmit", REFUSE_PROMPT, timeout=5), "prompt.submit", PROMPT, HELD),
    "droid: another step after the last": (
        ".factory/settings.json", command_hooks("Stop", f'exec sh -c "{REFUSE}"'), "stop", STOP, HELD),
    "droid: a word after a file is written": (
        ".factory/hooks.json", json.dumps({"PostToolUse": [{"matcher": "Create|Edit", "hooks": [handler(context("PostToolUse"))]}]}), "tool.after", WRITTEN, TOLD),
    "cursor: a guard of prompts": (
        ".cursor/hooks.json", cursor_file(beforeSubmitPrompt=[{"command": answer({"continue": False, "user_message": "not this"})}]),
        "prompt.submit", PROMPT, HELD),
    "cursor: a guard of files that are read": (
        ".cursor/hooks.json", cursor_file(beforeReadFile=[{"command": f"""grep -q '"file_path":".env"' && {{ {REFUSE}; }}; echo '{{}}'""", "failClosed": True}]),
        "tool.before", READ, HELD),
    "cursor: a guard of MCP tools": (
        ".cursor/hooks.json", cursor_file(beforeMCPExecution=[{"command": answer({"permission": "deny", "agent_message": "not this"})}]),
        "tool.before", MCP, HELD),
    "cursor: a word after a file is written": (
        ".cursor/hooks.json",
        cursor_file(postToolUse=[{"command": answer({"additional_context": "read this"}), "matcher": "Write|MultiEdit|ApplyPatch|NotebookEdit", "timeout": 120}]),
        "tool.after", WRITTEN, TOLD),
    "cursor: another step after the last": (
        ".cursor/hooks.json", cursor_file(stop=[{"command": answer({"followup_message": "not this"}), "loop_limit": 3}]), "stop", STOP, HELD),
    "cursor: text when a session starts, and a comment in the file": (
        ".cursor/hooks.json",
        json.dumps({"version": 1, "_comment": "see the docs", "hooks": {"sessionStart": [{"command": answer({"additional_context": "read this"}), "timeout": 30}]}}),
        "session.start", START, TOLD),
    "cursor: a question about a command": (
        ".cursor/hooks.json", cursor_file(beforeShellExecution=[{"command": answer({"permission": "ask", "user_message": "sure?"}), "matcher": "rm|git reset"}]),
        "tool.before", {"tool": SHELL}, (Verdict.ASK, "sure?", "")),
    "copilot: names of Claude Code, a matcher beside a command": (
        ".github/hooks/hooks.json",
        json.dumps({"version": 1, "hooks": {"PreToolUse": [{"matcher": "Read|read_file|Edit", "type": "command", "command": REFUSE, "timeout": 10}]}}),
        "tool.before", READ, HELD),
    "copilot: all hooks are off": (
        ".github/hooks/hooks.json", json.dumps({"version": 1, "disableAllHooks": True, "hooks": {"PreToolUse": [handler("exit 2", timeout=300)]}}),
        "tool.before", {"tool": SHELL}, NOTHING),
    "copilot: own names of tools": (
        ".github/hooks/guard.json",
        json.dumps({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": f"""grep -q '"toolName":"bash"' && {{ {REFUSE}; }}; true""", "matcher": "bash", "env": {"MODE": "deny"}, "timeoutSec": 5}]}}),
        "tool.before", {"tool": SHELL}, HELD),
    "windsurf: a guard of prompts": (
        ".windsurf/hooks.json", json.dumps({"hooks": {"pre_user_prompt": [{"command": REFUSE_PROMPT, "show_output": True, "working_directory": "."}]}}),
        "prompt.submit", PROMPT, HELD),
    "windsurf: a guard of what is written": (
        ".windsurf/hooks.json", json.dumps({"hooks": {"pre_write_code": [{"command": REFUSE_CONTENT, "show_output": True}]}}), "tool.before", WRITE, HELD),
    "windsurf: a guard of MCP tools": (
        ".windsurf/hooks.json", json.dumps({"hooks": {"pre_mcp_tool_use": [{"command": REFUSE_ISSUE}]}, "version": 1}), "tool.before", MCP, HELD),
    "cline: a guard of prompts": (
        ".clinerules/hooks/UserPromptSubmit", f"#!/usr/bin/env bash\n{answer({'cancel': True, 'errorMessage': 'not this'})}\n", "prompt.submit", PROMPT, HELD),
    "cline: a word about the tool": (
        ".clinerules/hooks/PreToolUse", "#!/bin/bash\nset -eu\ninput=$(cat)\ncat <<EOF\n{\"cancel\": false, \"contextModification\": \"read this\"}\nEOF\n",
        "tool.before", WRITE, TOLD),
    "kiro: text when an agent starts": (
        ".kiro/agents/dev.json", json.dumps({"name": "dev", "hooks": {"agentSpawn": [{"command": "echo read this", "cache_ttl_seconds": 300}]}}),
        "session.start", START, TOLD),
    "kiro: the editor reminds its agent": (
        ".kiro/hooks/review.kiro.hook", kiro_hook({"type": "preToolUse", "toolTypes": ["write"]}, {"type": "askAgent", "prompt": "read this"}),
        "tool.before", EDIT, TOLD),
    "kiro: the editor's guard of prompts": (
        ".kiro/hooks/prompt.kiro.hook",
        kiro_hook({"type": "promptSubmit"}, {"type": "runCommand", "command": 'case "$USER_PROMPT" in *password*) echo not this >&2; exit 1;; esac'}),
        "prompt.submit", PROMPT, HELD),
    "kiro: the editor's hook when the agent stops": (
        ".kiro/hooks/stop.kiro.hook", kiro_hook({"type": "agentStop"}, {"type": "runCommand", "command": "echo read this"}), "stop", STOP, TOLD),
    "kiro: the editor's hook for saved files": (
        ".kiro/hooks/lint.kiro.hook", kiro_hook({"type": "fileEdited", "patterns": ["*.ts"]}, {"type": "runCommand", "command": "exit 1"}),
        "tool.before", WRITE, NOTHING),
    "kiro: the editor's guard of MCP tools": (
        ".kiro/hooks/mcp.kiro.hook", kiro_hook({"type": "preToolUse", "toolTypes": ["@mcp.*issue.*"]}, {"type": "runCommand", "command": REFUSE}),
        "tool.before", MCP, HELD),
    "kimi: text with each prompt": (
        "~/.kimi-code/config.toml", "[[hooks]]\nevent = 'UserPromptSubmit'\ncommand = 'echo read this'\n", "prompt.submit", PROMPT, TOLD),
    "kimi: another step after the last": (
        "~/.kimi/config.toml", f"[[hooks]]\nevent = 'Stop'\ncommand = '{REFUSE}'\ntimeout = 30\n", "stop", STOP, HELD),
    "kimi: a guard of what Kimi CLI writes": (
        "~/.kimi/config.toml", f"[[hooks]]\nevent = 'PreToolUse'\nmatcher = 'WriteFile|StrReplaceFile'\ncommand = '''{REFUSE_CONTENT}'''\n",
        "tool.before", WRITE, HELD),
}  # fmt: skip


class Project:
    def __init__(self, root: Path, file: str, text: str) -> None:
        self.root, home = root / "project", root / "home"
        (self.root / ".git").mkdir(parents=True)
        home.mkdir()
        path = home / file[2:] if file.startswith("~/") else self.root / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        self.trust, self.home = Trust(root / "state" / "trust.json"), home
        self.trust.accept(source for source in find_sources(self.root, home) if source.is_from_project)
        self.load()

    def load(self) -> None:
        self.book = load_all(find_sources(self.root, self.home), self.trust)

    def decide(self, tool: dict[str, Any]) -> Decision:
        return self.fire("tool.before", {"tool": tool})

    def fire(self, event: str, facts: dict[str, Any]) -> Decision:
        base = {"cwd": str(self.root), "workspace": str(self.root), "session": {"id": "s"}}
        return asyncio.run(self.book.decide(Event(event, {**base, **facts})))


@pytest.mark.parametrize(("file", "text"), DENIES.values(), ids=DENIES)
def test_a_file_loads_without_an_error_and_guards(tmp_path: Path, file: str, text: str) -> None:
    project = Project(tmp_path, file, text)
    assert errors_of(project.book.problems) == []
    held = project.decide(SHELL)
    assert (held.verdict, held.reason) == (Verdict.DENY, "not this")
    assert project.decide(HARMLESS).verdict is Verdict.SILENT


@pytest.mark.parametrize(("file", "text", "event", "facts", "expected"), ACTS.values(), ids=ACTS)
def test_a_file_acts_at_its_events_as_in_its_own_agent(
    tmp_path: Path, file: str, text: str, event: str, facts: dict[str, Any], expected: tuple[Verdict, str, str]
) -> None:
    project = Project(tmp_path, file, text)
    assert errors_of(project.book.problems) == []
    decision = project.fire(event, facts)
    verdict, reason, told = expected
    assert decision.verdict is verdict
    assert reason in decision.reason
    assert told in " ".join(note.text for note in decision.notes)


AGENTS = {"codex": "codex", "gemini": "gemini_cli", "qwen": "qwen_code", "droid": "droid", "cursor": "cursor"}
AGENTS |= {"copilot": "copilot_cli", "windsurf": "windsurf", "kiro": "kiro", "kimi": "kimi_code", "cline": "cline"}


@pytest.mark.parametrize("title", [*DENIES, *ACTS])
def test_a_hook_alone_reads_as_in_its_file(title: str) -> None:
    """What another agent runs after `hookline convert`."""
    file, text, *_ = {**DENIES, **ACTS}[title]
    dialect = get_dialect(AGENTS[title.partition(":")[0]])
    assert isinstance(dialect, AdaptableDialect)
    hooks = load_text(json.dumps({"program": text}) if dialect.name == "cline" else text, file, dialect.name).hooks
    for hook in [replace(each, enabled=True) for each in hooks]:
        found = dialect.excerpt(hook)
        assert found is not None
        again = dialect.load(Document(found.file, "", found.value)).hooks
        said = {"id": hook.id, "origin": hook.origin, "ignored_by": hook.ignored_by}
        assert all(replace(each, when=hook.when, **said) == hook for each in again)
        whens = tuple(each.when for each in again)
        assert whens == (hook.when,) or AnyOf(whens) == hook.when


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".gemini/settings.json", '{"tools": {"allowed": ["read_file"]}, "general": {"defaultApprovalMode": "auto_edit"}}'),
        (".qwen/settings.json", '{"permissions": {"allow": ["Bash(ls *)"]}, "$version": 3}'),
        (".factory/settings.json", '{"enabledPlugins": {"x@y": true}}'),
        (".codex/config.toml", 'model = "m"\napproval_policy = "never"\n'),
        (".kiro/agents/dev.json", '{"name": "dev", "prompt": "Be brief.", "tools": ["*"]}'),
        ("~/.kimi-code/config.toml", 'default_model = "m"\n'),
        (".clinerules/hooks/README.md", "# Hooks of this team\n"),
    ],
)  # fmt: skip
def test_a_file_without_hooks_is_no_problem(tmp_path: Path, file: str, text: str) -> None:
    project = Project(tmp_path, file, text)
    assert project.book.problems == ()
    assert project.book.hooks == ()


@pytest.mark.parametrize("is_loaded_again", [False, True])
def test_a_changed_program_of_cline_stops_the_calls_that_it_would_have_heard(
    tmp_path: Path, is_loaded_again: bool
) -> None:
    """What runs is what was accepted: an agent that rewrites the program does not switch the guard off."""
    file = ".clinerules/hooks/PreToolUse"
    project = Project(tmp_path, file, f"#!/bin/sh\n{CLINE_GUARD}\n")
    (project.root / file).write_text("#!/bin/sh\necho '{\"cancel\": false}'\n")
    if is_loaded_again:
        project.load()
    assert project.decide(SHELL).verdict >= Verdict.ASK
    (project.root / file).unlink()
    assert project.decide(SHELL).verdict >= Verdict.ASK
