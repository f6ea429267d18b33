"""AGENT-HOOKS 0.1 with its published SDK: hookline's interceptor in its emitter, and hookline's agent under its test kit."""

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
RULES = """
hooks:
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: all-files, on: tool.before, when: {input: {command: '^ls$'}}, then: {set: {input.command: ls -a}}}
  - {id: no-key, on: tool.after, when: {result: KEY}, then: {replace: {in: result, pattern: KEY, with: '***'}}}
"""

pytestmark = pytest.mark.skipif(not PYTHON.is_file(), reason="`make test-protocols` installs the SDK from PyPI")


def run_with_sdk(directory: Path, *command: str) -> list[Any]:
    (packages,) = PYTHON.parents[1].glob("lib/python*/site-packages")
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "PYTHONPATH": str(packages)}
    done = subprocess.run(
        [sys.executable, *command], cwd=directory, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_host_obeys_hookline_s_interceptor(tmp_path: Path) -> None:
    (tmp_path / "hookline.yaml").write_text(RULES)
    assert run_with_sdk(tmp_path, str(HERE / "agent_hooks_host.py"), "hookline.yaml") == [
        {"blocked": "Never. (hook no-rm, hookline.yaml:3)", "liftable": False},
        {"runs": "ls -a"},
        {"blocked": "Really? (hook ask-push, hookline.yaml:4)", "liftable": True},
        {"runs": "pwd"},
        {"result": "a ***"},
        {"host_errors": 0},
    ]


def kit_vectors() -> list[str]:
    files = PYTHON.parents[1].glob("lib/python*/site-packages/agent_hooks/ctk/vectors/AH-CTK-*.json")
    return sorted(json.loads(file.read_text())["id"] for file in files)


@pytest.fixture(scope="module")
def kit_results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What became of each vector of the kit, with hookline's agent as the host."""
    results = run_with_sdk(tmp_path_factory.mktemp("kit"), str(HERE / "agent_hooks_runtime.py"))
    return {result["id"]: result for result in results}


@pytest.mark.parametrize("vector", kit_vectors())
def test_hookline_s_agent_conforms(vector: str, kit_results: dict[str, dict[str, str]]) -> None:
    result = kit_results[vector]
    if result["status"] == "skip":
        pytest.skip(f"{vector}: {result['why']}")
    assert result["status"] == "pass", result["why"]


def test_only_vectors_for_incremental_output_do_not_apply(kit_results: dict[str, dict[str, str]]) -> None:
    skipped = {id: result["why"] for id, result in kit_results.items() if result["status"] == "skip"}
    assert list(skipped) == ["AH-CTK-110", "AH-CTK-111", "AH-CTK-112", "AH-CTK-113"]
    assert all("incremental_output" in why for why in skipped.values())
    assert len(kit_results) == 75


def test_an_interceptor_that_does_not_answer_in_time_denies(tmp_path: Path) -> None:
    assert run_with_sdk(tmp_path, str(HERE / "agent_hooks_runtime.py"), "slow") == [
        {"outcome": "completed", "calls": [], "reasons": ["host_error:interceptor_timeout"]}
    ]
