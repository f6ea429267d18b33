"""Removes archives that are too old, or too many: always the beginnings of chains, so that every hole is somebody's deed."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import ChainEntry, ChainsFile, Head, line_hash
from hookline.record.record_reader import parse_record, read_lines
from hookline.record.segment import RecordDirectory, archive_records, archive_times, split_id


@dataclass(slots=True)
class _Span:
    """The records of one writer in one file: others of its records may be between them, in other files."""

    first: int
    last: Head
    at: str  # the latest time of one


def remove_old_archives(directory: RecordDirectory, keep: timedelta | None, most: int) -> None:
    """Those whose last record is older than `keep`, and the oldest if there are more than `most` records.

    One stays for as long as an archive or live file that stays has an earlier record of one of its writers.
    """
    oldest = (datetime.now(UTC) - keep).isoformat(timespec="microseconds")[:-6] + "Z" if keep is not None else ""
    archives = _Archives(directory)
    records = sum(map(archive_records, archives.paths))
    unwanted: list[Path] = []
    for path in list(archives.paths):
        if records > most or archives.is_older(path, oldest):
            unwanted.append(path)
            while removed := archives.remove_next(unwanted):
                records -= sum(map(archive_records, removed))
                unwanted = [path for path in unwanted if path not in removed]


def remove_old_hook_texts(directory: RecordDirectory, keep: timedelta) -> None:
    limit = time.time() - keep.total_seconds() - 86_400
    for path in directory.hooks.glob("*.json"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                path.unlink()


class _Archives:
    def __init__(self, directory: RecordDirectory) -> None:
        self._directory = directory
        self.paths = directory.archives()
        self._spans: dict[Path, dict[str, _Span]] = {}  # of those that were read

    def is_older(self, path: Path, oldest: str) -> bool:
        """Also its records: somebody may have given it an old name, to have it removed."""
        if archive_times(path)[1] >= oldest:
            return False
        return all(span.at < oldest for span in self._read(path).values())

    def remove_next(self, unwanted: Collection[Path]) -> list[Path]:
        """Removes one of these if that leaves no hole, else all that can only go together; [] if none can."""
        going = self._without_holes(unwanted)
        if not going:
            return []
        removed = next((alone for path in going if (alone := self._without_holes([path]))), going)
        heads: dict[str, Head] = {}
        for writer, span in (item for path in removed for item in self._read(path).items()):
            heads[writer] = max(heads.get(writer, Head()), span.last, key=lambda head: head.number)
        entries = [ChainEntry(writer, "removed", head, time.time()) for writer, head in heads.items()]
        ChainsFile(self._directory.chains).add(entries)
        for path in removed:
            path.unlink()
            self.paths.remove(path)
        return removed

    def _without_holes(self, unwanted: Collection[Path]) -> list[Path]:
        """As many of these as can go together."""
        going = list(unwanted)
        while going:
            first_kept = self._first_kept(going)
            possible = [path for path in going if not self._has_later(path, first_kept)]
            if len(possible) == len(going):
                break
            going = possible
        return going

    def _has_later(self, path: Path, numbers: dict[str, int]) -> bool:
        return any(
            span.last.number > numbers.get(writer, span.last.number) for writer, span in self._read(path).items()
        )

    def _first_kept(self, going: Collection[Path]) -> dict[str, int]:
        """The first record that stays of each writer. An archive that begins later than these end has none before theirs."""
        end = max(archive_times(path)[1] for path in going)
        kept = [self._read(path) for path in self.paths if path not in going and archive_times(path)[0] <= end]
        kept += [_read_spans(islice(read_lines(path), 1)) for path in self._directory.live_segments()]
        first: dict[str, int] = {}
        for writer, span in (item for spans in kept for item in spans.items()):
            first[writer] = min(first.get(writer, span.first), span.first)
        return first

    def _read(self, path: Path) -> dict[str, _Span]:
        if path not in self._spans:
            self._spans[path] = _read_spans(read_lines(path))
        return self._spans[path]


def _read_spans(lines: Iterable[bytes]) -> dict[str, _Span]:
    spans: dict[str, _Span] = {}
    for line in lines:
        record = parse_record(line)
        writer, number = split_id(record["id"]) if record is not None else ("", 0)
        if record is None or not number:
            continue  # `verify` reports it
        span = spans.setdefault(writer, _Span(number, Head(), ""))
        span.first = min(span.first, number)
        span.at = max(span.at, record["at"])
        if number > span.last.number:
            span.last = Head(number, line_hash(line))
    return spans
