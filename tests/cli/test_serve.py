"""The engine that the command starts, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from install_sandbox import install, make_machine, running_engine, uninstall

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


@pytest.mark.parametrize("option", [["--port", "0"], ["--idle", "5"], ["--detached"]])
def test_an_option_that_the_background_engine_would_not_get_is_refused(option, hookline):
    ended = hookline("serve", "--background", *option)
    assert ended.exit_code == 1
    assert f"--background takes no {option[0]}" in ended.stderr


def test_a_port_that_nobody_would_listen_on_is_an_error(project, process, monkeypatch):
    with running_engine(project.parent / "home") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        ended = process("serve", "--port", "0")
    assert ended.returncode == 1
    assert "already running" in ended.stderr
    assert "does not listen on your --port" in ended.stderr


@contextmanager
def detached_engine(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    code = "from hookline.cli import serve; serve._INSTALL_CHECK_SECONDS = 0.05; from hookline.cli.main import main; main()"
    with tempfile.TemporaryDirectory(prefix="hl-") as runtime:
        environ = {"HOME": str(home), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": runtime}
        with subprocess.Popen([sys.executable, "-c", code, "serve", "--detached"], env=environ) as engine:
            try:
                until = time.monotonic() + 60
                while not Path(runtime, "hookline", "engine.sock").exists() and time.monotonic() < until:
                    time.sleep(0.02)
                yield engine
            finally:
                engine.kill()


def test_a_detached_engine_ends_once_no_agent_calls_it(tmp_path):
    machine = make_machine(tmp_path)
    install("claude-code", machine)
    install("gemini-cli", machine)
    with detached_engine(machine.home) as engine:
        uninstall("claude-code", machine)
        with pytest.raises(subprocess.TimeoutExpired):
            engine.wait(3)
        uninstall("gemini-cli", machine)
        assert engine.wait(60) == 0


def test_a_detached_engine_without_an_agent_stays(tmp_path):
    """A program may have started it, with `serve --background`."""
    machine = make_machine(tmp_path)
    with detached_engine(machine.home) as engine, pytest.raises(subprocess.TimeoutExpired):
        engine.wait(3)


def test_the_idle_time_has_a_minimum(hookline):
    result = hookline("serve", "--idle", "0")
    assert result.exit_code != 0
    assert "--idle" in result.stderr
