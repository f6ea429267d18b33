"""The hash chains: each record names the hash of the one before it, and chains.jsonl says how far each chain came.

So a record that was changed, removed or inserted is found. Somebody who may write the directory can compute all hashes anew:
an anchor, kept elsewhere, finds that too.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass, field

FIRST: Final = "0" * 64  # the hash before the first record


_EMPTY: Final = hashlib.sha256()


def line_hash(line: bytes) -> str:
    """Of a record's line without its line end."""
    hash = _EMPTY.copy()  # OpenSSL looks an algorithm up each time it is named, which costs more than a short line
    hash.update(line)
    return hash.hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain came."""

    number: int = 0
    hash: str = FIRST


@dataclass(slots=True)
class WriterChain:
    """What chains.jsonl says about one writer."""

    removed: Head = field(default_factory=Head)  # the last record that is gone because it was too old
    known: Head = field(default_factory=Head)  # a record that must exist
    has_file: bool = True  # False: its files were archived, so it may have left none


@dataclass(frozen=True, slots=True)
class ChainEntry:
    writer: str
    event: str  # opened, archived or removed
    head: Head
    at: float

    def line(self, previous: str) -> bytes:
        value = {
            "writer": self.writer,
            "event": self.event,
            "number": self.head.number,
            "hash": self.head.hash,
            "at": self.at,
            "previous": previous,
        }
        return json.dumps(value, separators=(",", ":")).encode()


class BrokenChain(Exception):
    """`where` is the id of the first record that is wrong, or a file's name."""

    def __init__(self, where: str, what: str) -> None:
        self.where = where
        self.what = what
        super().__init__(f"{where}: {what}")


class ChainsFile:
    """chains.jsonl: a chain of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, entries: Iterable[ChainEntry]) -> None:
        """Raises OSError."""
        entries = list(entries)
        if not entries:
            return
        file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            last, torn = _last_line(file, size)
            if torn:  # a process was killed while it wrote: nobody was told that the line is there
                os.ftruncate(file, size - torn)
            previous = line_hash(last) if last else FIRST
            lines = bytearray()
            for entry in entries:
                line = entry.line(previous)
                previous = line_hash(line)
                lines += line + b"\n"
            if os.write(file, lines) != len(lines):
                os.ftruncate(file, size - torn)
                raise OSError("the disk is full")
        finally:
            os.close(file)

    def read(self) -> dict[str, WriterChain]:
        """What is known of each writer. Raises BrokenChain."""
        chains: dict[str, WriterChain] = {}
        for entry in self._entries():
            chain = chains.setdefault(entry.writer, WriterChain())
            chain.has_file = entry.event == "opened"
            if entry.event == "removed":
                chain.removed = entry.head
            if entry.head.number > chain.known.number:
                chain.known = entry.head
        return chains

    def head(self) -> Head:
        """The number of lines and the hash of the last one. Raises BrokenChain."""
        number, last = 0, FIRST
        for line in self._lines():
            number, last = number + 1, line_hash(line)
        return Head(number, last)

    def hash_at(self, number: int) -> str:
        """The hash of a line by its number, or "" if there is no such line."""
        return next((line_hash(line) for n, line in enumerate(self._lines(), 1) if n == number), "")

    def _entries(self) -> Iterator[ChainEntry]:
        previous = FIRST
        for number, line in enumerate(self._lines(), 1):
            where = f"{self.path.name}:{number}"
            entry, before = parse_chain_line(line, where)
            if before != previous:
                raise BrokenChain(where, "a line before it was changed, removed or inserted")
            previous = line_hash(line)
            yield entry

    def _lines(self) -> Iterator[bytes]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        yield from data.split(b"\n")[:-1]  # a last line without its end was never acknowledged


def parse_chain_line(line: bytes, where: str) -> tuple[ChainEntry, str]:
    try:
        value: dict[str, Any] = json.loads(line)
        head = Head(int(value["number"]), str(value["hash"]))
        return ChainEntry(value["writer"], value["event"], head, float(value["at"])), value["previous"]
    except (ValueError, KeyError, TypeError):
        raise BrokenChain(where, "this is not a line that hookline wrote") from None


def _last_line(file: int, size: int) -> tuple[bytes, int]:
    """The last whole line without its end, and how many bytes of an unfinished one follow it."""
    piece = os.pread(file, 4096, max(0, size - 4096))
    end = piece.rfind(b"\n")
    if end < 0:
        return b"", len(piece)
    return piece[piece.rfind(b"\n", 0, end) + 1 : end], len(piece) - end - 1
