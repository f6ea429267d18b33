"""What an agent's files must hold so that it calls us."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.hosts.agent import AgentEvent
from hookline.hosts.install.command import Calling
from hookline.hosts.install.edit import Addition
from hookline.hosts.install.machine import Machine, Scope


@dataclass(frozen=True)
class Entries:
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


Wanted = Entries | OwnFile
Wants = Callable[[Machine, Scope, Calling, Sequence[AgentEvent]], tuple[Wanted, ...]]
"""The files of one agent. What it names need not exist."""


@dataclass(frozen=True)
class Setup:
    """How an agent is plugged in."""

    programs: tuple[str, ...]  # by which it is found on the PATH
    homes: Callable[[Machine], tuple[Path, ...]]  # the directories that it makes for a user
    wants: Wants
    advice: str = ""  # what the user must still do
