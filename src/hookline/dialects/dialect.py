"""A dialect is a config format: it turns a document into hooks and back. It knows nothing of the engine.

To add one, write its module and add a line to `_MODULES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final, Protocol, cast, runtime_checkable

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.formatting import closest_match
from hookline.hooks.events import all_event_names
from hookline.hooks.hook import Hook
from hookline.hooks.record_settings import RecordSettings
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder of code that a document names. Its hooks are known only after it is imported."""

    dialect: str
    path: str  # relative to the document's directory
    line: int


@dataclass(frozen=True, slots=True)
class Capability:
    """Something besides hooks that a document uses only after the user trusts it: a program, a server, a prompt."""

    name: str  # as messages show it: mcp.git
    what: str  # run, reach, tell …
    text: str
    line: int
    paths_text: str = ""  # the part of the text whose paths name files that it needs
    prose: str = ""  # the part whose paths count only for files in the document's directory


PACK_PROBLEMS: Final = frozenset(("no-pack", "pack-cycle"))
"""The codes of problems that leave open which hooks a document has, because a pack cannot be read."""


@dataclass(frozen=True, slots=True)
class PackReference:
    """A pack that a document extends: `hookline:recommended`, `./team.yaml`."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A file that another one extends, and the packs that it extends itself, by the names that it gives them."""

    document: Document
    packs: Mapping[str, Pack | Problem]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Every good hook of a document, and every problem: one bad hook never disables another."""

    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...] = ()
    folders: tuple[NamedFolder, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    is_readable: bool = True  # False: nobody can say which hooks the document has
    closes_on_problem: bool = False  # calls are held while a config file has errors
    record: RecordSettings | None = None  # what is recorded, if the document says so


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Hooks as a file of a dialect, and one line for each thing that the dialect cannot express."""

    value: Any  # the file's content as plain data
    kind: str  # json, jsonc (with comments) or yaml
    not_expressible: tuple[str, ...] = ()


FileSelector = Callable[[Path, Sequence[Path]], Iterable[Path]]
"""Selects the user's files that count, given the home directory and the directories of the session's project."""


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """Where to find a dialect's files."""

    pattern: str  # a glob, relative to the project's directory
    user: bool = False  # relative to the user's home instead
    local: bool = False  # not shared with others: comes after the project's files
    selector: FileSelector | None = None  # None: all files that match
    is_common_name: bool = False  # other programs use this name too: the content decides
    in_session: bool = False  # the hooks belong to the agent: a stored session has their text


class Dialect(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def has_app_keys(self) -> bool:
        """True if the keys beside its hooks are hookline's own too: a model, an agent, folders of Python definitions."""

    def recognises(self, document: Document) -> bool:
        """True if this could be a file of this dialect, judging by its name or shape."""

    def load(self, document: Document) -> LoadResult: ...
    def schema(self) -> dict[str, Any]:
        """JSON Schema of a file."""

    def write(self, hooks: Iterable[Hook]) -> WriteResult: ...


@runtime_checkable
class ExtendableDialect(Dialect, Protocol):
    """A dialect whose files can take over the hooks of other files."""

    def pack_references(self, document: Document) -> tuple[PackReference, ...]: ...
    def load_extended(self, document: Document, packs: Mapping[str, Pack | Problem]) -> LoadResult:
        """Like `load`. `packs` has each pack by the name that the document gives it, or why it cannot be read."""


@runtime_checkable
class FolderDialect(Dialect, Protocol):
    """A dialect whose hooks are code in a folder. `shown` is the folder's path as messages show it."""

    def accepts(self, path: Path) -> bool:
        """True for a folder, or for a single file of code."""

    def check(self, folder: Path, shown: str) -> tuple[Problem, ...]:
        """The problems that can be found without importing anything."""

    def files(self, folder: Path) -> tuple[Path, ...]:
        """The files that `import_folders` would run. Raises HooklineError if there are too many."""

    def read_folders(self, folders: Sequence[tuple[Path, str]]) -> LoadResult:
        """The hooks as far as they can be read without importing anything, and the problems between the folders."""

    def import_folders(self, folders: Sequence[tuple[Path, str]]) -> LoadResult:
        """Runs the code of folders that one file names. Call it only for trusted folders."""


_MODULES: Final = {
    "native": "hookline.dialects.native",
    "ai_agents": "hookline.dialects.ai_agents",
    "claude_code": "hookline.dialects.claude_code",
    "digitorn": "hookline.dialects.digitorn",
    "flo": "hookline.dialects.flo",
    "hook_interchange": "hookline.dialects.hook_interchange",
    "microai": "hookline.dialects.microai",
    "standard_agents": "hookline.dialects.standard_agents",
}
DIALECT_NAMES: Final = tuple(_MODULES)
INSTALLED_PLUGINS_FILE: Final = ".claude/plugins/installed_plugins.json"


def _claude_plugin_files(home: Path, directories: Sequence[Path]) -> Iterable[Path]:
    if not os.path.exists(home / INSTALLED_PLUGINS_FILE):
        return ()
    files: FileSelector = import_module("hookline.dialects.claude_code.plugins").plugin_hooks_files
    return files(home, directories)


CONFIG_LOCATIONS: Final[Mapping[str, tuple[ConfigLocation, ...]]] = {
    "native": (
        ConfigLocation(".config/hookline/hookline.yaml", user=True),
        ConfigLocation("hookline.yaml"),
        ConfigLocation(".hookline/*.yaml"),
        ConfigLocation("hookline.local.yaml", local=True),
    ),
    "ai_agents": (
        ConfigLocation(".ai_agents/settings.json", user=True),
        ConfigLocation(".ai_agents/settings.json"),
        ConfigLocation(".ai_agents/settings.local.json", local=True),
    ),
    "claude_code": (
        ConfigLocation(".claude/settings.json", user=True),
        ConfigLocation(".claude/plugins/**/hooks/hooks.json", user=True, selector=_claude_plugin_files),
        ConfigLocation(".claude/settings.json"),
        ConfigLocation(".claude/settings.local.json", local=True),
    ),
    "digitorn": (ConfigLocation("digitorn.yaml"), ConfigLocation("app.yaml", is_common_name=True)),
    "flo": (
        ConfigLocation("hub.json"),
        ConfigLocation(".flo/hooks.json", in_session=True),
        ConfigLocation(".flo/hub.json", user=True),
    ),
    "hook_interchange": (
        ConfigLocation("hooks.json", is_common_name=True),
        ConfigLocation("hooks.yaml", is_common_name=True),
        ConfigLocation("hooks/*/hook.json", is_common_name=True),
        ConfigLocation("hooks/*/hook.yaml", is_common_name=True),
    ),
    "microai": (
        ConfigLocation(".microai/settings.json"),
        ConfigLocation(".microai/settings.local.json", local=True),
    ),
    "standard_agents": (),
}
"""Where the files of each dialect are found. Here, so that looking for files imports no dialect."""

DIALECT_BY_FILE_NAME: Final = {
    "hookline.yaml": "native",
    "hookline.local.yaml": "native",
    "hub.json": "flo",
    "digitorn.yaml": "digitorn",
}
"""File names that are a location of this dialect, and of no other, in whatever directory they are."""
_COPILOT_KEYS: Final = {"bash", "powershell", "timeoutSec"}
_COPILOT_EVENTS: Final = {"userPromptSubmitted", "agentStop", "errorOccurred", "permissionRequest"}
_CURSOR_EVENTS: Final = {
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "afterFileEdit",
    "beforeSubmitPrompt",
}


def get_dialect(name: str) -> Dialect:
    """Imports the dialect on first use. Raises KeyError with a message for the user."""
    if name not in _MODULES:
        guess = closest_match(name, _MODULES)
        hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(_MODULES)}."
        raise KeyError(f"there is no dialect {name!r}. {hint}")
    return cast(Dialect, import_module(_MODULES[name]).DIALECT)


def all_dialects() -> Mapping[str, Dialect]:
    return MappingProxyType({name: get_dialect(name) for name in _MODULES})


def recognise_dialect(document: Document) -> Dialect | Problem:
    """The only dialect that this file can belong to. Never guesses between two: that is a problem."""
    agent = _agent_of_file(document)
    if agent is not None:
        what = (
            f"this is a hooks file of {agent}, in a format that hookline does not read; {agent} runs its hooks itself."
        )
        return Problem("unknown-dialect", document.file, 1, what, "Write hooks for every agent in hookline.yaml.")
    named = DIALECT_BY_FILE_NAME.get(PurePath(document.file).name)  # then the other dialects need not be imported
    if named is not None and get_dialect(named).recognises(document):
        return get_dialect(named)
    candidates = [each for each in all_dialects().values() if each.recognises(document)]
    candidates = [each for each in candidates if _is_at_known_location(document, each)] or candidates
    if len(candidates) == 1:
        return candidates[0]
    candidates = candidates or [each for each in all_dialects().values() if _loads_cleanly(document, each)]
    if not candidates:
        what = "this is not a hooks file of any dialect."
        hint = _misspelled_event_hint(document) or f"Name it: --dialect {'|'.join(DIALECT_NAMES)}."
        return Problem("unknown-dialect", document.file, 1, what, hint)
    names = " or ".join(each.name for each in candidates)
    what = f"this could be a file of {names}."
    likely = next((each for each in candidates if each.name == "claude_code"), candidates[0])  # most files are
    return Problem("ambiguous-dialect", document.file, 1, what, f"Say which: --dialect {likely.name}.")


def _agent_of_file(document: Document) -> str | None:
    """The coding agent whose own format this is; None for any other file."""
    path, value = PurePath(document.file), document.value
    if path.parts[-3:-1] == (".github", "hooks"):
        return "GitHub Copilot"
    if path.parts[-2:] == (".cursor", "hooks.json"):
        return "Cursor"
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(hooks, dict) or type(value.get("version")) is not int:
        return None
    entries = [entry for held in hooks.values() if isinstance(held, list) for entry in held if isinstance(entry, dict)]
    if any(entry.keys() & _COPILOT_KEYS for entry in entries) or hooks.keys() & _COPILOT_EVENTS:
        return "GitHub Copilot"
    return "Cursor" if hooks.keys() & _CURSOR_EVENTS else None


def _misspelled_event_hint(document: Document) -> str:
    """One wrong name among the events is enough for a file not to be recognised."""
    hooks = document.value.get("hooks") if isinstance(document.value, dict) else None
    known = list(all_event_names())
    for name in hooks if isinstance(hooks, dict) else ():
        guess = closest_match(name, known) if name not in known else None
        if guess is not None:
            return f"There is no event {name}. Did you mean {guess}?"
    return ""


def _loads_cleanly(document: Document, dialect: Dialect) -> bool:
    """Enough to suggest the dialect to the user, not to choose it."""
    loaded = dialect.load(document)
    unknown_keys = any(problem.code == "unknown-key" for problem in loaded.problems)
    return bool(loaded.hooks) and not unknown_keys and not has_errors(loaded.problems)


def _is_at_known_location(document: Document, dialect: Dialect) -> bool:
    """The file's location says more than its shape."""
    return any(PurePath(document.file).match(place.pattern) for place in CONFIG_LOCATIONS[dialect.name])


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def has_disabling_error(problems: Iterable[Problem]) -> bool:
    """Whether an error leaves no hook. A hook with a bad placeholder stays, and fails when it runs."""
    return has_errors(problem for problem in problems if problem.code != "bad-template")
