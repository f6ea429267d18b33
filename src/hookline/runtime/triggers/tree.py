"""The files of a workspace, as they were when they were last looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from hookline.errors import HooklineError

OURS: Final = frozenset((".git", ".hookline", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".mypy_cache"))
_ENVIRONMENT: Final = "pyvenv.cfg"  # what makes a directory a virtual environment, whatever its name
MOST_DIRECTORIES: Final = 50_000

Changes: TypeAlias = dict[str, str]
"""Paths from the workspace, each with `added`, `modified` or `deleted`."""

_Stamp: TypeAlias = tuple[int, int, int]


class Tree:
    """Regular files whose path from the workspace is wanted. Links are followed to files inside of it, nowhere else."""

    def __init__(self, root: Path, wanted: Callable[[str], bool]) -> None:
        self.directories: frozenset[str] = frozenset()  # that may have such files
        self._root = os.path.realpath(root)
        self._wanted = wanted
        self._files: dict[str, _Stamp] = {}

    def look(self) -> Changes:
        """At all of it. Raises HooklineError if it is gone, or too large."""
        if not os.path.isdir(self._root):
            raise HooklineError(f"{self._root} is gone")
        before, self._files, directories = self._files, {}, set[str]()
        for directory, entries in _walked(self._root):
            directories.add(directory)
            if len(directories) > MOST_DIRECTORIES:
                raise HooklineError(f"{self._root} has more than {MOST_DIRECTORIES:,} directories")
            for path in entries:
                self._take(path)
        self.directories = frozenset(directories)
        return _differences(before, self._files)

    def look_at(self, paths: Iterable[str]) -> Changes:
        """At these alone."""
        named = {os.path.relpath(path, self._root): path for path in paths}
        before = {name: self._files.pop(name) for name in named if name in self._files}
        for path in named.values():
            self._take(path)
        return _differences(before, {name: self._files[name] for name in named if name in self._files})

    def has_other_directories(self, paths: Iterable[str]) -> bool:
        """Whether one of these is a directory that came or went."""
        return any(
            (path in self.directories) != (os.path.isdir(path) and not os.path.islink(path))
            for path in paths
            if not OURS.intersection(Path(os.path.relpath(path, self._root)).parts)
        )

    def _take(self, path: str) -> None:
        name = os.path.relpath(path, self._root)
        if not self._wanted(name) or OURS.intersection(Path(name).parts):
            return
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(found.st_mode) and Path(os.path.realpath(path)).is_relative_to(self._root):
            self._files[name] = (found.st_mtime_ns, found.st_size, found.st_ino)


def _walked(root: str) -> Iterator[tuple[str, list[str]]]:
    """Each directory with what else is in it; whatever has a name that is no text is left out."""
    left = [root]
    while left:
        directory, others = left.pop(), []
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError:  # it went, or is not ours to read
            continue
        if any(entry.name == _ENVIRONMENT for entry in entries) and directory != root:
            continue
        for entry in entries:
            if not _is_text(entry.name):
                continue
            if not entry.is_dir(follow_symlinks=False):
                others.append(entry.path)
            elif entry.name not in OURS:
                left.append(entry.path)
        yield directory, others


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _differences(before: dict[str, _Stamp], now: dict[str, _Stamp]) -> Changes:
    changes = {name: "deleted" for name in before if name not in now}
    for name, stamp in now.items():
        if name not in before:
            changes[name] = "added"
        elif before[name] != stamp:
            changes[name] = "modified"
    return changes
