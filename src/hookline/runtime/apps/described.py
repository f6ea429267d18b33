"""What one file, or one folder of definitions, says of an app."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from hookline.config.problem import Problem
from hookline.runtime.app import Agent, LanguageServer, ModelNamed, Prompt, Server, Trigger
from hookline.standard_agents.definitions import Definitions

T = TypeVar("T")

DEFAULT_PROMPT: Final = (
    "You are a careful assistant that works in the user's project with the tools that you are given. Look before you "
    "change anything, keep to what was asked, and say plainly what you did and what you could not do. If a tool call is "
    "refused, read the reason: it comes from the user's own rules, so find another way or ask, and do not work around it."
)


@dataclass(frozen=True, slots=True)
class Placed(Generic[T]):
    """Something with a name of its own, and where it was written."""

    name: str
    value: T
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Described:
    agents: tuple[Placed[Agent], ...] = ()
    model: str | None = None
    models: tuple[Placed[ModelNamed], ...] = ()
    servers: tuple[Placed[Server], ...] = ()
    language_servers: tuple[Placed[LanguageServer], ...] = ()
    triggers: tuple[Placed[Trigger], ...] = ()
    skills: tuple[Path, ...] = ()
    store: str | None = None
    private_hosts: tuple[str, ...] = ()
    definitions: Definitions | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """Where the paths of a file begin, and what they may not leave."""

    directory: Path
    root: Path | None = None  # None: the user's own file may name any

    def path(self, named: str) -> Path | None:
        """None if it leads out of the root, by a link too."""
        path = Path(os.path.abspath(self.directory / os.path.expanduser(named)))
        if self.root is None or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.root)):
            return path
        return None


def default_prompt(name: str, model: str | None = None, tools: tuple[str, ...] | None = None) -> Prompt:
    return Prompt(name, DEFAULT_PROMPT, model, tools)
