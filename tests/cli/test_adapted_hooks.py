"""Every coding agent's hook file as every other's: what the hook decides, and what the agent is told."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.adapt import load_hooks
from hookline.config.reader import read_text
from hookline.dialects.agent_files import cursor
from hookline.dialects.dialect import get_dialect
from hookline.engine.decision import Decision
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge.hook_cache import GivenHooks
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.responder import respond_directly

GUARD = "if grep -q 'hookline doctor'; then echo Never. >&2; exit 2; fi"
CLINE_GUARD = """if grep -q 'hookline doctor'; then echo '{"cancel": true, "errorMessage": "Never."}'; fi"""
GROUPED = {"matcher": "Bash", "hooks": [{"type": "command", "command": GUARD}]}
FILES: dict[str, tuple[str, Any]] = {
    "claude_code": (".claude/settings.json", {"hooks": {"PreToolUse": [GROUPED]}}),
    "codex": (".codex/hooks.json", {"hooks": {"PreToolUse": [GROUPED]}}),
    "copilot_cli": (
        ".github/hooks/guard.json",
        {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": GUARD, "matcher": "bash"}]}},
    ),
    "cursor": (".cursor/hooks.json", {"version": 1, "hooks": {"beforeShellExecution": [{"command": GUARD}]}}),
    "droid": (".factory/settings.json", {"hooks": {"PreToolUse": [{**GROUPED, "matcher": "Execute"}]}}),
    "gemini_cli": (".gemini/settings.json", {"hooks": {"BeforeTool": [{**GROUPED, "matcher": "run_shell_command"}]}}),
    "kiro": (
        ".kiro/hooks/guard.json",
        {
            "version": "v1",
            "hooks": [
                {
                    "name": "g",
                    "trigger": "PreToolUse",
                    "matcher": "shell",
                    "action": {"type": "command", "command": GUARD},
                }
            ],
        },
    ),
    "qwen_code": (".qwen/settings.json", {"hooks": {"PreToolUse": [{**GROUPED, "matcher": "run_shell_command"}]}}),
    "windsurf": (".windsurf/hooks.json", {"hooks": {"pre_run_command": [{"command": GUARD}]}}),
}
TARGETS = (*FILES, "kimi_code")
MANIFEST = {
    "spec": "hooks/0.1",
    "hooks": [
        {
            "name": "guard",
            "event": "before_tool_execute",
            "matcher": "shell",
            "blocking": True,
            "handler": {"type": "command", "command": GUARD},
        }
    ],
}
OTHER_FILES: dict[str, tuple[str, str, Any]] = {
    "a manifest": ("hook_interchange", "hooks/guard/hook.json", MANIFEST),
    "cline": ("cline", ".clinerules/hooks/PreToolUse", f"#!/bin/bash\n{CLINE_GUARD}\n"),
    "a pattern for commands": (
        "droid",
        ".factory/settings.json",
        {"hooks": {"PreToolUse": [{**GROUPED, "matcher": "Execute", "commandRegex": "hook.*doctor"}]}},
    ),
    "Kimi CLI": (
        "kimi_code",
        ".kimi/config.toml",
        f'[[hooks]]\nevent = \'PreToolUse\'\nmatcher = \'Shell|WriteFile\'\ncommand = """{GUARD}"""\n',
    ),
    "Kiro's agents": (
        "kiro",
        ".kiro/agents/dev.json",
        {"name": "dev", "hooks": {"preToolUse": [{"matcher": "execute_bash", "command": GUARD, "timeout_ms": 5000}]}},
    ),
    "Kiro's editor": (
        "kiro",
        ".kiro/hooks/guard.kiro.hook",
        {
            "enabled": True,
            "name": "Guard",
            "version": "1",
            "when": {"type": "preToolUse", "toolTypes": ["shell", "write"]},
            "then": {"type": "runCommand", "command": GUARD, "timeout": 5},
        },
    ),
}
PAIRS = [(source, target) for source in FILES for target in TARGETS if source != target]
PAIRS += [(each, target) for each, (source, *_) in OTHER_FILES.items() for target in TARGETS if source != target]
PAIRS.remove(("a manifest", "claude_code"))  # it is written without hookline


def convert(hookline: Any, source: str, target: str, value: Any = None) -> Any:
    name, example = FILES[source] if source in FILES else OTHER_FILES[source][1:]
    text = value or example
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text if isinstance(text, str) else json.dumps(text))
    return hookline("convert", name, "--to", target)


def commands(text: str, target: str) -> list[str]:
    """Of the hooks in a file of this dialect, read as hookline reads it."""
    document, problems = read_text(text, f"hooks.{'toml' if target == 'kimi_code' else 'json'}")
    assert document is not None, problems
    loaded = get_dialect(target).load(document)
    assert loaded.problems == ()
    return [hook.then.program.shell.source for hook in loaded.hooks if isinstance(hook.then, RunProgram)]


def run(command: str, payload: dict[str, Any], home: Path) -> Reply:
    """What the command answers, as its process would."""
    words = shlex.split(command)
    end = words.index("||") if "||" in words else len(words)
    _, verb, agent, event, dialect, hooks = words[:6]
    assert verb == "adapt"
    options = dict(word.removeprefix("--").split("=", 1) for word in words[6:end])
    assert options.keys() <= {"timeout", "file"}
    environment = {b"HOME": str(home).encode(), b"PATH": b"/usr/bin:/bin"}
    call = AgentCall(
        agent,
        event,
        json.dumps(payload).encode(),
        str(Path.cwd()),
        environment,
        entry_timeout=get_agent(agent).event_timeout(event),
    )
    return asyncio.run(respond_directly(call, GivenHooks(load_hooks(dialect, hooks, options.get("file")))))


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda name: name)
def test_guard_of_one_agent_holds_in_another(hookline, tmp_path, source, target):
    result = convert(hookline, source, target)
    assert result.exit_code == 0, result.stderr
    assert "it adapts" in result.stderr
    agent = get_agent(target.replace("_", "-"))
    event, payload = agent.sample_call(str(Path.cwd()))
    written = commands(result.stdout, target)
    assert all(command.endswith(" || exit 2") for command in written)  # without hookline, nothing runs
    (command,) = [each for each in written if shlex.split(each)[3].lower() == event.lower()]
    reply = run(command, payload, tmp_path)
    parsed = agent.read(event, payload)
    denied = agent.reply(parsed, [Decision(each, Verdict.DENY, "Never.") for each in parsed.events])
    allowed = agent.reply(parsed, [Decision(each) for each in parsed.events])
    assert reply.exit_code == denied.exit_code
    assert "Never." in reply.stdout + reply.stderr
    assert (reply.stdout, reply.stderr, reply.exit_code) != (allowed.stdout, allowed.stderr, allowed.exit_code)


def test_what_a_hook_of_an_older_file_gets_stays_the_same(hookline, tmp_path):
    """Kimi CLI has another name for the tool than Kimi Code."""
    seen = tmp_path / "seen.json"
    toml = f"[[hooks]]\nevent = 'PreToolUse'\ncommand = 'cat > {seen}'\n"
    (command,) = commands(convert(hookline, "Kimi CLI", "codex", toml).stdout, "codex")
    _, payload = get_agent("codex").sample_call(str(Path.cwd()))
    run(command, payload, tmp_path)
    assert json.loads(seen.read_text())["tool_name"] == "Shell"


def test_a_disabled_hook_stays_disabled(hookline):
    value = FILES["kiro"][1]
    off = {**value, "hooks": [{**value["hooks"][0], "enabled": False}]}
    result = convert(hookline, "kiro", "cursor", off)
    assert "that it is disabled" in result.stderr
    assert commands(result.stdout, "cursor") == []
    copilot = {**FILES["copilot_cli"][1], "disableAllHooks": True}
    (entry,) = json.loads(convert(hookline, "copilot_cli", "kiro", copilot).stdout)["hooks"]
    assert entry["enabled"] is False


def test_program_gets_what_its_own_agent_would_send(hookline, tmp_path):
    seen = tmp_path / "seen.json"
    value = {"hooks": {"beforeShellExecution": [{"command": f'cat > {seen}; echo "$CURSOR_PROJECT_DIR" > {seen}.env'}]}}
    (command,) = commands(convert(hookline, "cursor", "gemini_cli", value).stdout, "gemini_cli")
    payload = {
        "session_id": "s",
        "cwd": str(Path.cwd()),
        "tool_name": "run_shell_command",
        "tool_input": {"command": "ls"},
    }
    assert run(command, payload, tmp_path) == get_agent("gemini-cli").empty_reply()
    told = json.loads(seen.read_text())
    assert (told["hook_event_name"], told["command"]) == ("beforeShellExecution", "ls")
    assert Path(f"{seen}.env").read_text().strip() == str(Path.cwd())


def test_json_answers_are_translated(hookline, tmp_path):
    answer = json.dumps({"permission": "deny", "agent_message": "By hand."})
    value = {"hooks": {"beforeShellExecution": [{"matcher": "git push", "command": f"echo '{answer}'"}]}}
    (command,) = commands(convert(hookline, "cursor", "claude_code", value).stdout, "claude_code")
    payload = {
        "session_id": "s",
        "cwd": str(Path.cwd()),
        "tool_name": "Bash",
        "tool_input": {"command": "git push"},
    }
    told = json.loads(run(command, payload, tmp_path).stdout)["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert told["permissionDecisionReason"].startswith("By hand.")
    payload["tool_input"] = {"command": "git status"}  # the matcher is about the command
    assert run(command, payload, tmp_path).stdout == ""


def test_hook_keeps_its_time_where_the_other_agent_gives_less(hookline):
    value = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    result = convert(hookline, "claude_code", "copilot_cli", value)
    (entry,) = json.loads(result.stdout)["hooks"]["preToolUse"]
    assert entry["timeoutSec"] > 600
    assert f"--timeout={entry['timeoutSec']}" in entry["bash"]


def test_what_the_other_agent_cannot_be_told_is_said(hookline):
    value = {"hooks": {"stop": [{"command": "./done.sh"}]}}
    result = convert(hookline, "cursor", "windsurf", value)
    assert result.exit_code == 1
    assert "that it can block: Windsurf does not let hooks do that at post_cascade_response" in result.stderr
    assert commands(result.stdout, "windsurf")


def test_hook_that_the_agent_does_not_wait_for_is_waited_for_where_it_must(hookline):
    value = {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "./log.sh", "async": True}]}]}}
    result = convert(hookline, "claude_code", "cursor", value)
    assert "that the agent does not wait for it" in result.stderr
    assert commands(result.stdout, "cursor")


def test_user_command_runs_beside_its_own_file(hookline, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".cursor" / "hooks.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"version": 1, "hooks": {"beforeShellExecution": [{"command": "pwd > where"}]}}))
    (command,) = commands(hookline("convert", str(file), "--to", "claude_code").stdout, "claude_code")
    payload = {
        "session_id": "s",
        "cwd": str(Path.cwd()),
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    }
    run(command, payload, tmp_path)
    assert (file.parent / "where").read_text().strip() == str(file.parent)


@pytest.mark.parametrize("source", ["copilot_cli", "cursor"])
def test_guard_holds_in_a_manifest(hookline, tmp_path, source):
    """The format leaves stdin to the agent; hookline and many agents give Claude Code's."""
    result = convert(hookline, source, "hook_interchange")
    assert result.exit_code == 1
    assert result.stderr.count("that it works in agents whose input for hooks is not Claude Code's") == 1
    (written,) = json.loads(result.stdout)["hooks"]
    assert (written["event"], written["blocking"]) == ("before_tool_execute", True)
    (command,) = commands(result.stdout, "hook_interchange")
    assert command.endswith(" || exit 2")  # without hookline, nothing runs
    _, payload = get_agent("claude-code").sample_call(str(Path.cwd()))
    reply = run(command, payload, tmp_path)
    event = get_agent("claude-code").read("PreToolUse", payload).events[0]
    finished = ProgramResult(reply.exit_code, reply.stdout, reply.stderr)
    decided = ResultParser(ResultFormat.INTERCHANGE).parse(finished, event)
    assert (decided.verdict, decided.reason.startswith("Never.")) == (Verdict.DENY, True)


def test_every_hook_of_cursor_is_written_into_a_manifest(hookline):
    events = cursor.FORMAT.events
    value = {"version": 1, "hooks": {name: [{"command": "./hook.sh"}] for name in events}}
    written = commands(convert(hookline, "cursor", "hook_interchange", value).stdout, "hook_interchange")
    assert {name for name in events if any(f'"{name}"' in command for command in written)} == set(events)


def test_what_a_manifest_can_say_itself_needs_no_hookline(hookline):
    (command,) = commands(convert(hookline, "codex", "hook_interchange").stdout, "hook_interchange")
    assert command == GUARD


def test_what_claude_code_can_say_of_a_manifest_needs_no_hookline(hookline):
    (command,) = commands(convert(hookline, "a manifest", "claude_code").stdout, "claude_code")
    assert command == GUARD


@pytest.mark.parametrize("strategy", ["block", "exclude"])
def test_hook_of_a_manifest_that_may_not_lose_anything_is_adapted(hookline, strategy):
    value = {"spec": "hooks/0.1", "hooks": [{**MANIFEST["hooks"][0], "degradation": {"input_rewrite": strategy}}]}
    (command,) = commands(convert(hookline, "a manifest", "claude_code", value).stdout, "claude_code")
    assert command.startswith("hookline adapt claude-code PreToolUse hook_interchange ")


@pytest.mark.parametrize("target", ["codex", "cursor"])
def test_hook_on_two_tools_that_are_one_in_the_other_agent_runs_once(hookline, target):
    groups = [{**GROUPED, "matcher": tool} for tool in ("Write", "Edit")]
    two = {"spec": "hooks/0.1", "hooks": [{**MANIFEST["hooks"][0], "matcher": ["file_write", "file_edit"]}]}
    for source, value in (("claude_code", {"hooks": {"PreToolUse": groups}}), ("a manifest", two)):
        assert len(commands(convert(hookline, source, target, value).stdout, target)) == 1


def test_hooks_of_other_dialects_are_not_adapted(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: a, on: tool.before, then: {deny: no}}]\n")
    result = hookline("convert", "hookline.yaml", "--to", "claude_code")
    assert (result.exit_code, json.loads(result.stdout)) == (1, {"hooks": {}})
