"""Runs an agent on a script of shell commands, in a sandbox."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents import Agent, Sandbox

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.fake_model import ModelServer, ReceivedRequest
from hookline.hosts.doctor.probe import communicate

HOOKS: Final = Path(__file__).parent / "hookline.yaml"
SCRIPT: Final = {
    "denied": "echo secret > denied.txt",
    "changed": "echo plain > changed.txt",
    "noted": "echo noted > noted.txt",
    "reported": "echo reported > reported.txt",
    "passed": "echo passed > passed.txt",
}
HOOKLINE: Final = (str(Path(sys.executable).parent / "hookline"),)
RUN_TIMEOUT: Final = 240  # seconds; more on a busy machine
_CLOSED_PROXY: Final = "http://127.0.0.1:9"  # no server listens there


@dataclass(frozen=True)
class AgentRun:
    """The result of one run of the script."""

    files: Mapping[str, str]  # what each command wrote
    requests: tuple[ReceivedRequest, ...]
    neighbour: bool  # the hook that the user already had was run
    output: str
    exit_code: int
    steps: tuple[str, ...] = tuple(SCRIPT)  # in the order in which the model asked for them

    def known_after(self, step: str) -> str:
        """Everything that the model knows when it gets the result of that step's command."""
        results = self.steps.index(step) + 1
        return next((request.text for request in self.requests if len(request.results) == results), "")

    def result(self, step: str) -> str:
        """The result of that step's command, as the model gets it."""
        number = self.steps.index(step)
        return next((str(request.results[number]) for request in self.requests if len(request.results) > number), "")


def steps_of(agent: Agent) -> tuple[str, ...]:
    """The steps of the script. The one that is denied is the last if the agent ends there."""
    return tuple(sorted(SCRIPT, key="denied".__eq__)) if agent.deny_ends_run else tuple(SCRIPT)


def run(agent: Agent, sandbox: Sandbox, model: ModelServer) -> AgentRun:
    """Returns the files that the run wrote, and removes them."""
    model.requests.clear()
    start = get_agent(agent.name).headless_run(model.url, sandbox.home)
    assert start is not None
    done = _run_process([*agent.command, *start.arguments], sandbox, start.environment)
    files = {step: sandbox.project / f"{step}.txt" for step in SCRIPT}
    written = {step: file.read_text("utf-8").strip() for step, file in files.items() if file.exists()}
    for file in files.values():
        file.unlink(missing_ok=True)
    neighbour = sandbox.home / "neighbour"
    neighbour_ran = neighbour.exists()
    neighbour.unlink(missing_ok=True)
    output = done.stdout + done.stderr
    return AgentRun(written, tuple(model.requests), neighbour_ran, output, done.returncode, steps_of(agent))


def hookline(sandbox: Sandbox, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the `hookline` command in the project."""
    done = _run_process([*HOOKLINE, *arguments], sandbox, {})
    if done.returncode != 0:
        raise AssertionError(
            f"hookline {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done


def run_doctor(agent: Agent, sandbox: Sandbox) -> dict[str, Any]:
    """The findings of `hookline doctor`, with the agent on the PATH."""
    programs = sandbox.root / "bin"
    programs.mkdir()
    file = programs / get_agent(agent.name).programs[0]
    file.write_text(f'#!/bin/sh\nexec {shlex.join(agent.command)} "$@"\n', "utf-8")
    file.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = _run_process([*HOOKLINE, "doctor", agent.name, "--json"], sandbox, {"PATH": path})
    (diagnosis,) = json.loads(done.stdout)["agents"]
    return {finding["about"]: finding for finding in diagnosis["findings"]}


def end_engine(sandbox: Sandbox) -> None:
    """Ends the engine that the agent's first hook started, unless it has ended: that of `doctor` does so by itself."""
    path = sandbox.home / ".local/state/hookline/run/engine.sock"
    if not path.exists() or not hasattr(socket, "SO_PEERCRED"):
        return
    folder = os.open(path.parent, os.O_RDONLY)
    with suppress(FileNotFoundError, ProcessLookupError), socket.socket(socket.AF_UNIX) as engine:
        engine.connect(f"/proc/self/fd/{folder}/{path.name}")  # the path itself may be longer than a socket's may be
        process, _, _ = struct.unpack("3i", engine.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        os.kill(process, signal.SIGTERM)
    os.close(folder)


def new_sandbox(root: Path) -> Sandbox:
    sandbox = Sandbox(root)
    sandbox.home.mkdir(parents=True)
    sandbox.project.mkdir()
    shutil.copy(HOOKS, sandbox.project)
    subprocess.run(["git", "init", "--quiet", sandbox.project], check=True, env=_environment(sandbox))
    return sandbox


def _run_process(command: list[str], sandbox: Sandbox, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Kills the process with everything it started if it takes too long."""
    process = subprocess.Popen(
        command,
        cwd=sandbox.project,
        env={**_environment(sandbox), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        stdout, stderr = communicate(process, RUN_TIMEOUT)
    except subprocess.TimeoutExpired as expired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        stderr += f"\nkilled after {expired.timeout:.0f} seconds"
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _environment(sandbox: Sandbox) -> dict[str, str]:
    """Without the user's own settings, and with a closed proxy."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(sandbox.home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "HTTP_PROXY": _CLOSED_PROXY,
        "HTTPS_PROXY": _CLOSED_PROXY,
        "NO_PROXY": "127.0.0.1,localhost",
    }
