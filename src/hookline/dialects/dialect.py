"""What a dialect is: a config format that turns a document into hooks. It knows nothing of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from hookline.config.document import Document
from hookline.config.problem import Problem
from hookline.hooks.hook import Hook


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder of code that a document names: what it defines is known once it was imported."""

    dialect: str
    path: str  # from the document's own directory
    line: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a document brings beside its hooks and must not before the user trusts it: a program, a server, words for an agent."""

    name: str  # as messages show it: mcp.git
    what: str  # run, reach, tell …
    text: str
    line: int
    naming: str = ""  # that part of the text whose paths are those of files that it needs
    prose: str = ""  # that part which counts only for files in the document's own directory


@dataclass(frozen=True, slots=True)
class Loaded:
    """Every good hook of a document, and every problem: one bad hook never disables another."""

    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...] = ()
    folders: tuple[NamedFolder, ...] = ()
    wants: tuple[Wanted, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """Hooks in a dialect's own words, and each thing that it has no words for."""

    value: Any  # what the file holds, as plain data
    kind: str  # json or yaml
    unsaid: tuple[str, ...] = ()


Listed = Callable[[Path, Sequence[Path]], Iterable[Path]]
"""The files of a user that another file lists, given the home and the directories of the session's project."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a dialect's files are found, below the user's home or a project's directory."""

    pattern: str  # a glob
    user: bool = False  # below the user's home instead
    local: bool = False  # not shared with others: after the project's
    listed: Listed | None = None  # which of them; None: all


class Dialect(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def places(self) -> Sequence[Place]: ...
    def recognises(self, document: Document) -> bool:
        """True if this could be a file of ours, by its name or by its shape."""

    def load(self, document: Document) -> Loaded: ...
    def schema(self) -> dict[str, Any]:
        """JSON Schema of a file."""

    def write(self, hooks: Iterable[Hook]) -> Written: ...


@runtime_checkable
class FolderDialect(Dialect, Protocol):
    """A dialect whose hooks are code, in the files of a folder. `shown` is the folder as messages show it."""

    def reads(self, path: Path) -> bool:
        """True if this is such a folder, or one file of code that stands for itself."""

    def look(self, folder: Path, shown: str) -> tuple[Problem, ...]:
        """What is wrong as far as reading tells; nothing is imported."""

    def files(self, folder: Path) -> tuple[Path, ...]:
        """What `import_folder` could run. Raises HooklineError where that is more than it ever would."""

    def import_folder(self, folder: Path, shown: str) -> Loaded:
        """Runs the folder's code: only for one that is trusted."""
