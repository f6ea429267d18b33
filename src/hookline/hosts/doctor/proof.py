"""The agent's own program, run against a model on this machine that calls a tool: the only whole proof."""

from __future__ import annotations

from pathlib import Path

from hookline.hosts.doctor.finding import Finding
from hookline.hosts.install.machine import Machine


def prove_with_agent(agent: str, program: Path, machine: Machine) -> Finding | None:
    """None where that cannot be done for this agent."""
    return None
