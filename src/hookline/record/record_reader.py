"""Reads the records of all writers."""

from __future__ import annotations

import gzip
import heapq
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from hookline.record.segment import RecordDirectory, archive_times, split_id

_decode: Final = json.JSONDecoder().raw_decode
Record = dict[str, Any]
LineFilter = Callable[[bytes], bool]

_TIME: Final = b'"at":"'
_TIME_LENGTH: Final = len("2026-11-16T20:01:35.458752Z")
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
            by_writer.setdefault(split_id(path.stem)[0], []).extend(_timed_lines(path, wanted))
    live = [sorted(lines) for lines in by_writer.values()]  # they are in order, unless the clock was set back
    archived = [_timed_lines(path, wanted) for path in directory.archives() if archive_times(path)[1] >= since]
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
    files = [(_modified(path), path) for path in directory.live_segments()]
    files += [(archive_times(path)[1], path) for path in directory.archives()]
    found: dict[str, Record] = {}
    for last, path in sorted(files, reverse=True):
        if len(found) >= limit and last < min(record["at"] for record in found.values()):
            break
        found.update((record["id"], record) for record in _records(path, wanted) if matches(record))
        found = {record["id"]: record for record in sorted(found.values(), key=_by_time)[-limit:]}
    return list(found.values())


def first_time(directory: RecordDirectory) -> str:
    """The time of the oldest record; "" if there is none."""
    times = [archive_times(path)[0] for path in directory.archives()[:1]]
    for path in directory.live_segments():
        times += [record["at"] for record in islice(_records(path, lambda line: True), 1)]
    return min(times, default="")


def read_lines(path: Path) -> Iterator[bytes]:
    """Whole lines without their ends: a last line without an end was never acknowledged."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield from (line[:-1] for line in file if line.endswith(b"\n"))
    except FileNotFoundError:
        return  # archived or removed meanwhile
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return  # `verify` says what is missing


def parse_record(line: bytes) -> Record | None:
    """None if it is not a record: `verify` reports it."""
    try:
        text = line.decode()
        record, end = _decode(text)
    except (ValueError, RecursionError):
        return None
    if (
        end != len(text)
        or not isinstance(record, dict)
        or not isinstance(record.get("id"), str)
        or not isinstance(record.get("at"), str)
    ):
        return None
    return record


def _records(path: Path, wanted: LineFilter) -> Iterator[Record]:
    parsed = (parse_record(line) for line in read_lines(path) if wanted(line))
    return (record for record in parsed if record is not None)


def _timed_lines(path: Path, wanted: LineFilter) -> Iterator[tuple[bytes, bytes]]:
    """The time of each line, and the line: enough to sort them. A line begins with the record's id.

    Parsing them all before they are sorted would cost as much again as parsing them.
    """
    for line in read_lines(path):
        if wanted(line):
            start = line.find(_TIME) + len(_TIME)
            yield line[start : start + _TIME_LENGTH], line


def _by_time(record: Record) -> tuple[str, str]:
    return record["at"], record["id"]


def _modified(path: Path) -> str:
    """Not before the time of the last record in it, unless the clock was set back."""
    try:
        latest = os.stat(path).st_mtime + _MTIME_SLACK
        return datetime.fromtimestamp(latest, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
    except FileNotFoundError:
        return ""
