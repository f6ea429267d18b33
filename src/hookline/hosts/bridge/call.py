"""One call of a coding agent: what it told its hook program, and where."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, cached_property
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Whose files are in force: the directories of the user whom the agent works for."""

    home: Path
    config: Path | None = None  # XDG_CONFIG_HOME
    state: Path | None = None  # XDG_STATE_HOME

    @property
    def kept(self) -> Path:
        """Where hookline keeps what it must remember."""
        return (self.state or self.home / ".local" / "state") / "hookline"


@dataclass(frozen=True)
class Call:
    agent: str
    event: str  # as the agent calls it
    payload: bytes
    cwd: str  # of the client
    environment: Mapping[bytes, bytes]  # of the client, and so of the agent
    spent: timedelta = timedelta()  # since the agent started the client

    def variable(self, name: str) -> str:
        return os.fsdecode(self.environment.get(os.fsencode(name), b""))

    def directory(self, name: str) -> Path | None:
        """A relative path in such a variable counts as unset."""
        value = self.variable(name)
        return Path(value) if os.path.isabs(value) and "\0" not in value else None

    @cached_property
    def place(self) -> Place:
        home = self.directory("HOME") or Path(_of_user("pw_dir") or "/nonexistent")
        return Place(home, self.directory("XDG_CONFIG_HOME"), self.directory("XDG_STATE_HOME"))

    @property
    def user(self) -> str:
        return self.variable("LOGNAME") or self.variable("USER") or _of_user("pw_name") or str(os.getuid())


@cache
def _of_user(field: str) -> str:
    try:
        return str(getattr(pwd.getpwuid(os.getuid()), field))
    except KeyError:  # a user id without a name, as in many containers
        return ""
