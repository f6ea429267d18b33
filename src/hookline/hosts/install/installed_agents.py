"""Which coding agents are on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

from hookline.hosts.install.machine import Machine
from hookline.hosts.install.setups import AGENT_SETUPS


def find_program(agent: str, machine: Machine) -> Path | None:
    """The agent's own program, as a shell would find it."""
    path = machine.environ.get("PATH", "")
    found = (shutil.which(name, path=path) for name in AGENT_SETUPS[agent].programs)
    return next((Path(each) for each in found if each), None)


def is_agent_present(agent: str, machine: Machine) -> bool:
    """True if its program is on the PATH, or the user has a directory of its."""
    return find_program(agent, machine) is not None or any(home.is_dir() for home in AGENT_SETUPS[agent].homes(machine))
