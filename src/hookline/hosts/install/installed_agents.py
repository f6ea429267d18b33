"""Which coding agents are on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.machine import Machine


def find_program(agent: CodingAgent, machine: Machine) -> Path | None:
    """The agent's program on the PATH."""
    path = machine.environ.get("PATH", "")
    found = (shutil.which(name, path=path) for name in agent.programs)
    return next((Path(each) for each in found if each), None)


def is_agent_present(agent: CodingAgent, machine: Machine) -> bool:
    """True if its program is on the PATH, or the user has one of its directories."""
    return find_program(agent, machine) is not None or any(home.is_dir() for home in agent.home_directories(machine))
