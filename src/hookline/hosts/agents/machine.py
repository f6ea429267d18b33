"""A user's machine: where agents and hookline keep their files. The environment is passed in, not read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from hookline.lazy_dataclasses import dataclass, field


class InstallScope(StrEnum):
    USER = "user"
    """For every session of the user."""
    PROJECT = "project"
    """For sessions in one project. Everybody who works on the project gets the file."""


@dataclass(frozen=True)
class Machine:
    home: Path
    project: Path  # the project's root
    environ: Mapping[str, str] = field(default_factory=dict)
    root: Path = Path("/")  # of the file system: below it are the administrator's files

    def directory_from_variable(self, variable: str, default: Path) -> Path:
        """The directory that an environment variable names. A relative path counts as unset."""
        value = self.environ.get(variable, "")
        return Path(value) if os.path.isabs(value) else default

    @property
    def config(self) -> Path:
        return self.directory_from_variable("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def launcher(self) -> Path:
        """The program that every agent calls. It never moves, because some agents trust a command by its text."""
        return self.directory_from_variable("XDG_DATA_HOME", self.home / ".local" / "share") / "hookline" / "bridge"

    @property
    def records_directory(self) -> Path:
        return self.directory_from_variable("XDG_STATE_HOME", self.home / ".local" / "state") / "hookline" / "installed"

    def display_path(self, path: Path) -> str:
        """The path as messages show it: relative to the project, else to the home directory."""
        if path.is_relative_to(self.project):
            return str(path.relative_to(self.project))
        return f"~/{path.relative_to(self.home)}" if path.is_relative_to(self.home) else str(path)
