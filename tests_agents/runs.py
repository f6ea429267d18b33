"""One agent's runs of the same script: before hookline was installed, with it, and after it was taken out."""

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents import Agent, Place

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.fake_model import ModelServer, ReceivedRequest

HOOKS: Final = Path(__file__).parent / "hookline.yaml"
SCRIPT: Final = {
    "denied": "echo secret > denied.txt",
    "changed": "echo plain > changed.txt",
    "noted": "echo noted > noted.txt",
    "reported": "echo reported > reported.txt",
    "passed": "echo passed > passed.txt",
}
HOOKLINE: Final = (str(Path(sys.executable).parent / "hookline"),)
LONGEST: Final = 90  # seconds that one run of an agent may take
_CLOSED: Final = "http://127.0.0.1:9"  # where nobody listens


@dataclass(frozen=True)
class Ran:
    """What came of one run of the script."""

    files: Mapping[str, str]  # what each command wrote
    asked: tuple[ReceivedRequest, ...]
    neighbour: bool  # the hook that the user had before was run
    output: str
    exit_code: int

    def told(self, step: str) -> str:
        """All that the model knew once it had the result of that step's command."""
        results = list(SCRIPT).index(step) + 1
        return next((asked.text for asked in self.asked if len(asked.results) == results), "")

    def result(self, step: str) -> str:
        """The result of that step's command, as the model was told it."""
        number = list(SCRIPT).index(step)
        return next((str(asked.results[number]) for asked in self.asked if len(asked.results) > number), "")


def run(agent: Agent, place: Place, model: ModelServer) -> Ran:
    """What was written is read, and gone when it returns."""
    model.requests.clear()
    start = get_agent(agent.name).headless_run(model.url, place.home)
    assert start is not None
    done = _finished([*agent.command, *start.arguments], place, start.environment)
    files = {step: place.project / f"{step}.txt" for step in SCRIPT}
    written = {step: file.read_text("utf-8").strip() for step, file in files.items() if file.exists()}
    for file in files.values():
        file.unlink(missing_ok=True)
    neighbour = place.home / "neighbour"
    heard = neighbour.exists()
    neighbour.unlink(missing_ok=True)
    return Ran(written, tuple(model.requests), heard, done.stdout + done.stderr, done.returncode)


def hookline(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The real command, as a user in the project types it."""
    done = _finished([*HOOKLINE, *arguments], place, {})
    if done.returncode != 0:
        raise AssertionError(
            f"hookline {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done


def diagnosed(agent: Agent, place: Place) -> dict[str, Any]:
    """What `hookline doctor` says of the agent, which it finds on the PATH by the name that people type."""
    programs = place.root / "bin"
    programs.mkdir()
    file = programs / get_agent(agent.name).programs[0]
    file.write_text(f'#!/bin/sh\nexec {shlex.join(agent.command)} "$@"\n', "utf-8")
    file.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = _finished([*HOOKLINE, "doctor", agent.name, "--json"], place, {"PATH": path})
    (diagnosis,) = json.loads(done.stdout)["agents"]
    return {finding["about"]: finding for finding in diagnosis["findings"]}


def end_engine(place: Place) -> None:
    """The agent's first hook has started one, which would wait for more calls."""
    path = place.home / ".local/state/hookline/run/engine.sock"
    if not path.exists() or not hasattr(socket, "SO_PEERCRED"):
        return
    with socket.socket(socket.AF_UNIX) as engine:
        engine.connect(str(path))
        process, _, _ = struct.unpack("3i", engine.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    os.kill(process, signal.SIGTERM)


def new_place(root: Path) -> Place:
    place = Place(root)
    place.home.mkdir(parents=True)
    place.project.mkdir()
    shutil.copy(HOOKS, place.project)
    subprocess.run(["git", "init", "--quiet", place.project], check=True, env=_environment(place))
    return place


def _finished(command: list[str], place: Place, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Ended with all that it started in its own session, should it take too long."""
    process = subprocess.Popen(
        command,
        cwd=place.project,
        env={**_environment(place), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        stderr += f"\nended after {LONGEST} seconds"
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _environment(place: Place) -> dict[str, str]:
    """Nothing of the user's own, and no way out but to this machine."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place.home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "HTTP_PROXY": _CLOSED,
        "HTTPS_PROXY": _CLOSED,
        "NO_PROXY": "127.0.0.1,localhost",
    }
