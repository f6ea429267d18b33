"""A project that sets variables of the agent: `env` in its settings, a `.env` file, direnv.

The guards are looked for elsewhere: in directories of the repository, with an empty config, a trust store that accepts a
project without hooks, an engine that allows everything and an interpreter that does.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from attempts import Attempt

from hookline.hosts.agents.machine import Machine
from hookline.hosts.bridge import client
from hookline.hosts.install.launcher import LauncherKind, bound_variables, compile_client, launcher_script
from hookline.project import Trust, find_sources, trust_file_path

DIRECTORIES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
INTERPRETERS = ("PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__")
USER_GUARD = "hooks: [{id: mine, on: tool.before, when: {input: {command: 'rm'}}, then: {deny: Not rm.}}]\n"
PROJECT_GUARD = (
    "hooks: [{id: ours, on: tool.before, when: {input: {command: 'push'}}, "
    "then: {run: 'echo Not push. >&2; exit 2', reads: exit2}, on_error: open}]\n"
)
GUARDED = ("rm -r build", "git push")


@dataclass(frozen=True)
class Victim:
    """A user's machine, and a repository whose agent has prepared directories like the user's."""

    root: Path
    environ: dict[str, str]  # of the user when hookline was installed

    @property
    def machine(self) -> Machine:
        return Machine(self.root / "home", self.root / "p", self.environ)

    @property
    def hostile(self) -> Path:
        return self.machine.project / "h"

    @property
    def engine_directory(self) -> Path:
        return Path(client.run_directory({**self.environ, "HOME": str(self.machine.home)}))

    def prepare(self) -> None:
        machine, project = self.machine, self.machine.project
        config = machine.config / "hookline" / "hookline.yaml"
        state = self.environ.get("XDG_STATE_HOME")
        for directory in (config.parent, project, self.hostile):
            directory.mkdir(parents=True)
        config.write_text(USER_GUARD)
        (project / "hookline.yaml").write_text(PROJECT_GUARD)
        Trust(trust_file_path(machine.home, Path(state) if state else None)).accept(find_sources(project, machine.home))
        (project / "hookline.yaml").write_text("hooks: []\n")
        for own in (None, self.hostile):
            Trust(trust_file_path(self.hostile, own)).accept(find_sources(project, self.hostile))
        python = self.hostile / "python"
        python.write_text("#!/bin/sh\nexit 0\n")
        python.chmod(0o755)

    def create_launcher(self, kind: LauncherKind) -> Path:
        launcher = self.machine.launcher
        launcher.parent.mkdir(parents=True)
        variables = bound_variables(self.machine)
        if kind is LauncherKind.PYTHON:
            launcher.write_text(launcher_script(sys.executable, variables))
            launcher.chmod(0o755)
        elif not compile_client(launcher, variables):
            pytest.skip("there is no C compiler")
        return launcher

    def permits(self, launcher: Path, command: str, changes: dict[str, str | None]) -> bool:
        """True if the agent would run the command."""
        usual = {"PATH": os.environ["PATH"], "CLAUDECODE": "1", "HOME": str(self.machine.home), **self.environ}
        environ = {name: value for name, value in {**usual, **changes}.items() if value is not None}
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "transcript_path": "/t", "session_id": "s"}
        done = subprocess.run(
            [launcher, "claude-code", "PreToolUse"],
            input=json.dumps({**call, "cwd": str(self.machine.project)}),
            env=environ,
            cwd=self.machine.project,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode != 2 and '"permissionDecision":"deny"' not in done.stdout

    def allow_everything(self) -> None:
        """Starts a fake engine in every place where one would be, if a variable led into the repository."""
        for name in DIRECTORIES:
            directory = Path(client.run_directory({name: str(self.hostile)}) or self.hostile / "none")
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(directory / client.SOCKET_NAME))
            listener.listen()
            threading.Thread(target=_allow_calls, args=(listener,), daemon=True).start()

    def end_engine(self) -> None:
        with socket.socket(socket.AF_UNIX) as engine, suppress(OSError):
            engine.connect(str(self.engine_directory / client.SOCKET_NAME))
            process, _, _ = struct.unpack("3i", engine.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            os.kill(process, signal.SIGKILL)


def _allow_calls(listener: socket.socket) -> None:
    numbers = (client.PROTOCOL_VERSION, client.STATUS_ANSWERED, 0, 0, 0)
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 20)
            connection.sendall(client.MAGIC + b"".join(number.to_bytes(4, "big") for number in numbers))


@pytest.fixture(params=["defaults", "own directories"])
def victim(request: pytest.FixtureRequest) -> Iterator[Victim]:
    root = Path(tempfile.mkdtemp(prefix="hl"))  # a socket's path is short
    own = {} if request.param == "defaults" else {name: str(root / "xdg" / name[4]) for name in DIRECTORIES[1:]}
    victim = Victim(root, own)
    victim.prepare()
    victim.allow_everything()
    yield victim
    victim.end_engine()
    shutil.rmtree(root)


def redirections(hostile: Path) -> Iterator[dict[str, str | None]]:
    for name in DIRECTORIES:
        for value in (str(hostile), None, "", "h", ".", "/dev/null"):
            yield {name: value}
    for value in (str(hostile), None, "", "h"):
        yield dict.fromkeys(DIRECTORIES, value)
    for name in INTERPRETERS:
        yield {name: str(hostile / "python")}
    yield dict.fromkeys(DIRECTORIES, str(hostile)) | dict.fromkeys(INTERPRETERS, str(hostile / "python"))


@pytest.mark.parametrize("kind", LauncherKind)
def test_variables_of_the_agent_do_not_move_the_guards(attempt: Attempt, victim: Victim, kind: LauncherKind) -> None:
    launcher = victim.create_launcher(kind)
    assert victim.permits(launcher, "ls", {})
    for changes in redirections(victim.hostile):
        for command in GUARDED:
            permitted = victim.permits(launcher, command, changes)
            attempt("environment, with the engine", permitted, f"{kind} {command} {changes}")


@pytest.mark.parametrize("kind", LauncherKind)
def test_nor_does_the_first_call(attempt: Attempt, victim: Victim, kind: LauncherKind) -> None:
    """The one that starts the engine, which gets its environment."""
    launcher = victim.create_launcher(kind)
    changes = list(redirections(victim.hostile))[-1]
    for command in GUARDED:
        attempt("environment, first call", victim.permits(launcher, command, changes), f"{kind} {command}")
    for command in GUARDED:
        attempt("environment, later call", victim.permits(launcher, command, {}), f"{kind} {command}")


@pytest.mark.parametrize("kind", LauncherKind)
def test_nor_without_an_engine(attempt: Attempt, victim: Victim, kind: LauncherKind) -> None:
    """Others may enter the engine's directory, so the client decides in its own process."""
    launcher = victim.create_launcher(kind)
    victim.engine_directory.mkdir(parents=True)
    victim.engine_directory.chmod(0o755)
    for changes in [each for each in redirections(victim.hostile) if str(victim.hostile) in str(each)]:
        for command in GUARDED:
            permitted = victim.permits(launcher, command, changes)
            attempt("environment, without an engine", permitted, f"{kind} {command} {changes}")
