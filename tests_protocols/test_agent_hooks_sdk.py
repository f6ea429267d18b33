"""AGENT-HOOKS 0.1 with its published SDK: hookline's interceptor in the SDK's own emitter, which checks every verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PYTHON = HERE.parent / ".cache" / "protocols" / "python" / "bin" / "python"
RULES = """
hooks:
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: all-files, on: tool.before, when: {input: {command: '^ls$'}}, then: {set: {input.command: ls -a}}}
  - {id: no-key, on: tool.after, when: {result: KEY}, then: {replace: {in: result, pattern: KEY, with: '***'}}}
"""

pytestmark = pytest.mark.skipif(not PYTHON.is_file(), reason="`make test-protocols` installs the SDK from PyPI")


def test_a_host_obeys_hookline_s_interceptor(tmp_path: Path) -> None:
    (tmp_path / "hookline.yaml").write_text(RULES)
    (packages,) = PYTHON.parents[1].glob("lib/python*/site-packages")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(packages)}
    command = [sys.executable, str(HERE / "agent_hooks_host.py"), "hookline.yaml"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"blocked": "Never. (hook no-rm, hookline.yaml:3)", "liftable": False},
        {"runs": "ls -a"},
        {"blocked": "Really? (hook ask-push, hookline.yaml:4)", "liftable": True},
        {"runs": "pwd"},
        {"result": "a ***"},
        {"host_errors": 0},
    ]
