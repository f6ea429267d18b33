"""A machine with an empty home and project of its own."""

from __future__ import annotations

from pathlib import Path

from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import apply, installing, uninstalling
from hookline.hosts.table import agent


def machine_in(directory: Path, **environ: str) -> Machine:
    home, project = directory / "home", directory / "project"
    home.mkdir()
    project.mkdir()
    return Machine(home, project, environ)


def install(name: str, machine: Machine, scope: Scope = Scope.USER) -> None:
    apply(installing(agent(name), machine, scope), machine)


def uninstall(name: str, machine: Machine, scope: Scope = Scope.USER) -> None:
    apply(uninstalling(agent(name), machine, scope), machine)


def files_below(directory: Path) -> dict[str, bytes]:
    found = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


def ours_kept(files: dict[str, bytes]) -> list[str]:
    return [name for name in files if ".local" not in name]
