"""How an agent's file calls us, and how we know our own entries again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from hookline.dialects.ourselves import launched
from hookline.hosts.agent import AgentEvent
from hookline.hosts.bridge.decide import CLOSED
from hookline.hosts.install.machine import Machine, Scope

_THEN: Final = 'export HOOKLINE_ENTRY=project; exec "$0" "$@"'


class Missing(StrEnum):
    """What an entry does on a machine on which hookline is not installed, as far as the agent lets it choose."""

    CLOSED = "closed"
    """No tool runs, no prompt is sent, and it is said why."""
    OPEN = "open"
    """The agent goes on without hooks; at the session's start it is said."""


@dataclass(frozen=True, slots=True)
class Calling:
    """How one agent calls us. The text is the same in every version of ours."""

    agent: str
    program: str  # the launcher as a shell reads it
    missing: Missing = Missing.CLOSED
    shared: bool = False  # in a file that goes to other people

    def command(self, event: AgentEvent) -> str:
        if self.shared:
            return f"sh -c '{self._guard(event)}; {_THEN}' {self.plain(event)}"
        return self.plain(event)

    def plain(self, event: AgentEvent) -> str:
        """Without a word for those who have no hookline."""
        return f"{self.program} {self.agent} {event.name}"

    def holds_back(self, event: AgentEvent) -> bool:
        """True if what the event tells of must not happen where nobody can be asked about it."""
        return self.missing is Missing.CLOSED and event.event in CLOSED

    @property
    def without(self) -> str:
        """What those read who have no hookline. No quotes: it stands in quotes of a shell and of JSON."""
        again = f"pip install hookline, then hookline install {self.agent} --project"
        return f"hookline is not installed here, and this project asks it about what the agent does. Try: {again}"

    def _guard(self, event: AgentEvent) -> str:
        """An exit code of 2 with a text holds back in every agent; after 1 it goes on, and some show the text."""
        if self.holds_back(event):
            return f'[ -x "$0" ] || {{ echo "{self.without}" >&2; exit 2; }}'
        if event.event == "session.start":
            return f'[ -x "$0" ] || {{ echo "{self.without}" >&2; exit 1; }}'
        return '[ -x "$0" ] || exit 0'

    def is_ours(self, entry: Any) -> bool:
        """True for an entry of this agent's that only calls us, wherever our launcher was when it was written."""
        if not isinstance(entry, dict):
            return False
        group = entry.get("hooks")
        if isinstance(group, list):
            return bool(group) and all(map(self.is_ours, group))
        return any(isinstance(value, str) and launched(value) == self.agent for value in entry.values())


def calling(agent: str, machine: Machine, scope: Scope, missing: Missing = Missing.CLOSED) -> Calling:
    """A project's file goes to other people, whose home is another one: there the shell looks up where it is."""
    launcher, home, shared = machine.launcher, machine.home, scope is Scope.PROJECT
    program = shlex.quote(str(launcher))
    if shared and launcher.is_relative_to(home) and _plain(str(launcher.relative_to(home))):
        program = f'"$HOME/{launcher.relative_to(home)}"'
    return Calling(agent, program, missing, shared)


def _plain(path: str) -> bool:
    return shlex.quote(path) == path
