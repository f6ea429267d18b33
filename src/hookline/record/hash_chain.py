"""The hash chains: each record names the hash of the one before it, and chains.jsonl says how far each chain came.

The end of a chain whose writer lives, or whose records are not archived, is in its head file: see `head_file`. So a record
that was changed, removed or inserted is found. Somebody who may write the directory can compute all hashes anew: an anchor,
kept elsewhere, finds that too.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass, field, replace

FIRST: Final = "0" * 64  # the hash before the first record


_SHORT_LINE: Final = 2048  # bytes


def _find_builtin_sha256() -> Callable[[bytes], Any]:
    """Python's own: after a pause, it takes half as long for a short line as OpenSSL, which has more code to load."""
    for module in ("_sha2", "_sha256"):
        with suppress(ImportError, AttributeError):
            found: Callable[[bytes], Any] = import_module(module).sha256
            return found
    return hashlib.sha256


_builtin_sha256: Final = _find_builtin_sha256()


def line_hash(line: bytes) -> str:
    """Of a record's line without its line end."""
    sha256 = _builtin_sha256 if len(line) < _SHORT_LINE else hashlib.sha256
    text: str = sha256(line).hexdigest()
    return text


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
    has_head: bool = False  # False: nobody noted its end, because an earlier version wrote it, or the machine stopped
    end: Head | None = None  # the last record, once the writer has ended


@dataclass(frozen=True, slots=True)
class ChainEntry:
    writer: str
    event: str  # begun, archived, ended, interrupted or removed; opened by earlier versions, without a head file
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
    """chains.jsonl: a chain of its own. Its first line may stand for lines that were left out: see `compact`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, entries: Iterable[ChainEntry]) -> None:
        """Raises OSError."""
        entries = list(entries)
        if not entries:
            return
        with self._locked() as file:
            size = os.fstat(file).st_size
            last, torn = last_line(file, size)
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

    def compact(self, is_gone: Callable[[str, WriterChain], bool], least: int) -> None:
        """Leaves out what is said of writers that are gone, if that is most of the file and it has `least` lines.

        One line takes the place of all: how many they were, the hash of the last one, and what is known of the other writers.
        Raises OSError or BrokenChain; then nothing is changed.
        """
        with self._locked():
            known, number = self.read(), sum(1 for _ in self._lines())
            kept = {writer: chain for writer, chain in known.items() if not is_gone(writer, chain)}
            if number < least or len(kept) * 2 > number:
                return
            head = self.head()
            line = _Compacted(head, kept).line()
            unfinished = self.path.with_suffix(".new")
            with open(os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(self.path)

    def read(self) -> dict[str, WriterChain]:
        """What is known of each writer. Raises BrokenChain."""
        start, entries = self._parse()
        chains = {writer: replace(chain) for writer, chain in start.writers.items()}
        for entry in entries:
            chain = chains.setdefault(entry.writer, WriterChain())
            chain.has_file = entry.event in ("begun", "opened")
            if entry.event == "removed" and entry.head.number > chain.removed.number:
                chain.removed = entry.head
            elif entry.event in ("begun", "interrupted"):
                chain.has_head = entry.event == "begun"
            elif entry.event == "ended":
                chain.end = entry.head
            if entry.head.number > chain.known.number:
                chain.known = entry.head
        return chains

    def head(self) -> Head:
        """The number of lines, also of those that were left out, and the hash of the last one. Raises BrokenChain."""
        start, entries = self._parse()
        lines = list(self._lines())
        return Head(start.head.number + len(entries), line_hash(lines[-1]) if entries else start.head.hash)

    @property
    def left_out(self) -> int:
        """How many lines the first one stands for. Raises BrokenChain."""
        return self._parse()[0].head.number

    def hash_at(self, number: int) -> str:
        """The hash of a line by its number; "" if there is no such line, or if it was left out. Raises BrokenChain."""
        start, entries = self._parse()
        if number == start.head.number:
            return start.head.hash if number else ""
        lines = list(self._lines())[-len(entries) :] if entries else []
        return line_hash(lines[at]) if 0 <= (at := number - start.head.number - 1) < len(lines) else ""

    def _parse(self) -> tuple[_Compacted, list[ChainEntry]]:
        start, entries, previous = _Compacted(Head(), {}), [], FIRST
        for number, line in enumerate(self._lines(), 1):
            where = f"{self.path.name}:{number}"
            if number == 1 and (compacted := _Compacted.parse(line)) is not None:
                start, previous = compacted, line_hash(line)
                continue
            entry, before = parse_chain_line(line, where)
            if before != previous:
                raise BrokenChain(where, "a line before it was changed, removed or inserted")
            previous = line_hash(line)
            entries.append(entry)
        return start, entries

    def _lines(self) -> Iterator[bytes]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        yield from data.split(b"\n")[:-1]  # a last line without its end was never acknowledged

    @contextmanager
    def _locked(self) -> Iterator[int]:
        while True:
            file = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self._is_current(file):
                    yield file
                    return
            finally:
                os.close(file)

    def _is_current(self, file: int) -> bool:
        """False if the file was compacted while we waited for the lock."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.path))
        except FileNotFoundError:
            return False


@dataclass(frozen=True, slots=True)
class _Compacted:
    """The first line of a file from which lines were left out."""

    head: Head  # how many they were, and the hash of the last one
    writers: dict[str, WriterChain]

    def line(self) -> bytes:
        writers = {
            name: [*_head_json(chain.removed), *_head_json(chain.known), chain.has_file, *_end_json(chain)]
            for name, chain in self.writers.items()
        }
        value = {"event": "compacted", "number": self.head.number, "hash": self.head.hash, "writers": writers}
        return json.dumps(value, separators=(",", ":")).encode()

    @staticmethod
    def parse(line: bytes) -> _Compacted | None:
        """None if it is another line."""
        try:
            value: dict[str, Any] = json.loads(line)
            if value["event"] != "compacted":
                return None
            writers = {
                name: WriterChain(_parse_head(row[:2]), _parse_head(row[2:4]), bool(row[4]), *_parse_end(row[5:]))
                for name, row in value["writers"].items()
            }
            return _Compacted(Head(int(value["number"]), str(value["hash"])), writers)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return None


def _head_json(head: Head) -> tuple[int, str]:
    return head.number, head.hash


def _end_json(chain: WriterChain) -> tuple[bool, *tuple[int | str, ...]]:
    return (chain.has_head, *(_head_json(chain.end) if chain.end is not None else ()))


def _parse_head(row: Sequence[Any]) -> Head:
    return Head(int(row[0]), str(row[1]))


def _parse_end(row: Sequence[Any]) -> tuple[bool, Head | None]:
    """Earlier versions wrote nothing there."""
    return bool(row and row[0]), _parse_head(row[1:]) if row[1:] else None


def parse_chain_line(line: bytes, where: str) -> tuple[ChainEntry, str]:
    try:
        value: dict[str, Any] = json.loads(line)
        head = Head(int(value["number"]), str(value["hash"]))
        return ChainEntry(value["writer"], value["event"], head, float(value["at"])), value["previous"]
    except (ValueError, KeyError, TypeError):
        raise BrokenChain(where, "this is not a line that hookline wrote") from None


def last_line(file: int, size: int) -> tuple[bytes, int]:
    """The last whole line without its end, and how many bytes of an unfinished one follow it."""
    length = 4096
    while True:
        piece = os.pread(file, length, max(0, size - length))
        end = piece.rfind(b"\n")
        start = piece.rfind(b"\n", 0, max(end, 0))
        if length >= size or start >= 0:
            return (piece[start + 1 : end], len(piece) - end - 1) if end >= 0 else (b"", len(piece))
        length *= 8
