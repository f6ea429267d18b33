"""Where the command was called, and which hooks are active there. Reads the environment for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hookline.config.problem import errors_of
from hookline.engine.book import Book
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.hook_files import HookFiles
from hookline.hooks.host import Host
from hookline.hooks.record_settings import RecordSettings
from hookline.project import Source, Trust, load_all, load_file, own_record_settings, trust_file_path


def current_directory() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise HooklineError("the current directory no longer exists") from error


def home() -> Path:
    if not os.path.isabs(os.environ.get("HOME", "/")):  # an empty HOME would mean the root directory
        raise HooklineError("HOME is not an absolute path. Set it to your home directory, or unset it.")
    try:
        return Path.home()
    except RuntimeError as error:
        raise HooklineError("no home directory found. Set HOME.") from error


def trust() -> Trust:
    return Trust(trust_file_path(home(), _absolute_variable("XDG_STATE_HOME")))


def sources(below: Path | None = None) -> tuple[Source, ...]:
    """The config files that apply to a session there, or else in the current directory."""
    return trust().sources(below or current_directory(), home(), _absolute_variable("XDG_CONFIG_HOME"))


def skill_files() -> tuple[Source, ...]:
    """The skill files that an agent here would find."""
    from hookline.runtime.apps.app_loader import skill_folders
    from hookline.runtime.skills import skill_sources

    config_home = _absolute_variable("XDG_CONFIG_HOME")
    return skill_sources(skill_folders(sources()), current_directory(), home(), config_home, trust())


def config_directory() -> Path:
    """Where the user's own files are."""
    return (_absolute_variable("XDG_CONFIG_HOME") or home() / ".config") / "hookline"


def own_record() -> RecordSettings | None:
    """What the user's own file says about recording."""
    return own_record_settings(home(), _absolute_variable("XDG_CONFIG_HOME"), trust().path.parent)


def _absolute_variable(name: str) -> Path | None:
    """The XDG specification: a relative path counts as unset."""
    value = os.environ.get(name, "")
    return Path(value) if os.path.isabs(value) else None


def are_hooks_off(book: Book) -> bool:
    """Whether errors have left no hook."""
    return not book.hooks and bool(errors_of(book.problems))


def load_book(configs: Sequence[str], dialect: str | None, *, importing: bool = True, host: Host | None = None) -> Book:
    """The hooks of the named files, which are trusted and read as `dialect`; without files, all active hooks.

    Raises ConfigError if errors leave no hook of a named file.
    """
    if not configs:
        return load_all(sources(), trust(), importing=importing, host=host)
    books = [load_file(path, dialect, importing=importing, host=host) for path in configs]
    for book in books:
        if are_hooks_off(book):
            raise ConfigError(book.problems)
    if len(books) == 1:
        return books[0]
    layers = [layer for book in books for layer in book.layers]
    problems = [problem for book in books for problem in book.problems]
    files = HookFiles(
        tuple(file for book in books for file in book.files.files),
        tuple(hold for book in books for hold in book.files.holds),
    )
    return Book(layers, books[0].host, problems, files)
