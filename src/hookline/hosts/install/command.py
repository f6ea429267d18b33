"""The command line that stands in an agent's file, and how we know our own again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from hookline.dialects.ourselves import launched
from hookline.hosts.install.machine import Machine, Scope


@dataclass(frozen=True, slots=True)
class Calling:
    """How one agent calls us. The text is the same in every version of ours."""

    agent: str
    program: str  # the launcher as a shell reads it

    def command(self, event: str) -> str:
        return f"{self.program} {self.agent} {event}"

    def is_ours(self, entry: Any) -> bool:
        """True for an entry of this agent's that only calls our launcher, wherever that was when it was written."""
        if not isinstance(entry, dict):
            return False
        group = entry.get("hooks")
        if isinstance(group, list):
            return bool(group) and all(map(self.is_ours, group))
        return any(isinstance(value, str) and launched(value) == self.agent for value in entry.values())


def calling(agent: str, machine: Machine, scope: Scope) -> Calling:
    """A project's file goes to other people, whose home is another one: there the shell looks up where it is."""
    launcher, home = machine.launcher, machine.home
    if scope is Scope.PROJECT and launcher.is_relative_to(home) and _plain(str(launcher.relative_to(home))):
        return Calling(agent, f'"$HOME/{launcher.relative_to(home)}"')
    return Calling(agent, shlex.quote(str(launcher)))


def _plain(path: str) -> bool:
    return shlex.quote(path) == path
