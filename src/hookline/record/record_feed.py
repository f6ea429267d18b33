"""Hands out new records, each once: for a reader that follows the record, or keeps a copy of it elsewhere."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from hookline.record.hash_chain import BrokenChain, ChainsFile, Head, last_line, line_hash
from hookline.record.record_reader import Record, open_archives, parse_record, whole_lines
from hookline.record.segment import RecordDirectory

_START: Final = re.compile(rb'\{"id":"([0-9a-f]{16})-(\d+)","previous":"([0-9a-f]{64})"')


class FedRecord(NamedTuple):
    """One record and its place in its writer's chain."""

    writer: str
    head: Head  # its number and hash
    is_linked: bool  # False: the records before it were changed or removed, and not because they were too old
    line: bytes

    @property
    def record(self) -> Record | None:
        """None if it is not what hookline writes: `verify` says so."""
        return parse_record(self.line)


class _Waiting(NamedTuple):
    line: bytes
    previous: str


class RecordFeed:
    """New records of all writers, in each writer's order, also if their files are archived meanwhile.

    `heads` says how far each writer's records were handed out, and `archives` which archives need not be read again. A
    reader that stores them with what it has taken gives them to its next feed, and goes on there. Reading takes no locks
    and changes nothing: any number of readers may follow.
    """

    def __init__(
        self,
        directory: RecordDirectory,
        heads: Mapping[str, Head] | None = None,
        archives: Iterable[str] = (),
    ) -> None:
        self.heads: dict[str, Head] = dict(heads or {})
        self.archives = frozenset(archives)
        self._directory = directory
        self._offsets: dict[str, int] = {}  # in live files, by their names
        self._archives = set(archives)  # the names of those that were read
        self._reading: Iterator[FedRecord] | None = None
        self._waiting: dict[
            str, dict[int, _Waiting]
        ] = {}  # by writer and number; some wait for the records before them
        self._holes: dict[str, int] = {}  # of the look before: by writer, the first number that waits

    def skip_to_end(self) -> None:
        """Hands out only what is written from now on."""
        with suppress(BrokenChain):  # of writers whose files were archived
            self.heads |= {writer: chain.known for writer, chain in ChainsFile(self._directory.chains).read().items()}
        self._archives = {path.name for path in self._directory.archives()}
        self.archives = frozenset(self._archives)
        for name, size in self._live_sizes().items():
            with suppress(FileNotFoundError):
                file = os.open(self._directory.live / name, os.O_RDONLY | os.O_CLOEXEC)
                line, torn = last_line(file, size)
                os.close(file)
                self._offsets[name] = size - torn
                self._set_head(line)

    def read(self) -> Iterator[FedRecord]:
        """What is new since the last call. You may stop early: the next call goes on."""
        self._read_live_files()  # before archives: what is archived meanwhile is seen twice, and handed out once
        for writer in list(self._waiting):
            yield from self._ready(writer)
        for path, file in open_archives(self._directory, lambda path: path.name not in self._archives):
            with file:
                for line in whole_lines(file):
                    yield from self._ready(self._add(line))
            self._archives.add(path.name)
        yield from self._skip_holes()
        if not self._waiting:
            self.archives = frozenset(self._archives)

    def take(self, most: int) -> list[FedRecord]:
        """At most so many of what is new. If they are fewer, there is no more for now."""
        self._reading = self._reading or self.read()
        taken = list(itertools.islice(self._reading, most))
        if len(taken) < most:
            self._reading = None
        return taken

    def read_by_time(self) -> list[Record]:
        """What is new, as records, oldest first."""
        found = [record for fed in self.read() if (record := fed.record) is not None]
        return sorted(found, key=lambda record: (record["at"], record["id"]))

    def _read_live_files(self) -> None:
        sizes = self._live_sizes()
        self._offsets = {name: offset for name, offset in self._offsets.items() if name in sizes}
        for name, size in sizes.items():
            offset = self._offsets.get(name, 0)
            if size > offset:
                with suppress(FileNotFoundError), open(self._directory.live / name, "rb") as file:
                    file.seek(offset)
                    for line in whole_lines(file):
                        self._add(line)
                        offset += len(line) + 1
                    self._offsets[name] = offset

    def _live_sizes(self) -> dict[str, int]:
        sizes = {}
        for path in self._directory.live_segments():
            with suppress(FileNotFoundError):
                sizes[path.name] = path.stat().st_size
        return sizes

    def _add(self, line: bytes) -> str:
        """The line's writer."""
        start = _START.match(line)
        if start is None:
            return ""  # `verify` reports it
        writer, number = start[1].decode(), int(start[2])
        if number > self._head(writer).number:
            self._waiting.setdefault(writer, {})[number] = _Waiting(line, start[3].decode())
        return writer

    def _ready(self, writer: str) -> Iterator[FedRecord]:
        """The writer's records of which all before were handed out."""
        waiting = self._waiting.get(writer, {})
        while (found := waiting.pop(number := self._head(writer).number + 1, None)) is not None:
            yield self._hand_out(writer, number, found)
        if not waiting:
            self._waiting.pop(writer, None)

    def _hand_out(self, writer: str, number: int, found: _Waiting) -> FedRecord:
        is_linked = found.previous == self._head(writer).hash
        head = self.heads[writer] = Head(number, line_hash(found.line))
        return FedRecord(writer, head, is_linked, found.line)

    def _skip_holes(self) -> Iterator[FedRecord]:
        """Goes on behind records that never come, because they were too old or somebody removed them.

        Somebody, if they are still missing at the next look: they may be on their way into an archive.
        """
        if self._waiting:
            self._skip_old()
        before, self._holes = self._holes, {}
        for writer in list(self._waiting):
            yield from self._ready(writer)
            while waiting := self._waiting.get(writer):
                first = self._holes[writer] = min(waiting)
                if before.get(writer) != first:
                    break
                yield self._hand_out(writer, first, waiting.pop(first))
                yield from self._ready(writer)

    def _skip_old(self) -> None:
        with suppress(BrokenChain):
            for writer, chain in ChainsFile(self._directory.chains).read().items():
                waiting = self._waiting.get(writer)
                if waiting and chain.removed.number > self._head(writer).number:
                    self.heads[writer] = chain.removed
                    self._waiting[writer] = {n: found for n, found in waiting.items() if n > chain.removed.number}

    def _head(self, writer: str) -> Head:
        return self.heads.get(writer) or Head()

    def _set_head(self, line: bytes) -> None:
        start = _START.match(line)
        if start is not None and int(start[2]) > self._head(start[1].decode()).number:
            self.heads[start[1].decode()] = Head(int(start[2]), line_hash(line))
