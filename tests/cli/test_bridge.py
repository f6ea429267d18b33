"""The command as an agent runs it, deciding in its own process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.scripted_project import trust_project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="coding agents cannot call hookline on Windows"),
]


def payload(project: Path, command: str) -> str:
    tool = {"tool_name": "Bash", "tool_input": {"command": command}}
    return json.dumps({"session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", **tool})


@pytest.fixture
def guarded(project: Path) -> Path:
    (project / "hookline.yaml").write_text(
        "hooks: [{id: no-rm, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {deny: Never.}}]"
    )
    trust_project(project)
    return project


def test_a_denied_call_is_answered_in_the_agents_own_protocol(guarded, process):
    ended = process("bridge", "claude-code", "PreToolUse", "--direct", input=payload(guarded, "rm x"))
    answer = json.loads(ended.stdout)["hookSpecificOutput"]
    assert (answer["permissionDecision"], ended.returncode) == ("deny", 0)
    assert "Never." in answer["permissionDecisionReason"]


def test_a_call_that_no_hook_matches_gets_no_verdict(guarded, process):
    ended = process("bridge", "claude-code", "PreToolUse", "--direct", input=payload(guarded, "ls"))
    assert ended.returncode == 0
    assert "permissionDecision" not in ended.stdout


@pytest.fixture
def full_disk(guarded):
    """After the project was written."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize(("line", "reason"), [("rm x", "Never."), ("ls", "")])
def test_a_full_disk_costs_the_log_and_the_record_and_no_decision(guarded, process, line, reason):
    ended = process("bridge", "claude-code", "PreToolUse", "--direct", input=payload(guarded, line))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert reason in ended.stdout
    assert ("permissionDecision" in ended.stdout) == bool(reason)


def test_both_names_are_required(hookline):
    result = hookline("bridge", "claude-code")
    assert result.exit_code != 0
    assert "EVENT" in result.stderr
