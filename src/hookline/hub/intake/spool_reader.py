"""Reads what is new in this user's record: lines of live files, and archives that were not read yet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.record.record_reader import read_lines
from hookline.record.segment import RecordDirectory

_LIVE_NAME: Final = re.compile(r"[0-9a-f]{16}-\d+\.jsonl")
_MAX_READ: Final = 4 << 20  # bytes in one look


@dataclass(frozen=True, slots=True)
class _Position:
    inode: int
    offset: int


@dataclass(frozen=True, slots=True)
class SpoolLines:
    """Lines of one look. They count as read once `confirm` was called with them."""

    lines: list[bytes]
    positions: dict[str, _Position]
    archives: frozenset[str]
    is_all: bool  # False: there is more


class SpoolReader:
    """A file need not stay open: what is archived before it was read is read from the archive."""

    def __init__(self, directory: RecordDirectory, archives: frozenset[str] = frozenset()) -> None:
        """`archives` are the names of those that were read by an earlier process."""
        self._directory = directory
        self._positions: dict[str, _Position] = {}
        self.archives = archives

    def look(self) -> SpoolLines:
        archives = {path.name: path for path in self._directory.archives()}
        unread = [path for name, path in archives.items() if name not in self.archives]
        if unread:
            lines = list(read_lines(unread[0]))
            names = (self.archives & archives.keys()) | {unread[0].name}
            return SpoolLines(lines, {}, frozenset(names), False)
        return self._look_at_live()

    def confirm(self, done: SpoolLines) -> None:
        self._positions.update(done.positions)
        self.archives = done.archives

    def _look_at_live(self) -> SpoolLines:
        lines: list[bytes] = []
        positions: dict[str, _Position] = {}
        found: set[str] = set()
        budget = _MAX_READ
        for name, inode, size in sorted(self._live_files(), key=lambda each: _by_number(each[0])):
            found.add(name)
            before = self._positions.get(name, _Position(inode, 0))
            start = before.offset if before.inode == inode else 0
            if size <= start or budget <= 0:
                continue
            data = _read(self._directory.live / name, start, budget)
            budget -= len(data)
            end = data.rfind(b"\n") + 1  # a last line without an end is not whole yet
            lines += data[:end].splitlines()
            positions[name] = _Position(inode, start + end)
        for name in self._positions.keys() - found:
            del self._positions[name]
        return SpoolLines(lines, positions, self.archives, budget > 0)

    def _live_files(self) -> Iterator[tuple[str, int, int]]:
        try:
            with os.scandir(self._directory.live) as entries:
                for entry in entries:
                    if _LIVE_NAME.fullmatch(entry.name):
                        try:
                            status = entry.stat()
                        except FileNotFoundError:
                            continue
                        yield entry.name, status.st_ino, status.st_size
        except FileNotFoundError:
            return


def _by_number(name: str) -> tuple[str, int]:
    writer, _, number = name.removesuffix(".jsonl").partition("-")
    return writer, int(number)


def _read(path: Path, start: int, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(most)
    except FileNotFoundError:
        return b""  # archived meanwhile
