"""Reads the records of all writers."""

from __future__ import annotations

import gzip
import hashlib
import heapq
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, cast

from hookline.record.segment import RecordDirectory, archive_name, archive_times, split_id

_decode: Final = json.JSONDecoder().raw_decode
Record = dict[str, Any]
LineFilter = Callable[[bytes], bool]

_TIME: Final = b'"at":"'
_TIME_LENGTH: Final = len("2026-11-16T20:01:35.458752Z")
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("kind", "event", "host", "session", "thread", "agent", "user", "tool", "call", "caller"), (str,)),
    **dict.fromkeys(("verdict", "reason", "hook", "file", "dialect", "hooks"), (str,)),
    **dict.fromkeys(("line", "lost", "cut"), (int,)),
    "ms": (int, float),
    **dict.fromkeys(("trace", "notes", "failures"), (list,)),
}
_MAX_SHAPES: Final = 1000
_known_shapes: Final[set[tuple[Any, ...]]] = set()  # keys and types of values
_MTIME_SLACK: Final = 1.0  # file times are coarser than the clock


def read_records(
    directory: RecordDirectory, wanted: LineFilter = lambda line: True, since: str = ""
) -> Iterator[Record]:
    """Each record once, oldest first. `wanted` sees a line before it is parsed, and may let too many through.

    `since` is a time as in records. Live files are read first: one that is archived meanwhile is read twice, never missed.
    """
    by_writer: dict[str, list[tuple[bytes, bytes]]] = {}
    for path in directory.live_segments():
        if _modified(path) >= since:
            lines = ((line_time(line), line) for line in read_lines(path) if wanted(line))
            by_writer.setdefault(split_id(path.stem)[0], []).extend(lines)
    live = [sorted(lines) for lines in by_writer.values()]  # they are in order, unless the clock was set back
    archives = open_archives(directory, lambda path: archive_times(path)[1] >= since)
    archived = [_timed_lines(file, wanted) for _, file in archives]
    files: list[Iterable[tuple[bytes, bytes]]] = [*live, *archived]
    before, first = b"", since.encode()
    for at, line in files[0] if len(files) == 1 else heapq.merge(*files):
        if at >= first and line != before:
            before = line
            record = parse_record(line)
            if record is not None:
                yield record


def read_latest(
    directory: RecordDirectory, matches: Callable[[Record], bool], limit: int, wanted: LineFilter = lambda line: True
) -> list[Record]:
    """The last records that match, oldest first. Reads no more files than it must."""
    while True:
        with suppress(FileNotFoundError):  # a file was archived since it was listed: where it is now, the list must say
            return _read_latest(directory, matches, limit, wanted)


def _read_latest(
    directory: RecordDirectory, matches: Callable[[Record], bool], limit: int, wanted: LineFilter
) -> list[Record]:
    files = [(_modified(path), path) for path in directory.live_segments()]
    files += [(archive_times(path)[1], path) for path in directory.archives()]
    found: dict[str, Record] = {}
    for last, path in sorted(files, reverse=True):
        if len(found) >= limit and last < min(record["at"] for record in found.values()):
            break
        with open_lines(path) as file:
            parsed = (parse_record(line) for line in whole_lines(file) if wanted(line))
            found.update((record["id"], record) for record in parsed if record is not None and matches(record))
        found = {record["id"]: record for record in sorted(found.values(), key=_by_time)[-limit:]}
    return list(found.values())


def first_time(directory: RecordDirectory) -> str:
    """The time of the oldest record; "" if there is none."""
    live = (filter(None, map(parse_record, read_lines(path))) for path in directory.live_segments())
    times = [record["at"] for records in live for record in islice(records, 1)]
    times += [archive_times(path)[0] for path in directory.archives()[:1]]
    return min(times, default="")


def open_lines(path: Path) -> IO[bytes]:
    """Raises FileNotFoundError if it was archived or removed since it was listed."""
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def open_archives(
    directory: RecordDirectory, wanted: Callable[[Path], bool] = lambda path: True
) -> list[tuple[Path, IO[bytes]]]:
    """Those that are wanted, oldest first.

    All of the same moment: small archives are joined into a new one, and a file that is open can be read although it is gone.
    """
    while True:
        found: list[tuple[Path, IO[bytes]]] = []
        try:
            for path in filter(wanted, directory.archives()):
                found.append((path, open_lines(path)))
            return found
        except FileNotFoundError:
            for _, file in found:
                file.close()


def read_lines(path: Path) -> Iterator[bytes]:
    """Its whole lines, or none if it was archived or removed meanwhile."""
    with suppress(FileNotFoundError), open_lines(path) as file:
        yield from whole_lines(file)


def whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Without their ends. A last line without an end was never acknowledged."""
    with suppress(EOFError, zlib.error, gzip.BadGzipFile):  # `verify` says what is missing
        yield from (line[:-1] for line in file if line.endswith(b"\n"))


def line_time(line: bytes) -> bytes:
    """The time of the record, without parsing it: enough to sort lines, at a tenth of the cost."""
    start = line.find(_TIME) + len(_TIME)
    return line[start : start + _TIME_LENGTH]


class ArchiveContent:
    """What the name of an archive says about its records."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        self._first = self._last = b""
        self._count = 0
        self._digest = hashlib.sha256()
        for line in lines:
            self.add(line)

    def add(self, line: bytes) -> None:
        self._last = line_time(line)
        self._first = self._first or self._last
        self._count += 1
        self._digest.update(line + b"\n")

    @property
    def name(self) -> str:
        times = (self._first.decode(errors="replace"), self._last.decode(errors="replace"))
        return archive_name(*times, self._count, self._digest.hexdigest())

    def has_name(self, path: Path) -> bool:
        """Archives of earlier versions have no hash in their names."""
        given, own = (name.removesuffix(".jsonl.gz").split("_") for name in (path.name, self.name))
        return given == own[: len(given)]


def parse_record(line: bytes) -> Record | None:
    """None if it is not a record: `verify` reports it."""
    try:
        text = line.decode()
        record, end = _decode(text)
    except (ValueError, RecursionError):
        return None
    return record if end == len(text) and is_record(record) else None


def is_record(record: Any) -> bool:
    """Whether each value has the type of its key, so that no reader fails on a record that somebody changed.

    Only the id and the time must be there.
    """
    if type(record) is not dict or type(record.get("id")) is not str:
        return False
    at = record.get("at")
    if type(at) is not str or len(at) != _TIME_LENGTH or at[-1] != "Z":
        return False
    shape = (*record, *map(type, record.values()))
    if shape not in _known_shapes:  # most records look alike
        if not all(type(value) in _TYPES.get(key, (type(value),)) for key, value in record.items()):
            return False
        if len(_known_shapes) < _MAX_SHAPES:
            _known_shapes.add(shape)
    return "trace" not in record or all(map(_is_trace_entry, record["trace"]))


def _is_trace_entry(entry: Any) -> bool:
    if type(entry) is not dict or type(entry.get("outcome", {})) is not dict:
        return False
    texts = (entry.get("hook", ""), entry.get("file", ""), entry.get("outcome", {}).get("verdict", ""))
    numbers = (entry.get("line", 0), entry.get("ms", 0))
    return all(type(text) is str for text in texts) and all(type(number) in (int, float) for number in numbers)


def _timed_lines(file: IO[bytes], wanted: LineFilter) -> Iterator[tuple[bytes, bytes]]:
    with file:
        for line in whole_lines(file):
            if wanted(line):
                yield line_time(line), line


def _by_time(record: Record) -> tuple[str, str]:
    return record["at"], record["id"]


def _modified(path: Path) -> str:
    """Not before the time of the last record in it, unless the clock was set back."""
    try:
        latest = os.stat(path).st_mtime + _MTIME_SLACK
        return datetime.fromtimestamp(latest, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
    except FileNotFoundError:
        return ""
