"""The files of a project that its hooks name by path, however they spell it.

It errs on the side of too many: a file too much is only looked at again when it changes, while one that is missed could
be changed by anybody after the user accepted the hooks.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from hookline.project.named_words import Names, TooManyNames
from hookline.project.searched_words import BRACKETS

MOST_FILES: Final = 1_000
MOST_LOOKS: Final = 150_000  # at the disk, for all the words of one file
_MOST_DIRECTORIES: Final = 64
_MAGIC: Final = re.compile(rf"[*?]|{BRACKETS.pattern}")


def files_named(names: Names, root: Path, directory: Path) -> tuple[Path, ...]:
    """The regular files inside `root` that a word means, from the root, from `directory` or from a directory that
    other words name, as in `cd tools && ./check`; and all files in the directories and patterns that are searched.
    Raises TooManyNames.
    """
    disk = _Disk(root)
    bases = dict.fromkeys(map(str, (root, directory)))
    done = 0
    while done < len(bases):
        base = list(bases)[done]
        done += 1
        for word in names.words:
            for way in _ways(word):
                bases.update(dict.fromkeys(disk.directory(os.path.join(base, way))))
        if len(bases) > _MOST_DIRECTORIES:
            raise TooManyNames(f"its commands name more than {_MOST_DIRECTORIES} directories")
        for word in names.searched:
            disk.search(base, word)
    beside = _Disk(directory)
    for word in names.beside:
        beside.directory(os.path.join(directory, word))
    return tuple(sorted(map(Path, {**disk.files, **beside.files})))


def _ways(word: str) -> Iterator[str]:
    """The word itself. Of one that begins at the top, at a home or after a variable, also each of its ends."""
    yield word
    if word[0] in "/~":
        rest = word.partition("/")[2]
        while rest:
            yield rest
            rest = rest.partition("/")[2].lstrip("/")


class _Disk:
    """Looks for files inside of one project, and not for ever."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, None] = {}
        self._roots = (str(root), os.path.realpath(root))
        self._left = MOST_LOOKS
        self._walked: set[str] = set()

    def directory(self, path: str) -> tuple[str, ...]:
        """The path if it is that of a directory inside; that of a file is kept."""
        mode = self._mode(path)
        if mode is None or not self._inside(path := _plain(path)):
            return ()
        if stat.S_ISREG(mode):
            self._keep(path)
        return (path,) if stat.S_ISDIR(mode) else ()

    def search(self, base: str, pattern: str) -> None:
        """Keeps every file that the pattern means from there, and those in the directories that it means."""
        paths = ["/" if pattern.startswith("/") else base]
        for step in filter(None, pattern.split("/")):
            if step == "**":
                break
            if _MAGIC.search(step):
                paths = [os.path.join(path, name) for path in paths for name in self._listed(path) if _fits(name, step)]
            else:
                paths = [os.path.join(path, step) for path in paths]
        for path in paths:
            self._walk(path)

    def _walk(self, path: str) -> None:
        waiting = [path]
        while waiting:
            path = waiting.pop()
            mode = self._mode(path)
            if mode is not None and stat.S_ISREG(mode) and self._inside(_plain(path)):
                self._keep(_plain(path))
            elif mode is not None and stat.S_ISDIR(mode) and (real := os.path.realpath(path)) not in self._walked:
                self._walked.add(real)
                waiting += [os.path.join(path, name) for name in self._listed(path) if name != ".git"]

    def _listed(self, path: str) -> list[str]:
        """Of a directory inside, or of the project's own."""
        if not self._inside(_plain(path)) and os.path.realpath(path) != self._roots[1]:
            return []
        names = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    self._look()
                    names.append(entry.name)
        except OSError:
            return []
        return names

    def _keep(self, path: str) -> None:
        self.files[path] = None
        if len(self.files) > MOST_FILES:
            raise TooManyNames(f"its commands name more than {MOST_FILES} files")

    def _mode(self, path: str) -> int | None:
        self._look()
        try:
            return os.stat(path).st_mode
        except (OSError, ValueError):
            return None

    def _look(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyNames(f"its commands could name files at more than {MOST_LOOKS} places")

    def _inside(self, path: str) -> bool:
        return any(
            each.startswith(root.rstrip(os.sep) + os.sep)
            for root in self._roots
            for each in (path, os.path.realpath(path))
        )


def _plain(path: str) -> str:
    """The system follows a link before the `..` after it."""
    return os.path.realpath(path) if ".." in path else os.path.normpath(path)


def _fits(name: str, step: str) -> bool:
    return fnmatchcase(name, BRACKETS.sub("?", step))
