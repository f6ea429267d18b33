"""Where a user's agents keep their files, and where ours are. What the environment says is given, not read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Scope(StrEnum):
    USER = "user"
    """For every session of the user."""
    PROJECT = "project"
    """For the sessions in one project; the file goes with it to whoever else works there."""


@dataclass(frozen=True)
class Machine:
    home: Path
    project: Path  # the project's root
    environ: Mapping[str, str] = field(default_factory=dict)

    def named(self, variable: str, otherwise: Path) -> Path:
        """The directory that a variable names; a relative one counts as unset."""
        value = self.environ.get(variable, "")
        return Path(value) if os.path.isabs(value) else otherwise

    @property
    def config(self) -> Path:
        return self.named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def launcher(self) -> Path:
        """The program that every agent calls. It never moves: some agents trust a command by its very text."""
        return self.named("XDG_DATA_HOME", self.home / ".local" / "share") / "hookline" / "bridge"

    @property
    def records(self) -> Path:
        return self.named("XDG_STATE_HOME", self.home / ".local" / "state") / "hookline" / "installed"

    def shown(self, path: Path) -> str:
        """As messages show a path: from the project, else from the home."""
        if path.is_relative_to(self.project):
            return str(path.relative_to(self.project))
        return f"~/{path.relative_to(self.home)}" if path.is_relative_to(self.home) else str(path)
