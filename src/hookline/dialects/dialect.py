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
    kind: str  # json, jsonc (with comments), toml or yaml
    not_expressible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file's content with one hook alone."""

    value: Any
    file: str = ""  # the file's name, if the content alone does not say how it is read


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
    accepts: Callable[[str], bool] | None = None  # tells by a file's name whether it counts; None: all count
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
class AdaptableDialect(Dialect, Protocol):
    """A dialect whose hooks any coding agent can run, one at a time, through `hookline adapt`."""

    def excerpt(self, hook: Hook) -> Excerpt | None:
        """The hook as its own file has it; None if it cannot be written."""


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
    "cline": "hookline.dialects.agent_files.cline",
    "codex": "hookline.dialects.agent_files.codex",
    "copilot_cli": "hookline.dialects.agent_files.copilot_cli",
    "cursor": "hookline.dialects.agent_files.cursor",
    "digitorn": "hookline.dialects.digitorn",
    "droid": "hookline.dialects.agent_files.droid",
    "flo": "hookline.dialects.flo",
    "gemini_cli": "hookline.dialects.agent_files.gemini_cli",
    "hook_interchange": "hookline.dialects.hook_interchange",
    "kimi_code": "hookline.dialects.agent_files.kimi_code",
    "kiro": "hookline.dialects.agent_files.kiro",
    "microai": "hookline.dialects.microai",
    "qwen_code": "hookline.dialects.agent_files.qwen_code",
    "standard_agents": "hookline.dialects.standard_agents",
    "windsurf": "hookline.dialects.agent_files.windsurf",
}
DIALECT_NAMES: Final = tuple(_MODULES)
INSTALLED_PLUGINS_FILE: Final = ".claude/plugins/installed_plugins.json"
GEMINI_EXTENSIONS: Final = ".gemini/extensions"


def _claude_plugin_files(home: Path, directories: Sequence[Path]) -> Iterable[Path]:
    if not os.path.exists(home / INSTALLED_PLUGINS_FILE):
        return ()
    files: FileSelector = import_module("hookline.dialects.claude_code.plugins").plugin_hooks_files
    return files(home, directories)


def _gemini_extension_files(home: Path, directories: Sequence[Path]) -> Iterable[Path]:
    if not os.path.exists(home / GEMINI_EXTENSIONS):
        return ()
    files: FileSelector = import_module("hookline.dialects.agent_files.gemini_extensions").extension_hooks_files
    return files(home, directories)


def _is_cline_hook(file: str) -> bool:
    accepts: Callable[[str], bool] = import_module("hookline.dialects.cline_names").is_hook
    return accepts(file)


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
    "cline": (
        ConfigLocation(".cline/hooks/*", user=True, accepts=_is_cline_hook),
        ConfigLocation("Documents/Cline/Hooks/*", user=True, accepts=_is_cline_hook),
        ConfigLocation(".clinerules/hooks/*", accepts=_is_cline_hook),
        ConfigLocation(".cline/hooks/*", accepts=_is_cline_hook),
    ),
    "codex": (
        ConfigLocation(".codex/hooks.json", user=True),
        ConfigLocation(".codex/config.toml", user=True),
        ConfigLocation(".codex/hooks.json"),
        ConfigLocation(".codex/config.toml"),
    ),
    "copilot_cli": (
        ConfigLocation(".copilot/hooks/*.json", user=True),
        ConfigLocation(".copilot/settings.json", user=True),
        ConfigLocation(".github/hooks/*.json"),
        ConfigLocation(".github/copilot/settings.json"),
        ConfigLocation(".github/copilot/settings.local.json", local=True),
    ),
    "cursor": (
        ConfigLocation(".cursor/hooks.json", user=True),
        ConfigLocation(".cursor/hooks.json"),
    ),
    "digitorn": (ConfigLocation("digitorn.yaml"), ConfigLocation("app.yaml", is_common_name=True)),
    "droid": (
        ConfigLocation(".factory/hooks.json", user=True),
        ConfigLocation(".factory/settings.json", user=True),
        ConfigLocation(".factory/hooks.json"),
        ConfigLocation(".factory/settings.json"),
    ),
    "flo": (
        ConfigLocation("hub.json"),
        ConfigLocation(".flo/hooks.json", in_session=True),
        ConfigLocation(".flo/hub.json", user=True),
    ),
    "gemini_cli": (
        ConfigLocation(".gemini/settings.json", user=True),
        ConfigLocation(".gemini/extensions/*/hooks/hooks.json", user=True, selector=_gemini_extension_files),
        ConfigLocation(".gemini/settings.json"),
    ),
    "hook_interchange": (
        ConfigLocation("hooks.json", is_common_name=True),
        ConfigLocation("hooks.yaml", is_common_name=True),
        ConfigLocation("hooks/*/hook.json", is_common_name=True),
        ConfigLocation("hooks/*/hook.yaml", is_common_name=True),
    ),
    "kimi_code": (
        ConfigLocation(".kimi-code/config.toml", user=True),
        ConfigLocation(".kimi/config.toml", user=True),
    ),
    "kiro": (
        ConfigLocation(".kiro/agents/*.json", user=True),
        ConfigLocation(".kiro/hooks/*.json", user=True),
        ConfigLocation(".kiro/hooks/*.kiro.hook", user=True),
        ConfigLocation(".kiro/agents/*.json"),
        ConfigLocation(".kiro/hooks/*.json"),
        ConfigLocation(".kiro/hooks/*.kiro.hook"),
    ),
    "microai": (
        ConfigLocation(".microai/settings.json"),
        ConfigLocation(".microai/settings.local.json", local=True),
    ),
    "qwen_code": (
        ConfigLocation(".qwen/settings.json", user=True),
        ConfigLocation(".qwen/settings.json"),
    ),
    "standard_agents": (),
    "windsurf": (
        ConfigLocation(".codeium/windsurf/hooks.json", user=True),
        ConfigLocation(".windsurf/hooks.json"),
    ),
}
"""Where the files of each dialect are found. Here, so that looking for files imports no dialect."""

DIALECT_BY_FILE_NAME: Final = {
    "hookline.yaml": "native",
    "hookline.local.yaml": "native",
    "hub.json": "flo",
    "digitorn.yaml": "digitorn",
}
"""File names that are a location of this dialect, and of no other, in whatever directory they are."""

AGENT_FILE_DIALECTS: Final = frozenset(name for name, module in _MODULES.items() if ".agent_files." in module)
"""Hook files of coding agents. Many look alike, so only their place, or what no other agent has, tells them apart."""


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
    named = DIALECT_BY_FILE_NAME.get(PurePath(document.file).name)  # then the other dialects need not be imported
    if named is not None and get_dialect(named).recognises(document):
        return get_dialect(named)
    candidates = [each for each in all_dialects().values() if each.recognises(document)]
    candidates = [each for each in candidates if _is_at_known_location(document, each)] or candidates
    if len(candidates) == 1:
        return candidates[0]
    others = [each for each in all_dialects().values() if each.name not in AGENT_FILE_DIALECTS]
    candidates = candidates or [each for each in others if _loads_cleanly(document, each)]
    if not candidates:
        what = "this is not a hooks file of any dialect."
        hint = _misspelled_event_hint(document) or f"Name it: --dialect {'|'.join(DIALECT_NAMES)}."
        return Problem("unknown-dialect", document.file, 1, what, hint)
    names = " or ".join(each.name for each in candidates)
    what = f"this could be a file of {names}."
    likely = next((each for each in candidates if each.name == "claude_code"), candidates[0])  # most files are
    return Problem("ambiguous-dialect", document.file, 1, what, f"Say which: --dialect {likely.name}.")


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
