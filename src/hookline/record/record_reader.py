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

from hookline.record.segment import RecordDirectory, archive_times

Record = dict[str, Any]
LineFilter = Callable[[bytes], bool]

_MTIME_SLACK: Final = 1.0  # file times are coarser than the clock


def read_records(
    directory: RecordDirectory, wanted: LineFilter = lambda line: True, since: str = ""
) -> Iterator[Record]:
    """Each record once, oldest first. `wanted` sees a line before it is parsed, and may let too many through.

    `since` is a time as in records. Live files are read first: one that is archived meanwhile is read twice, never missed.
    """
    live = [_sorted_records(path, wanted) for path in directory.live_segments() if _modified(path) >= since]
    archived = [_records(path, wanted) for path in directory.archives() if archive_times(path)[1] >= since]
    before = ""
    for record in heapq.merge(*live, *archived, key=_by_time):
        if record["id"] != before and record["at"] >= since:
            before = record["id"]
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
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict) or not isinstance(record.get("id"), str) or not isinstance(record.get("at"), str):
        return None
    return record


def _records(path: Path, wanted: LineFilter) -> Iterator[Record]:
    parsed = (parse_record(line) for line in read_lines(path) if wanted(line))
    return (record for record in parsed if record is not None)


def _sorted_records(path: Path, wanted: LineFilter) -> Iterable[Record]:
    """The clock may have been set back."""
    return sorted(_records(path, wanted), key=_by_time)


def _by_time(record: Record) -> tuple[str, str]:
    return record["at"], record["id"]


def _modified(path: Path) -> str:
    """Not before the time of the last record in it, unless the clock was set back."""
    try:
        latest = os.stat(path).st_mtime + _MTIME_SLACK
        return datetime.fromtimestamp(latest, UTC).isoformat(timespec="microseconds")[:-6] + "Z"
    except FileNotFoundError:
        return ""
