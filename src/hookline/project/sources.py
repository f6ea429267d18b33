"""Finds the hook files that apply to a session in a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hookline.dialects.dialect import CONFIG_LOCATIONS, ConfigLocation
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_module

if TYPE_CHECKING:
    import glob
else:
    glob = lazy_module("glob")

_CONFIG_PREFIX: Final = ".config/"  # replaced by `config_home` if the caller gives one


HUB_RULES: Final = "hub rules"
"""How messages name the file of the rules that a hub gave."""


class SourceLayer(StrEnum):
    """In the order in which hooks with the same `order` run."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Source:
    path: Path
    display_path: str  # as messages show it
    dialect: str | None  # None: recognised by its name and content
    layer: SourceLayer
    project: Path | None = None  # the root of its project; None: the user's own file, which is trusted
    run_by: str = ""  # the coding agent that runs its hooks itself; only those that it ignores are loaded
    directory: Path | None = field(default=None, compare=False)  # of the session that found it

    @property
    def is_from_project(self) -> bool:
        """True if it is in a project. That includes local files: the project's author may have added them."""
        return self.project is not None


def named_source(path: str | Path, dialect: str | None = None) -> Source:
    """A file that the user named, so it is trusted."""
    return Source(Path(path), str(path), dialect, SourceLayer.NAMED)


def find_sources(directory: Path, home: Path, config_home: Path | None = None) -> tuple[Source, ...]:
    """The user's files, then the project's from its root down to the directory, then the local ones.

    A file that is found twice, through a link or because the project is the home directory, counts only once, where it
    was found first.
    """
    here, home = _real_path(directory), _real_path(home)
    found: dict[str, Source] = {}
    for source in (*_user_sources(here, home, config_home), *_project_sources(here, home)):
        found.setdefault(os.path.realpath(source.path), source)
    return tuple(found.values())


def hub_rules_path(state: Path) -> Path:
    """The rules of the hub that the user joined with `--take-rules`; `state` is hookline's state directory."""
    return state / "hub_rules" / "hub.json"


def hub_rules_source(state: Path) -> Source | None:
    """Like a file of a project: what it runs waits for the user's trust, and it never loosens."""
    path = hub_rules_path(state)
    if not os.path.lexists(path):
        return None
    return Source(path, HUB_RULES, "flo", SourceLayer.USER, path.parent)


def own_file_source(home: Path, config_home: Path | None = None) -> Source | None:
    """The user's own `hookline.yaml`, whose settings hold also where other files are named."""
    for place in CONFIG_LOCATIONS["native"]:
        if place.user:
            return next(_sources_at("native", place, _real_path(home), config_home), None)
    return None


def project_directories(directory: Path, home: Path) -> tuple[Path, ...]:
    """From the repository's root down to the directory; without a repository, the directory alone.

    A session inside the home directory never looks above it.
    """
    here, home = _real_path(directory), _real_path(home)
    visited: list[Path] = []
    for parent in (here, *here.parents):
        visited.append(parent)
        if os.path.lexists(parent / ".git"):
            return tuple(reversed(visited))
        if parent == home:
            break
    return (here,)


def _user_sources(here: Path, home: Path, config_home: Path | None) -> Iterator[Source]:
    for dialect, place in _dialect_places(user=True):
        if place.selector is not None:
            listed = place.selector(home, project_directories(here, home))
            yield from (Source(path, str(path), dialect, SourceLayer.USER) for path in listed)
            continue
        yield from _sources_at(dialect, place, home, config_home)


def _sources_at(dialect: str, place: ConfigLocation, home: Path, config_home: Path | None) -> Iterator[Source]:
    base, pattern = home, place.pattern
    if config_home is not None and pattern.startswith(_CONFIG_PREFIX):
        base, pattern = _real_path(config_home), pattern.removeprefix(_CONFIG_PREFIX)
    for path in _glob_paths(base, pattern, place.accepts):
        yield Source(path, _shorten_home(path, home), dialect, SourceLayer.USER)


def _project_sources(here: Path, home: Path) -> Iterator[Source]:
    directories = project_directories(here, home)
    for layer in (SourceLayer.PROJECT, SourceLayer.LOCAL):
        for directory in directories:
            for dialect, place in _dialect_places(user=False):
                if place.local is not (layer is SourceLayer.LOCAL):
                    continue
                for path in _glob_paths(directory, place.pattern, place.accepts):
                    yield Source(path, os.path.relpath(path, here), dialect, layer, directories[0], directory=here)


def _dialect_places(user: bool) -> Iterable[tuple[str, ConfigLocation]]:
    return [(dialect, place) for dialect, places in CONFIG_LOCATIONS.items() for place in places if place.user is user]


def _glob_paths(base: Path, pattern: str, accepts: Callable[[str], bool] | None) -> list[Path]:
    """An unreadable directory has no files. A broken link is found: reading it reports the problem."""
    found = [base / name for name in sorted(glob.glob(pattern, root_dir=base))]
    return found if accepts is None else [path for path in found if accepts(path.name)]


def _shorten_home(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _real_path(path: Path) -> Path:
    return Path(os.path.realpath(path))
