"""How an agent's files call hookline: the command, and the entries or files that contain it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hookline.hosts.agents.agent_event import FAIL_CLOSED_EVENTS, AgentEvent
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.lazy_dataclasses import dataclass, field

HOOKS_KEY: Final = "hooks"
_MARK_PROJECT: Final = "export HOOKLINE_ENTRY=project"
_TOOL_EVENTS: Final = ("tool.before", "approval.request")

Entry = dict[str, Any]


class MissingPolicy(StrEnum):
    """What a project's entry does on a machine without hookline, as far as the agent supports it."""

    CLOSED = "closed"
    """No tool runs and no prompt is sent; a message says why."""
    OPEN = "open"
    """The agent continues without hooks; a message at the session's start says so."""


@dataclass(frozen=True, slots=True)
class HookCommand:
    """How one agent calls hookline. Its text must not change between versions: agents trust a command by its text."""

    agent: str
    program: str  # the launcher, quoted for a shell
    missing: MissingPolicy = MissingPolicy.CLOSED
    is_shared: bool = False  # in a file that other people get too

    def shell_command(self, event: AgentEvent) -> str:
        must_answer = self.fails_closed(event) and event.event in _TOOL_EVENTS
        if not self.is_shared and not must_answer:
            return self.bare_command(event)
        before = [self._missing_guard(event), _MARK_PROJECT] if self.is_shared else []
        run = self._run_or_block if must_answer else 'exec "$0" "$@"'
        return f"sh -c '{'; '.join((*before, run))}' {self.bare_command(event)}"

    def bare_command(self, event: AgentEvent) -> str:
        """Without the guard for machines that have no hookline."""
        return f"{self.program} {self.agent} {event.name}"

    def fails_closed(self, event: AgentEvent) -> bool:
        """True if the event must be denied where hookline cannot decide."""
        return self.missing is MissingPolicy.CLOSED and event.event in FAIL_CLOSED_EVENTS

    @property
    def missing_message(self) -> str:
        """Shown on a machine without hookline. It contains no quotes, because it goes into quotes of a shell and JSON."""
        again = f"hookline install {self.agent} --project"
        return f"hookline is not installed here, and this project asks it about what the agent does. Install it, then run: {again}"

    @property
    def failed_message(self) -> str:
        """Shown by agents that do not show stderr, if the launcher fails. It contains no quotes."""
        again = f"install it again, or remove its entries from the settings of {self.agent}"
        return f"hookline could not be run. Try: hookline doctor {self.agent}. If hookline is not installed any more, {again}"

    @property
    def _run_or_block(self) -> str:
        """After any exit code but 2, most agents run the tool; after 2 without a text, some do."""
        return f'"$0" "$@" || {{ [ $? -eq 2 ] || echo "{self.failed_message}" >&2; exit 2; }}'

    def _missing_guard(self, event: AgentEvent) -> str:
        """Exit code 2 with a text denies in every agent. After 1 the agent continues, and some show the text."""
        if self.fails_closed(event):
            return f'[ -x "$0" ] || {{ echo "{self.missing_message}" >&2; exit 2; }}'
        if event.event == "session.start":
            return f'[ -x "$0" ] || {{ echo "{self.missing_message}" >&2; exit 1; }}'
        return '[ -x "$0" ] || exit 0'


def hook_command(
    agent: str, machine: Machine, scope: InstallScope, missing: MissingPolicy = MissingPolicy.CLOSED
) -> HookCommand:
    """In a project's file the launcher is named by `$HOME`, because other people's home directories differ."""
    launcher, home, shared = machine.launcher, machine.home, scope is InstallScope.PROJECT
    program = shlex.quote(str(launcher))
    if shared and launcher.is_relative_to(home) and _needs_no_quotes(str(launcher.relative_to(home))):
        program = f'"$HOME/{launcher.relative_to(home)}"'
    return HookCommand(agent, program, missing, shared)


def _needs_no_quotes(path: str) -> bool:
    return shlex.quote(path) == path


@dataclass(frozen=True)
class EntriesFile:
    """A JSON file `{"hooks": {EVENT: [entry, …]}}` that may contain the user's settings too."""

    path: Path
    entries: tuple[tuple[str, Entry], ...]  # (event, entry)
    keys: Mapping[str, Any] = field(default_factory=dict)  # that a new file needs besides `hooks`
    parent: tuple[str, ...] = (HOOKS_KEY,)  # the keys above the events; none if they stand at the top


@dataclass(frozen=True)
class OwnFile:
    """A file that belongs to hookline alone."""

    path: Path
    text: str
    executable: bool = False
    signature: str = ""  # in the first line of every version's text; "" if each version writes the same text
    events: tuple[str, ...] = ()  # that it serves; none if it serves all

    def is_any_version(self, text: str) -> bool:
        return text == self.text or (bool(self.signature) and self.signature in text.partition("\n")[0])


@dataclass(frozen=True)
class MarkedFile:
    """A TOML or YAML file with the user's settings, in which hookline's entries stand between two comments."""

    path: Path
    entries: tuple[tuple[str, Entry], ...]  # (event, entry)


DesiredFile = EntriesFile | OwnFile | MarkedFile


def flat_entries(
    path: Path,
    events: Sequence[AgentEvent],
    build_entry: Callable[[AgentEvent], Entry],
    keys: Mapping[str, Any] | None = None,
) -> EntriesFile:
    """The commands stand directly below each event: `{"hooks": {EVENT: [{"command": …}]}}`."""
    return EntriesFile(path, tuple((event.name, build_entry(event)) for event in events), keys or {})


def grouped_entries(
    path: Path, events: Sequence[AgentEvent], build_entry: Callable[[AgentEvent], Entry]
) -> EntriesFile:
    """Claude Code's shape, `{"hooks": {EVENT: [{"hooks": [{"command": …}]}]}}`. No matcher means every tool."""
    return flat_entries(path, events, lambda event: {"hooks": [build_entry(event)]})
