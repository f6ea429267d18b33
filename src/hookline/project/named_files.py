"""The files of a project that its hooks name by path, however they spell it.

It errs on the side of too many: a file too much is only looked at again when it changes, while one that is missed could
be changed by anybody after the user accepted the hooks.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.hook import Hook

MOST_WORDS: Final = 50_000
MOST_FILES: Final = 1_000
_MOST_DIRECTORIES: Final = 16
_LONGEST_WORD: Final = 1_024
_LONGEST_QUOTED: Final = 20_000
_MOST_STEPS: Final = 32
_BREAK: Final = re.compile(r"""(?:\$\w+|[\s'"`;|&<>()${}=,:\[\]*?!#\\])+""")


class TooManyNames(HooklineError):
    """More than can be watched, so such a file cannot be trusted."""


def words_of(hooks: Iterable[Hook], texts: Iterable[str] = ()) -> tuple[str, ...]:
    """Every word in what these hooks do, and in these texts, that could be a path. Raises TooManyNames."""
    words: dict[str, None] = {}
    for text in dict.fromkeys((*(text for hook in hooks for text in _texts_in(hook.then)), *texts)):
        words.update(dict.fromkeys(_words_in(text)))
        if len(words) > MOST_WORDS:
            raise TooManyNames(f"its commands have more than {MOST_WORDS} words")
    return tuple(words)


def files_named(words: Iterable[str], root: Path, directory: Path) -> tuple[Path, ...]:
    """The regular files inside `root` that a word means, from the root, from `directory` or from a directory that
    another word names, as in `cd tools && ./check`. Raises TooManyNames.
    """
    ways = [way for word in words for way in _ways(word)]
    found, below = _looked_up(ways, dict.fromkeys((root, directory)), root)
    more, _ = _looked_up(ways, list(below)[:_MOST_DIRECTORIES], root)
    files = {**found, **more}
    if len(files) > MOST_FILES:
        raise TooManyNames(f"its commands name more than {MOST_FILES} files")
    return tuple(sorted(files))


def _looked_up(ways: Iterable[str], bases: Iterable[Path], root: Path) -> tuple[dict[Path, None], dict[Path, None]]:
    """The files and the directories inside of `root` that these ways lead to."""
    files: dict[Path, None] = {}
    directories: dict[Path, None] = {}
    roots = (str(root), os.path.realpath(root))
    for path in dict.fromkeys(os.path.normpath(os.path.join(base, way)) for base in bases for way in ways):
        mode = _mode(path)
        if mode is None or not _inside(path, roots):
            continue
        if stat.S_ISREG(mode):
            files[Path(path)] = None
        elif stat.S_ISDIR(mode):
            directories[Path(path)] = None
    return files, directories


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return None


def _inside(path: str, roots: tuple[str, ...]) -> bool:
    return any(
        each.startswith(root.rstrip(os.sep) + os.sep) for root in roots for each in (path, os.path.realpath(path))
    )


def _ways(word: str) -> Iterator[str]:
    """The word itself. Of one that begins at the top, at a home or after a variable, also each of its ends."""
    yield word
    if word[0] not in "/~":
        return
    steps = [step for step in word.split("/") if step]
    for start in range(min(len(steps), _MOST_STEPS)):
        yield "/".join(steps[start:])


_WRITTEN: Final = re.compile(r"""(?:&|\d)?>{1,2}\|?[ \t]*(?:"[^"$`\\]*"|'[^']*'|[\w./~+-]+)(?=[\s;&|)]|$)""")
"""A redirection: what a command writes is not what it runs."""


def _words_in(text: str) -> Iterator[str]:
    text = _WRITTEN.sub(" ", text)
    words = [text, *_BREAK.split(text)]
    if len(text) <= _LONGEST_QUOTED and any(mark in text for mark in "'\"\\"):
        words += _unquoted(text)
    return (word for word in words if 0 < len(word) <= _LONGEST_WORD and "\0" not in word)


def _unquoted(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # quotes without an end
        return []


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in an action, whatever kind of action it is."""
    waiting, seen = [value], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            waiting += _parts(each)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value) if not field.name.startswith("_")]
    return []
