"""Files in Claude Code's shape: `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}`.

How an agent's file calls us, and how we know our own entries again.

What an agent's files must hold so that it calls us.

Files with the commands themselves below each event: `{"hooks": {EVENT: [{"command": …}]}}`.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hookline.config.json_edit import Addition
from hookline.dialects.settings_json import agent_of_own_entry
from hookline.hosts.agents.agent import FAIL_CLOSED_EVENTS, AgentEvent
from hookline.hosts.agents.timeouts import agent_timeout
from hookline.hosts.install.machine import InstallScope, Machine

_EXEC_LAUNCHER: Final = 'export HOOKLINE_ENTRY=project; exec "$0" "$@"'


class MissingPolicy(StrEnum):
    """What an entry does on a machine on which hookline is not installed, as far as the agent lets it choose."""

    CLOSED = "closed"
    """No tool runs, no prompt is sent, and it is said why."""
    OPEN = "open"
    """The agent goes on without hooks; at the session's start it is said."""


@dataclass(frozen=True, slots=True)
class HookCommand:
    """How one agent calls us. The text is the same in every version of ours."""

    agent: str
    program: str  # the launcher as a shell reads it
    missing: MissingPolicy = MissingPolicy.CLOSED
    is_shared: bool = False  # in a file that goes to other people

    def shell_command(self, event: AgentEvent) -> str:
        if self.is_shared:
            return f"sh -c '{self._missing_guard(event)}; {_EXEC_LAUNCHER}' {self.bare_command(event)}"
        return self.bare_command(event)

    def bare_command(self, event: AgentEvent) -> str:
        """Without a word for those who have no hookline."""
        return f"{self.program} {self.agent} {event.name}"

    def fails_closed(self, event: AgentEvent) -> bool:
        """True if what the event tells of must not happen where nobody can be asked about it."""
        return self.missing is MissingPolicy.CLOSED and event.event in FAIL_CLOSED_EVENTS

    @property
    def missing_message(self) -> str:
        """What those read who have no hookline. No quotes: it stands in quotes of a shell and of JSON."""
        again = f"pip install hookline, then hookline install {self.agent} --project"
        return f"hookline is not installed here, and this project asks it about what the agent does. Try: {again}"

    def _missing_guard(self, event: AgentEvent) -> str:
        """An exit code of 2 with a text holds back in every agent; after 1 it goes on, and some show the text."""
        if self.fails_closed(event):
            return f'[ -x "$0" ] || {{ echo "{self.missing_message}" >&2; exit 2; }}'
        if event.event == "session.start":
            return f'[ -x "$0" ] || {{ echo "{self.missing_message}" >&2; exit 1; }}'
        return '[ -x "$0" ] || exit 0'

    def is_ours(self, entry: Any) -> bool:
        """True for an entry of this agent's that only calls us, wherever our launcher was when it was written."""
        if not isinstance(entry, dict):
            return False
        group = entry.get("hooks")
        if isinstance(group, list):
            return bool(group) and all(map(self.is_ours, group))
        return any(isinstance(value, str) and agent_of_own_entry(value) == self.agent for value in entry.values())


def hook_command(
    agent: str, machine: Machine, scope: InstallScope, missing: MissingPolicy = MissingPolicy.CLOSED
) -> HookCommand:
    """A project's file goes to other people, whose home is another one: there the shell looks up where it is."""
    launcher, home, shared = machine.launcher, machine.home, scope is InstallScope.PROJECT
    program = shlex.quote(str(launcher))
    if shared and launcher.is_relative_to(home) and _needs_no_quotes(str(launcher.relative_to(home))):
        program = f'"$HOME/{launcher.relative_to(home)}"'
    return HookCommand(agent, program, missing, shared)


def _needs_no_quotes(path: str) -> bool:
    return shlex.quote(path) == path


@dataclass(frozen=True)
class EntriesFile:
    """Entries in a JSON file that may be the user's too."""

    path: Path
    additions: tuple[Addition, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)  # what a new file must say beside them


@dataclass(frozen=True)
class OwnFile:
    """A file that is ours alone."""

    path: Path
    text: str
    executable: bool = False


DesiredFile = EntriesFile | OwnFile
DesiredFilesBuilder = Callable[[Machine, InstallScope, HookCommand, Sequence[AgentEvent]], tuple[DesiredFile, ...]]
"""The files of one agent. What it names need not exist."""


@dataclass(frozen=True)
class AgentSetup:
    """How an agent is plugged in."""

    programs: tuple[str, ...]  # by which it is found on the PATH
    homes: Callable[[Machine], tuple[Path, ...]]  # the directories that it makes for a user
    desired_files: DesiredFilesBuilder
    advice: str = ""  # what the user must still do


FlatEntryBuilder = Callable[[HookCommand, AgentEvent], dict[str, Any]]


def _timeout_in_seconds(calling: HookCommand, event: AgentEvent) -> int:
    return math.ceil(agent_timeout(calling.agent, event.name).total_seconds())


def copilot_entry(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    return {"type": "command", "bash": calling.shell_command(event), "timeoutSec": _timeout_in_seconds(calling, event)}


def cursor_entry(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    closed = {"failClosed": True} if event.event == "tool.before" else {}
    return {"command": calling.shell_command(event), "timeout": _timeout_in_seconds(calling, event), **closed}


def windsurf_entry(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    return {"command": calling.shell_command(event), "show_output": False}


def kiro_entry(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    return {"command": calling.shell_command(event), "timeout_ms": _timeout_in_seconds(calling, event) * 1000}


def flat_file_builder(
    files: Callable[[Machine, InstallScope], tuple[Path, ...]],
    handler: FlatEntryBuilder,
    keys: Mapping[str, Any] | None = None,
) -> DesiredFilesBuilder:
    def wants(
        machine: Machine, scope: InstallScope, calling: HookCommand, events: Sequence[AgentEvent]
    ) -> tuple[EntriesFile, ...]:
        additions = tuple(Addition(("hooks", each.name), handler(calling, each)) for each in events)
        return tuple(EntriesFile(path, additions, keys or {}) for path in files(machine, scope))

    return wants


_KIRO_AGENT_FILE: Final = "hookline.json"


def kiro_agent_files(machine: Machine, scope: InstallScope) -> tuple[Path, ...]:
    """Kiro's hooks belong to one of its agents: every one that is defined there, or a new one with all tools."""
    directory = (machine.home if scope is InstallScope.USER else machine.project) / ".kiro" / "agents"
    found = tuple(sorted(directory.glob("*.json"))) if directory.is_dir() else ()
    return found or (directory / _KIRO_AGENT_FILE,)


GroupEntryBuilder = Callable[[HookCommand, AgentEvent], dict[str, Any]]


def claude_entry(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    """`onFailure` is what Claude Code does when a command cannot start; older ones ignore it."""
    closed = {"onFailure": "block"} if calling.fails_closed(event) else {}
    return {**entry_in_seconds(calling, event), **closed}


def entry_in_seconds(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    seconds = math.ceil(agent_timeout(calling.agent, event.name).total_seconds())
    return {"type": "command", "command": calling.shell_command(event), "timeout": seconds}


def entry_in_milliseconds(calling: HookCommand, event: AgentEvent) -> dict[str, Any]:
    milliseconds = round(agent_timeout(calling.agent, event.name).total_seconds() * 1000)
    return {"type": "command", "name": "hookline", "command": calling.shell_command(event), "timeout": milliseconds}


def grouped_file_builder(
    file: Callable[[Machine, InstallScope], Path], handler: GroupEntryBuilder
) -> DesiredFilesBuilder:
    """One group without a matcher, which every agent takes for all of its tools, for each event."""

    def wants(
        machine: Machine, scope: InstallScope, calling: HookCommand, events: Sequence[AgentEvent]
    ) -> tuple[EntriesFile, ...]:
        additions = [Addition(("hooks", each.name), {"hooks": [handler(calling, each)]}) for each in events]
        return (EntriesFile(file(machine, scope), tuple(additions)),)

    return wants
