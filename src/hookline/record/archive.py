"""Moves the records of writers that have ended into archives, and removes those that are too old."""

from __future__ import annotations

import fcntl
import gzip
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Final

from hookline.hooks.record_settings import MAX_RECORDS
from hookline.record.hash_chain import BrokenChain, ChainEntry, ChainsFile, Head, WriterChain, line_hash
from hookline.record.head_file import read_head
from hookline.record.old_archives import remove_old_archives, remove_old_hook_texts
from hookline.record.record_reader import ArchiveContent, line_time, parse_record, read_lines
from hookline.record.segment import (
    ARCHIVE_RECORDS,
    RecordDirectory,
    archive_records,
    archive_times,
    split_id,
    take_if_left,
)

_SETTLE_SECONDS: Final = 60.0  # so that `log --follow` sees a file before it is archived
_MANY_CHAIN_LINES: Final = 2_000  # 400 KB
_UNFINISHED_SECONDS: Final = 60.0  # a writer that is just making its file needs it
_DAY_LENGTH: Final = len("2026-11-16")

_log = logging.getLogger("hookline")


def archive_if_due(directory: RecordDirectory, keep: Callable[[], timedelta | None]) -> None:
    """Errors are not reported: nothing is lost, and the next process tries again."""
    try:
        if directory.is_archiving_due():
            archive_records_of_ended_writers(directory, keep())
    except OSError as error:
        _log.debug("records could not be archived: %s", error)


def archive_records_of_ended_writers(
    directory: RecordDirectory, keep: timedelta | None, *, most: int = MAX_RECORDS, settle: float = _SETTLE_SECONDS
) -> None:
    """Does nothing if another process is at it. Raises OSError, for example if the disk is full; then nothing is lost.

    With `keep=None`, no record is too old.
    """
    with _lock(directory) as is_ours:
        if is_ours:
            _remove_unfinished(directory)
            _archive_segments(directory, settle)
            _note_ends(directory)
            remove_old_archives(directory, keep, most)
            if keep is not None:
                remove_old_hook_texts(directory, keep)
            _compact_chains(directory)


def _remove_unfinished(directory: RecordDirectory) -> None:
    """Files of processes that were killed before the file had its name. Nothing in them was acknowledged."""
    for path in directory.archive.glob("*.new"):
        path.unlink()
    unfinished = (*directory.live.glob("*.new"), *directory.heads.glob("*.new"))
    for path, file in _files_without_owner(unfinished, _UNFINISHED_SECONDS):
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(file)


def _archive_segments(directory: RecordDirectory, settle: float) -> None:
    left = list(_files_without_owner(directory.live_segments(), settle))
    try:
        lines = [line for path, _ in left for line in read_lines(path)]
        small = _read_small_archives(directory, lines)
        written = _write_archives(directory, [*lines, *(line for found in small.values() for line in found)])
        heads = {split_id(path.stem)[0]: Head() for path, _ in left} | _heads(lines)
        ChainsFile(directory.chains).add(_entries("archived", heads))
        for path in (*(path for path, _ in left), *(small.keys() - written)):
            with suppress(FileNotFoundError):
                path.unlink()
    finally:
        for _, file in left:
            os.close(file)


def _note_ends(directory: RecordDirectory) -> None:
    """Moves what ended writers noted into chains.jsonl, once all of their files are archived."""
    with ExitStack() as locks, suppress(BrokenChain):  # `verify` reports it
        left = []
        for path in directory.head_files():
            if (file := take_if_left(path)) is not None:
                locks.callback(os.close, file)
                if not any(directory.live.glob(f"{path.name}-*.jsonl")):  # it has ended, so it makes no other one
                    left.append(path)
        if not left:
            return
        chains = ChainsFile(directory.chains)
        known = chains.read()
        listed = [path for path in left if path.name in known]
        chains.add(entry for path in listed for entry in _end_entries(path, known[path.name]))
        for path in left:
            if path in listed or not read_head(path).least.number:  # killed before its first record
                path.unlink()


def _end_entries(path: Path, known: WriterChain) -> Iterator[ChainEntry]:
    """Nothing if no record was written. Raises BrokenChain."""
    noted = read_head(path)
    end = noted.last if noted.last == known.known else noted.least
    if end.number and known.end is None:
        is_lost = noted.is_of_earlier_boot and end != known.known
        yield ChainEntry(path.name, "interrupted" if is_lost else "ended", known.known if is_lost else end, time.time())


def _files_without_owner(paths: Iterable[Path], seconds: float) -> Iterator[tuple[Path, int]]:
    """Those that nobody has locked or written to for so long. Each is open and locked."""
    for path in paths:
        with suppress(FileNotFoundError):
            if _is_older(path, seconds) and (file := take_if_left(path)) is not None:
                yield path, file


def _is_older(path: Path, seconds: float) -> bool:
    """A time in the future is one from before the clock was set back."""
    modified = path.stat().st_mtime
    return not 0 <= time.time() - modified < seconds


def _read_small_archives(directory: RecordDirectory, lines: Iterable[bytes]) -> dict[Path, list[bytes]]:
    """Archives of the same days that have room for more: many short-lived writers must not leave many archives.

    Usually one: a process that was killed may have left another one, with the same records and fewer.
    """
    days = {line_time(line)[:_DAY_LENGTH].decode() for line in lines}
    found = {}
    for path in directory.archives():
        first, last = (time[:_DAY_LENGTH] for time in archive_times(path))
        if archive_records(path) < ARCHIVE_RECORDS // 2 and any(first <= day <= last for day in days):
            kept = list(read_lines(path))
            if ArchiveContent(kept).has_name(path):  # else it is damaged, and left for `verify` to find
                found[path] = kept
    return found


def _write_archives(directory: RecordDirectory, lines: Iterable[bytes]) -> set[Path]:
    """One or more for each day, so that a day can be removed."""
    written = set()
    parsed = ((parse_record(line), line) for line in dict.fromkeys(lines))
    rows = sorted((record["at"], split_id(record["id"]), line) for record, line in parsed if record is not None)
    for _, group in groupby(rows, lambda row: row[0][:_DAY_LENGTH]):
        day = [line for _, _, line in group]
        for start in range(0, len(day), ARCHIVE_RECORDS):
            written.add(_write_archive(directory, day[start : start + ARCHIVE_RECORDS]))
    return written


def _write_archive(directory: RecordDirectory, lines: Sequence[bytes]) -> Path:
    data = b"".join(line + b"\n" for line in lines)
    path = directory.archive / ArchiveContent(lines).name
    unfinished = path.with_suffix(".new")
    with open(os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(gzip.compress(data, compresslevel=4, mtime=0))
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
    _touch_hook_texts(directory, lines)
    return path


def _touch_hook_texts(directory: RecordDirectory, lines: Iterable[bytes]) -> None:
    """Hook texts are removed by their time, so those that records name are as new as the records, whatever the clock says."""
    newest: dict[str, str] = {}
    for line in lines:
        record = parse_record(line)
        if record is not None and "hooks" in record:
            newest[record["hooks"]] = max(record["at"], newest.get(record["hooks"], ""))
    for digest, at in newest.items():
        path = directory.hooks / f"{digest}.json"
        with suppress(OSError, ValueError):
            latest = max(time.time(), path.stat().st_mtime, datetime.fromisoformat(at).timestamp())
            os.utime(path, (latest, latest))


def _heads(lines: Iterable[bytes]) -> dict[str, Head]:
    """The last record of each writer."""
    heads: dict[str, Head] = {}
    for line in lines:
        record = parse_record(line)
        writer, number = split_id(record["id"]) if record is not None else ("", 0)
        if number > heads.get(writer, Head()).number:
            heads[writer] = Head(number, line_hash(line))
    return heads


def _entries(event: str, heads: dict[str, Head]) -> list[ChainEntry]:
    return [ChainEntry(writer, event, head, time.time()) for writer, head in heads.items()]


def _compact_chains(directory: RecordDirectory) -> None:
    """Leaves out writers of which no record is kept."""
    with_files = {split_id(path.stem)[0] for path in (*directory.live.iterdir(), *directory.head_files())}

    def is_gone(writer: str, chain: WriterChain) -> bool:
        return not chain.has_file and chain.removed.number >= chain.known.number and writer not in with_files

    with suppress(BrokenChain):  # `verify` reports it
        ChainsFile(directory.chains).compact(is_gone, _MANY_CHAIN_LINES)


@contextmanager
def _lock(directory: RecordDirectory) -> Iterator[bool]:
    directory.create()
    file = os.open(directory.archive_lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        os.utime(file)
        yield True
    finally:
        os.close(file)
