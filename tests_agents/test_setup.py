"""From the package to an agent that obeys the recommended pack, with three commands, as a new user types them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from agents import AGENTS, Sandbox
from runs import end_engine

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.fake_model import ModelServer

WHEELS = list((Path(__file__).parent.parent / ".cache/dist").glob("hookline-*.whl"))
CLAUDE = next(agent for agent in AGENTS if agent.name == "claude-code")
DELETE, LIST = "rm -fr precious", "ls > listed.txt"


@pytest.fixture
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """An empty home, a project with a directory in it, and Claude Code on the PATH."""
    sandbox = Sandbox(tmp_path_factory.mktemp("new"))  # a socket's path is short
    sandbox.home.mkdir()
    (sandbox.project / "precious").mkdir(parents=True)
    program = sandbox.root / "bin/claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(CLAUDE.command)} "$@"\n', "utf-8")
    program.chmod(0o755)
    return sandbox


def _call(sandbox: Sandbox, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(sandbox.root / "venv/bin"), str(sandbox.root / "bin"), os.environ["PATH"]])
    environ = {"PATH": path, "HOME": str(sandbox.home), "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1", **environment}
    return subprocess.run(
        [shutil.which(command[0], path=path) or command[0], *command[1:]],
        cwd=sandbox.project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def _make_environment(venv: Path) -> None:
    """The network is closed, so what the package requires comes from the environment of the tests."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=120)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "requirements.pth").write_text(sysconfig.get_path("purelib"), "utf-8")


@pytest.mark.skipif(not WHEELS, reason="there is no wheel; run make test-agents")
def test_three_commands_from_the_package_to_an_agent_that_obeys(sandbox: Sandbox) -> None:
    _make_environment(sandbox.root / "venv")
    (wheel,) = WHEELS
    installed = _call(sandbox, "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    assert installed.returncode == 0, installed.stderr
    setup = _call(sandbox, "hookline", "setup", "--yes")
    assert setup.returncode == 0, setup.stdout + setup.stderr
    assert "ok  proof: the agent itself ran" in setup.stdout
    with ModelServer([DELETE, LIST]) as model:
        start = get_agent(CLAUDE.name).headless_run(model.url, sandbox.home)
        assert start is not None
        ran = _call(sandbox, "claude", *start.arguments, **start.environment)
        results = model.requests[-1].results
    end_engine(sandbox)
    assert (sandbox.project / "precious").is_dir(), ran.stdout
    assert (sandbox.project / "listed.txt").exists(), ran.stdout + ran.stderr
    assert "Deleting a directory and everything in it is not allowed here" in str(results[0])
