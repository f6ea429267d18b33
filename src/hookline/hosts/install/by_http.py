"""HTTP entries instead of commands: where they are refused, and the engine that must be there for them.

An agent cannot start the engine by an HTTP call, nor know whether it is the engine that answers. So a command is the
better entry wherever a millisecond does not count.
"""

from __future__ import annotations

import os
import subprocess
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.agent import CodingAgent
from hookline.hosts.bridge.address import HOST, Address, address_in, choose_address, forget_address
from hookline.hosts.install.command import Form, Missing
from hookline.hosts.install.files import text_of
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import listening, wanted
from hookline.hosts.install.setups import SETUPS
from hookline.hosts.table import NAMES
from hookline.hosts.table import agent as agent_named

_PATIENCE: Final = 20.0  # seconds
_PROXIES: Final = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
_NO_PROXY: Final = ("NO_PROXY", "no_proxy")
NOTHING: Final = "nothing"
"""An event that no agent has: whoever is asked about it answers, and asks no hook."""


def refuse_http(agent: CodingAgent, machine: Machine, scope: Scope) -> None:
    """Raises HooklineError where the token would be read by others, or the agent cannot do it."""
    setup = SETUPS[agent.name]
    if setup.no_http:
        raise HooklineError(f"{agent.title} cannot be told to call hookline by HTTP: {setup.no_http}")
    if scope is Scope.PROJECT:
        raise HooklineError(
            "HTTP hooks need a secret token in the file, and a project's file goes to other people; use --user"
        )
    _refuse_proxy(agent, machine)
    for want in wanted(agent, machine, scope):
        _refuse_repository(want.path, machine)


def _refuse_proxy(agent: CodingAgent, machine: Machine) -> None:
    proxy = next((name for name in _PROXIES if machine.environ.get(name)), None)
    spared = ",".join(machine.environ.get(name, "") for name in _NO_PROXY).replace(" ", "").split(",")
    if proxy is not None and not {HOST, "127.0.0.0/8", "*"} & set(spared):
        raise HooklineError(
            f"{proxy} is set, and {agent.title} would hand the token to that proxy; put {HOST} into NO_PROXY first"
        )


def _refuse_repository(path: Path, machine: Machine) -> None:
    real = Path(os.path.realpath(path))
    if any((parent / ".git").exists() for parent in real.parents):
        raise HooklineError(f"{machine.shown(path)} is in a git repository, where a token must not be; use commands")


def http_form(machine: Machine, missing: Missing, dry_run: bool) -> Form:
    """With an address that is chosen now, if there is none; a dry run chooses none."""
    chosen = address_in(machine.kept) if dry_run else choose_address(machine.kept)
    return Form(missing, chosen or Address(0, "…"))


def wake(agent: str, machine: Machine) -> None:
    """Lets the launcher start the engine that is to be in force now, and end one that is not. Never raises."""
    environ = {**machine.environ, "HOME": str(machine.home)}
    command = [str(machine.launcher), agent, NOTHING]
    try:
        subprocess.run(command, input=b"{}", env=environ, capture_output=True, timeout=_PATIENCE, cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return


def reached(address: Address, agent: str) -> float | str:
    """Milliseconds of one call that asks no hook; or why it is not answered, as text."""
    begun = time.perf_counter()
    try:
        status, said = posted(address, agent, NOTHING, b"{}")
    except (OSError, HTTPException) as error:
        return f"nobody answers at {address.host} ({error})"
    if (status, said) != (200, b"{}"):
        return f"another program than hookline's engine answers at {address.host} (status {status})"
    return (time.perf_counter() - begun) * 1000


def posted(address: Address, agent: str, event: str, payload: bytes) -> tuple[int, bytes]:
    """As an agent calls. Raises OSError or HTTPException."""
    connection = HTTPConnection(HOST, address.port, timeout=_PATIENCE)
    try:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {address.token}"}
        connection.request("POST", f"/hookline/{agent}/{event}", payload, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def forget_unused(machine: Machine) -> None:
    """The address, once no agent calls it any more; then its engine ends by itself."""
    try:
        used = any(listening(agent_named(name), machine) for name in NAMES if not SETUPS[name].no_http)
    except HooklineError:
        return
    if not used:
        forget_address(machine.kept)


def readable_by_others(agent: CodingAgent, machine: Machine) -> Path | None:
    """The user's file of the agent, if others than the user can read the token in it."""
    for want in wanted(agent, machine, Scope.USER):
        if text_of(want.path) is not None and os.stat(want.path).st_mode & 0o077:
            return want.path
    return None
