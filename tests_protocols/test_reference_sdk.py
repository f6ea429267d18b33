"""The Agent Hooks Protocol with its reference SDK at the other end: its harness asks hookline, hookline asks its backend.

The SDK validates every message with the protocol's own schemas.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PYTHON = HERE.parent / ".cache" / "protocols" / "python" / "bin" / "python"
HOOKLINE = [sys.executable, "-m", "hookline"]
RULES = """
hooks:
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: all-files, on: tool.before, when: {input: {command: '^ls$'}}, then: {set: {input.command: ls -a}}}
"""
CALL = {"name": "bash", "input": {"command": "pwd"}}

pytestmark = pytest.mark.skipif(not PYTHON.is_file(), reason="`make test-protocols` installs the SDK from PyPI")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("home", "run", "p"):
        (tmp_path / name).mkdir(mode=0o700)
    return tmp_path / "p"


def run(project: Path, *command: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    root = project.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root / "run")}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=project, env={**environment, **more}, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("subscribe", ["yes", ""], ids=["registered", "by-default"])
def test_the_reference_harness_obeys_hookline(project: Path, subscribe: str) -> None:
    (project / "hookline.yaml").write_text(RULES)
    run(project, *HOOKLINE, "trust", "--yes")
    done = run(project, PYTHON, HERE / "reference_harness.py", *HOOKLINE, "ahp", SUBSCRIBE=subscribe)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"permission": "deny", "input": {"command": "rm -rf /"}, "diagnostics": 0},
        {"permission": "none", "input": {"command": "ls -a"}, "diagnostics": 0},
        {"permission": "ask", "input": {"command": "git push"}, "diagnostics": 0},
        {"permission": "none", "input": {"command": "pwd"}, "diagnostics": 0},
    ]


@pytest.mark.parametrize(
    ("event", "facts", "expected"),
    [
        ("tool.before", {"tool": {"name": "bash", "input": {"command": "rm x"}}}, "deny: No rm."),
        ("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}}, '"ls" → "ls -a"'),
        ("tool.before", {"tool": {"name": "mcp__github__create_issue", "input": {}}}, "silent"),
        ("tool.after", {"tool": {**CALL, "result": "/", "ok": True}}, "silent"),
        ("tool.after", {"tool": {**CALL, "error": "no", "ok": False}}, "silent"),
        ("approval.request", {"tool": CALL, "approval": {"reason": "x"}}, "silent"),
        ("prompt.submit", {"prompt": "my secret"}, "deny: No secrets."),
        ("prompt.submit", {"prompt": "hi"}, "silent"),
        ("stop", {}, "deny: Run the tests."),
        ("session.start", {"session": {"source": "resume"}}, "silent"),
        ("history.compact", {"trigger": "manual"}, "silent"),
        ("session.end", {"session": {"reason": "logout"}}, "silent"),
        ("model.error", {"error": {"code": "429", "message": "slow"}}, "silent"),
    ],
)
def test_hookline_obeys_the_reference_backend(project: Path, event: str, facts: dict[str, Any], expected: str) -> None:
    backend = json.dumps([str(PYTHON), str(HERE / "reference_backend.py")])
    (project / "policy.yaml").write_text(
        f"hooks: [{{id: policy, on: {event}, then: {{ahp: {backend}}}, timeout: 60s, on_error: tell}}]"
    )
    done = run(project, *HOOKLINE, "fire", event, "--config", "policy.yaml", "--facts", json.dumps(facts))
    assert expected in done.stdout, done.stdout + done.stderr
    assert "failed" not in done.stdout
    assert "note" not in done.stdout  # of a failure
    observed = project / "observed"
    assert observed.is_file() is (event in ("session.end", "model.error"))
