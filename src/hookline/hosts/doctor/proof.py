"""The agent's own program, run against a model on this machine that calls a tool: the only whole proof.

It gets a home of its own with nothing but our entries in it, so it cannot reach the user's account, history or other
hooks. What it cannot prove is trust that is bound to the user's own files.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hookline.hosts.doctor.finding import Finding, good, problem, unknown
from hookline.hosts.doctor.firing import HOOK
from hookline.hosts.doctor.model_server import Asked, ModelServer
from hookline.hosts.doctor.sample import COMMAND
from hookline.hosts.doctor.unattended import UNATTENDED
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import apply, installing
from hookline.hosts.table import agent as agent_named

_PATIENCE: Final = 60.0  # seconds
_LONGEST: Final = 200
_KEPT: Final = ("PATH", "LANG", "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR")
_NOWHERE: Final = "http://127.0.0.1:9"


def prove_with_agent(agent: str, program: Path, machine: Machine) -> Finding | None:
    """None where that cannot be done for this agent."""
    if agent not in UNATTENDED:
        return None
    reason = f"hookline doctor {secrets.token_hex(8)}"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hookline-doctor-", ignore_cleanup_errors=True) as held:
        there = _machine(Path(held).resolve(), machine)
        (there.project / "hookline.yaml").write_text(HOOK.format(reason=reason), "utf-8")
        with ModelServer([COMMAND]) as model:
            start = UNATTENDED[agent](model.url, there.home)
            apply(installing(agent_named(agent), there, Scope.USER), there)
            said = _said([str(program), *start.arguments], there, {**_environ(there, machine), **start.environment})
            asked = tuple(model.asked)
    return _finding(asked, reason, said, time.monotonic() - begun)


def _machine(directory: Path, machine: Machine) -> Machine:
    """The launcher and the engine are the user's, and all else is empty."""
    home, project = directory / "home", directory / "project"
    state = home / ".local" / "state"
    for made in (state, project):
        made.mkdir(parents=True)
    machine.records.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    (state / "hookline").symlink_to(machine.records.parent)
    data = machine.launcher.parent.parent
    return Machine(home, project, {"XDG_DATA_HOME": str(data), "XDG_STATE_HOME": str(directory / "state")})


def _environ(there: Machine, machine: Machine) -> dict[str, str]:
    """No key, no address and no setting of the user's; whatever is not on this machine is not reached."""
    kept = {name: value for name, value in machine.environ.items() if name in _KEPT}
    closed = {"HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
    return {**kept, **closed, "HOME": str(there.home), "TERM": "xterm-256color"}


def _said(command: list[str], there: Machine, environ: Mapping[str, str]) -> str:
    """What it printed. When its time is up, it is ended with all that it started."""
    try:
        process = subprocess.Popen(
            command,
            cwd=there.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return f"it cannot be run: {error.strerror}"
    try:
        return process.communicate(timeout=_PATIENCE)[0]
    except subprocess.TimeoutExpired:
        return f"it did not end within {_PATIENCE:.0f} seconds"
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _finding(asked: tuple[Asked, ...], reason: str, said: str, seconds: float) -> Finding:
    results = next((each.results for each in asked if each.results), None)
    if results is None:
        last = (said.strip().splitlines() or ["it said nothing"])[-1]
        return unknown("proof", f"the agent could not be run without a person: {last[:_LONGEST]}")
    if reason in str(results):
        return good("proof", f"the agent itself was run, and obeyed a hook that denies, in {seconds:.1f} s")
    return problem(
        "proof",
        f"the agent itself was run, and a hook that denies was not obeyed: {str(results)[:_LONGEST]}",
        "do not rely on hooks in this version of the agent; install one that hookline was seen to work with",
    )
