"""What a dialect is: a config format that turns a document into hooks. It knows nothing of the engine.

The dialects, by name. A new one is a module and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final, Protocol, cast, runtime_checkable

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.formatting import closest_match
from hookline.hooks.hook import Hook


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder of code that a document names: what it defines is known once it was imported."""

    dialect: str
    path: str  # from the document's own directory
    line: int


@dataclass(frozen=True, slots=True)
class Capability:
    """What a document brings beside its hooks and must not before the user trusts it: a program, a server, words for an agent."""

    name: str  # as messages show it: mcp.git
    what: str  # run, reach, tell …
    text: str
    line: int
    paths_text: str = ""  # that part of the text whose paths are those of files that it needs
    prose: str = ""  # that part which counts only for files in the document's own directory


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Every good hook of a document, and every problem: one bad hook never disables another."""

    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...] = ()
    folders: tuple[NamedFolder, ...] = ()
    capabilities: tuple[Capability, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Hooks in a dialect's own words, and each thing that it has no words for."""

    value: Any  # what the file holds, as plain data
    kind: str  # json or yaml
    not_expressible: tuple[str, ...] = ()


FileSelector = Callable[[Path, Sequence[Path]], Iterable[Path]]
"""The files of a user that another file lists, given the home and the directories of the session's project."""


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """Where a dialect's files are found, below the user's home or a project's directory."""

    pattern: str  # a glob
    user: bool = False  # below the user's home instead
    local: bool = False  # not shared with others: after the project's
    selector: FileSelector | None = None  # which of them; None: all


class Dialect(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def places(self) -> Sequence[ConfigLocation]: ...
    def recognises(self, document: Document) -> bool:
        """True if this could be a file of ours, by its name or by its shape."""

    def load(self, document: Document) -> LoadResult: ...
    def schema(self) -> dict[str, Any]:
        """JSON Schema of a file."""

    def write(self, hooks: Iterable[Hook]) -> WriteResult: ...


@runtime_checkable
class FolderDialect(Dialect, Protocol):
    """A dialect whose hooks are code, in the files of a folder. `shown` is the folder as messages show it."""

    def accepts(self, path: Path) -> bool:
        """True if this is such a folder, or one file of code that stands for itself."""

    def check(self, folder: Path, shown: str) -> tuple[Problem, ...]:
        """What is wrong as far as reading tells; nothing is imported."""

    def files(self, folder: Path) -> tuple[Path, ...]:
        """What `import_folder` could run. Raises HooklineError where that is more than it ever would."""

    def import_folder(self, folder: Path, shown: str) -> LoadResult:
        """Runs the folder's code: only for one that is trusted."""


_MODULES: Final = {
    "native": "hookline.dialects.native",
    "ai_agents": "hookline.dialects.ai_agents",
    "claude_code": "hookline.dialects.claude_code",
    "digitorn": "hookline.dialects.digitorn",
    "flo": "hookline.dialects.flo",
    "microai": "hookline.dialects.microai",
    "standard_agents": "hookline.dialects.standard_agents",
}
DIALECT_NAMES: Final = tuple(_MODULES)


def get_dialect(name: str) -> Dialect:
    """Imported when first named. Raises KeyError with words for the user."""
    if name not in _MODULES:
        guess = closest_match(name, _MODULES)
        meant = f"Did you mean {guess}?" if guess else f"There are {', '.join(_MODULES)}."
        raise KeyError(f"there is no dialect {name!r}. {meant}")
    return cast(Dialect, import_module(_MODULES[name]).DIALECT)


def all_dialects() -> Mapping[str, Dialect]:
    return MappingProxyType({name: get_dialect(name) for name in _MODULES})


def recognise_dialect(document: Document) -> Dialect | Problem:
    """The one dialect whose file this can be; a file that could be of two is a problem, never a guess."""
    able = [each for each in all_dialects().values() if each.recognises(document)]
    able = [each for each in able if _is_at_known_location(document, each)] or able
    if len(able) == 1:
        return able[0]
    able = able or [each for each in all_dialects().values() if _loads_cleanly(document, each)]
    if not able:
        what = "this is not a hooks file of any dialect."
        return Problem("unknown-dialect", document.file, 1, what, f"Name it: --dialect {'|'.join(DIALECT_NAMES)}.")
    names = " or ".join(each.name for each in able)
    what = f"this could be a file of {names}."
    return Problem("ambiguous-dialect", document.file, 1, what, f"Say which: --dialect {able[0].name}.")


def _loads_cleanly(document: Document, dialect: Dialect) -> bool:
    """Whether the dialect finds hooks in it and nothing wrong: enough to name it to the user, not to guess."""
    loaded = dialect.load(document)
    return bool(loaded.hooks) and not any(problem.severity is Severity.ERROR for problem in loaded.problems)


def _is_at_known_location(document: Document, dialect: Dialect) -> bool:
    """Whether the file stands where files of this dialect are found: that says more than its shape."""
    return any(PurePath(document.file).match(place.pattern) for place in dialect.places)
