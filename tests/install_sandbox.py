"""Install and uninstall on a machine with an empty home and project."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hookline.hosts.agents import get_agent
from hookline.hosts.agents.entries import MissingPolicy
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install.plan import apply_changes, plan_install, plan_uninstall


def make_machine(directory: Path, **environ: str) -> Machine:
    home, project = directory / "home", directory / "project"
    home.mkdir()
    project.mkdir()
    return Machine(home, project, environ)


def install(
    name: str, machine: Machine, scope: InstallScope = InstallScope.USER, missing: MissingPolicy = MissingPolicy.CLOSED
) -> None:
    apply_changes(plan_install(get_agent(name), machine, scope, missing), machine)


def uninstall(name: str, machine: Machine, scope: InstallScope = InstallScope.USER) -> None:
    apply_changes(plan_uninstall(get_agent(name), machine, scope), machine)


def read_files(directory: Path) -> dict[str, bytes]:
    found = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


@contextmanager
def running_engine(home: Path) -> Iterator[str]:
    """A running engine that ends with the test. Yields its XDG_RUNTIME_DIR."""
    code = "from hookline.cli.main import main; main()"
    with tempfile.TemporaryDirectory(prefix="hl-") as runtime:
        environ = {"HOME": str(home), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": runtime}
        with subprocess.Popen([sys.executable, "-c", code, "serve"], env=environ) as process:
            try:
                socket = Path(runtime, "hookline", "engine.sock")
                until = time.monotonic() + 30
                while not socket.exists() and time.monotonic() < until:
                    time.sleep(0.02)
                yield runtime
            finally:
                process.terminate()
