"""Which coding agents are on a machine."""

from __future__ import annotations

from pathlib import Path

from hookline.hosts.agents import get_agent
from hookline.hosts.agents.machine import Machine
from hookline.hosts.install.installed_agents import find_program, is_agent_present

CLAUDE = get_agent("claude-code")


def machine(root: Path) -> Machine:
    (root / "home").mkdir()
    (root / "bin").mkdir()
    return Machine(root / "home", root / "project", {"PATH": str(root / "bin")})


def test_an_agent_is_present_by_its_program(tmp_path: Path) -> None:
    here = machine(tmp_path)
    program = tmp_path / "bin" / CLAUDE.programs[0]
    program.write_text("#!/bin/sh\n")
    assert not is_agent_present(CLAUDE, here)
    program.chmod(0o755)
    assert find_program(CLAUDE, here) == program
    assert is_agent_present(CLAUDE, here)


def test_an_agent_is_present_by_its_directory(tmp_path: Path) -> None:
    here = machine(tmp_path)
    assert not is_agent_present(CLAUDE, here)
    (here.home / ".claude").mkdir()
    assert find_program(CLAUDE, here) is None
    assert is_agent_present(CLAUDE, here)


def test_without_a_path_no_program_is_found(tmp_path: Path) -> None:
    assert find_program(CLAUDE, Machine(tmp_path, tmp_path)) is None
