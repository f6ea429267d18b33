"""Hook files in the shapes that public repositories have, with our own words: they load without an error and act."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Event
from hookline.config.problem import errors_of
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.project import Trust, find_sources, load_all

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
    "kimi: a guard beside a model": (
        "~/.kimi-code/config.toml",
        f'default_model = "m"\n[providers.x]\ntype = "openai"\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = \'\'\'{GUARD}\'\'\'\ntimeout = 5\n',
    ),
    "cline: a shell script": (".clinerules/hooks/PreToolUse", f"#!/usr/bin/env bash\nset -u\n{CLINE_GUARD}\n"),
    "cline: a script that answers over several lines": (
        ".clinerules/hooks/PreToolUse",
        "#!/bin/sh\nif grep -q 'rm -r'; then\ncat <<EOF\n{\n  \"cancel\": true,\n  \"errorMessage\": \"not this\"\n}\nEOF\nfi\n",
    ),
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
        facts = {"tool": tool, "cwd": str(self.root), "workspace": str(self.root), "session": {"id": "s"}}
        return asyncio.run(self.book.decide(Event("tool.before", facts)))


@pytest.mark.parametrize(("file", "text"), DENIES.values(), ids=DENIES)
def test_a_file_loads_without_an_error_and_guards(tmp_path: Path, file: str, text: str) -> None:
    project = Project(tmp_path, file, text)
    assert errors_of(project.book.problems) == []
    held = project.decide(SHELL)
    assert (held.verdict, held.reason) == (Verdict.DENY, "not this")
    assert project.decide(HARMLESS).verdict is Verdict.SILENT


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
