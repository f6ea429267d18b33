"""The files below a directory, by name; links are not followed, and `.git` is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hookline.runtime.tools.aside import Until
from hookline.runtime.tools.workspace import Spot, open_directory

MOST_FILES: Final = 100_000
_MOST_IN_ONE: Final = 50_000  # entries of one directory
_DEEPEST: Final = 64
_LEFT_OUT: Final = frozenset({".git"})


@dataclass(slots=True)
class Walked:
    """How far it came."""

    files: int = 0
    all: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    is_directory: bool
    is_link: bool


def entries(directory: int, most: int = _MOST_IN_ONE) -> tuple[list[Entry], bool]:
    """What is in a directory, by name; False beside it if there is more."""
    with os.scandir(directory) as found:
        listed = [
            Entry(each.name, each.is_dir(follow_symlinks=False), each.is_symlink()) for each in islice(found, most + 1)
        ]
    return sorted(listed[:most], key=lambda entry: entry.name), len(listed) <= most


def files_below(directory: int, start: str, until: Until, walked: Walked) -> Iterator[Spot]:
    """Each spot can be used until the next one is asked for."""
    yield from _below(directory, f"{start}/" if start else "", until, walked, 0)


def _below(directory: int, start: str, until: Until, walked: Walked, depth: int) -> Iterator[Spot]:
    listed, complete = entries(directory)
    walked.all &= complete and depth < _DEEPEST
    for entry in listed:
        if until.over or walked.files >= MOST_FILES:
            walked.all = False
            return
        if not entry.is_directory:
            walked.files += 1
            yield Spot(directory, entry.name, start + entry.name)
        elif entry.name not in _LEFT_OUT and depth < _DEEPEST:
            yield from _into(Spot(directory, entry.name, start + entry.name), until, walked, depth)


def _into(spot: Spot, until: Until, walked: Walked, depth: int) -> Iterator[Spot]:
    try:
        inner = open_directory(spot.name, spot.directory)
    except OSError:  # gone, or not ours to read
        walked.all = False
        return
    try:
        yield from _below(inner, f"{spot.path}/", until, walked, depth + 1)
    finally:
        os.close(inner)
