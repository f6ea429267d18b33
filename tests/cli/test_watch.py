"""`hookline watch` on a real terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from hookline.cli.main import cli
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory

from .recorded_events import record_a_few

pytest.importorskip("textual", reason="hookline[watch] is not installed")


def test_a_pipe_is_no_screen(project: Path) -> None:
    result = CliRunner().invoke(cli, ["watch"])
    assert result.exit_code == 1
    assert "log --follow" in result.stderr


@pytest.mark.slow
def test_a_terminal_shows_decisions_until_q(project: Path) -> None:
    home = project.parent / "watch-home"
    home.mkdir()
    recorder = Recorder(record_directory(home / ".local/state/hookline"))
    record_a_few(recorder)
    main, terminal = pty.openpty()
    env = {**os.environ, "HOME": str(home), "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "30"}
    argv = [sys.executable, "-m", "hookline", "watch"]
    process = subprocess.Popen(argv, stdin=terminal, stdout=terminal, stderr=terminal, env=env, cwd=project)
    os.close(terminal)
    try:
        assert _read_until(main, b"no-rm")
        os.write(main, b"q")
        _read_until(main, b"\0never")
        assert process.wait(20) == 0
    finally:
        process.kill()
        os.close(main)


def _read_until(terminal: int, wanted: bytes) -> bool:
    """False if the process ended without it."""
    seen, deadline = b"", time.monotonic() + 30
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            try:
                seen += os.read(terminal, 65_536)
            except OSError:  # the other end is closed
                return False
        if wanted in seen:
            return True
    return False
