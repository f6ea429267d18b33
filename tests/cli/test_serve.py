"""The engine that the command starts, and how it ends."""

from __future__ import annotations

import sys
import tempfile

import pytest

from install_sandbox import running_engine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="hookline serve does not work on Windows"),
]


def test_an_idle_engine_ends_by_itself(process, monkeypatch):
    with tempfile.TemporaryDirectory(prefix="hl-") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        ended = process("serve", "--idle", "0.2")
    assert (ended.returncode, "already running" in ended.stderr) == (0, False)


def test_a_second_engine_says_that_one_is_running(project, process, monkeypatch):
    with running_engine(project.parent / "home") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        ended = process("serve", "--idle", "0.2")
    assert (ended.returncode, ended.stderr) == (0, "hookline: an engine is already running\n")


def test_the_idle_time_has_a_minimum(hookline):
    result = hookline("serve", "--idle", "0")
    assert result.exit_code != 0
    assert "--idle" in result.stderr
