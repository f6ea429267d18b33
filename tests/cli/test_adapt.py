"""`hookline adapt`, as an agent calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HOOKS = {"hooks": {"beforeShellExecution": [{"command": "grep -q rm && echo Never. >&2 && exit 2; true"}]}}


def adapt(
    home: Path, payload: str, hooks: object = HOOKS, event: str = "PreToolUse"
) -> subprocess.CompletedProcess[str]:
    arguments = ["adapt", "claude-code", event, "cursor", json.dumps(hooks)]
    return subprocess.run(
        [sys.executable, "-m", "hookline", *arguments],
        input=payload,
        capture_output=True,
        text=True,
        cwd=home,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        timeout=60,
        check=False,
    )


def payload(home: Path, command: str) -> str:
    return json.dumps({"session_id": "s", "cwd": str(home), "tool_name": "Bash", "tool_input": {"command": command}})


def test_answers_in_the_words_of_the_agent(tmp_path):
    denied, passed = adapt(tmp_path, payload(tmp_path, "rm x")), adapt(tmp_path, payload(tmp_path, "ls"))
    assert json.loads(denied.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (passed.stdout, passed.stderr, passed.returncode) == ("", "", 0)


def test_records_nothing(tmp_path):
    adapt(tmp_path, payload(tmp_path, "rm x"))
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    "hooks", [{"hooks": {}}, {"hooks": {"beforeShellExecution": [{"command": 3}]}}, {"hooks": 1}, []]
)
def test_hooks_that_cannot_be_read_block_the_tool(tmp_path, hooks):
    ended = adapt(tmp_path, payload(tmp_path, "ls"), hooks)
    assert (ended.stdout, ended.returncode) == ("", 2)
    assert "hookline could not decide" in ended.stderr


def test_unreadable_payload_blocks_the_tool(tmp_path):
    ended = adapt(tmp_path, "no json")
    assert json.loads(ended.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_unknown_event_is_an_error(tmp_path):
    ended = adapt(tmp_path, payload(tmp_path, "ls"), event="PreToolUs")
    assert ended.returncode != 0  # and so `|| exit 2` blocks the tool
    assert "'PreToolUs' is not an event of claude-code" in ended.stderr
