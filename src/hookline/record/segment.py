"""Where records are kept: the directory, its files, and who may take a file that its writer has left.

<state>/hookline/record/
├── live/<writer>-<n>.jsonl    one writer's records, locked while it may still write
├── archive/<first>_<last>_<count>_<hash>.jsonl.gz    records of one day, of files that their writers have left
├── heads/<writer>    how far a writer's chain came, locked while it may still write
├── hooks/<sha256>.json    the texts of the hooks in force, each set once
└── chains.jsonl    where each writer's chain began and how far it came
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from hookline.lazy_dataclasses import dataclass

SEGMENT_BYTES: Final = 1 << 20
ARCHIVE_RECORDS: Final = 20_000
_ARCHIVE_INTERVAL: Final = 600.0  # seconds
_MANY_FILES: Final = 64
_ARCHIVE_NAME: Final = re.compile(r"[\dT.Z-]+_[\dT.Z-]+_\d+(_[0-9a-f]{16})?\.jsonl\.gz")  # earlier ones have no hash
_MAKING_ATTEMPTS: Final = 3
_WRITER: Final = re.compile(r"[0-9a-f]{16}")
LIVE_NAME: Final = re.compile(r"([0-9a-f]{16})-(\d+)\.jsonl")


@dataclass(frozen=True, slots=True)
class RecordDirectory:
    path: Path

    @property
    def live(self) -> Path:
        return self.path / "live"

    @property
    def archive(self) -> Path:
        return self.path / "archive"

    @property
    def heads(self) -> Path:
        return self.path / "heads"

    @property
    def hooks(self) -> Path:
        return self.path / "hooks"

    @property
    def chains(self) -> Path:
        return self.path / "chains.jsonl"

    def create(self) -> None:
        """Owner-only, also if an earlier version or a person made it otherwise. Raises OSError."""
        for directory in (self.path, self.live, self.heads, self.archive, self.hooks):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if directory.stat().st_mode & 0o077:
                directory.chmod(0o700)

    def live_segments(self) -> list[Path]:
        """Each writer's segments in the order in which it wrote them."""
        found = [
            (name[1], int(name[2]), path) for path in _files(self.live) if (name := LIVE_NAME.fullmatch(path.name))
        ]
        return [path for _, _, path in sorted(found)]

    def head_files(self) -> list[Path]:
        return sorted(path for path in _files(self.heads) if _WRITER.fullmatch(path.name))

    @property
    def archive_lock(self) -> Path:
        """Locked while a process archives; its time is that of the last time."""
        return self.path / "archive.lock"

    def is_archiving_due(self) -> bool:
        """Whether there are records, and no process has archived any in the last ten minutes."""
        try:
            since = time.time() - self.archive_lock.stat().st_mtime
        except OSError:
            return self.path.is_dir()
        return not 0 <= since < _ARCHIVE_INTERVAL

    def has_many_live_files(self) -> bool:
        try:
            with os.scandir(self.live) as found:
                return next(islice(found, _MANY_FILES, None), None) is not None
        except OSError:
            return False

    def archives(self) -> list[Path]:
        """Oldest first."""
        return sorted(path for path in _files(self.archive) if _ARCHIVE_NAME.fullmatch(path.name))


def record_directory(state: Path) -> RecordDirectory:
    """`state` is hookline's own state directory."""
    return RecordDirectory(state / "record")


def split_id(id: str) -> tuple[str, int]:
    """The writer of a record, and its number in the writer's chain: 0 if it is not a record's id."""
    writer, _, number = id.partition("-")
    return writer, int(number) if number.isdecimal() else 0


def archive_name(first: str, last: str, count: int, digest: str) -> str:
    """`first` and `last` are the times of records, `digest` is of all of them: archives of the same times are two files."""
    return f"{first}_{last}_{count}_{digest[:16]}.jsonl.gz".replace(":", "")


def archive_times(path: Path) -> tuple[str, str]:
    """The times of the first and last record, as in records."""
    first, last, *_ = path.name.split("_")
    return _with_colons(first), _with_colons(last)


def archive_records(path: Path) -> int:
    return int(path.name.removesuffix(".jsonl.gz").split("_")[2])


def _with_colons(time: str) -> str:
    """`2026-11-16T190512.000000Z` → `2026-11-16T19:05:12.000000Z`"""
    return f"{time[:13]}:{time[13:15]}:{time[15:]}"


def open_segment(path: Path) -> int:
    """A new file that a writer appends to, and has locked. Raises OSError."""
    return create_locked(path, os.O_APPEND)


def create_locked(path: Path, flags: int = 0, data: bytes = b"") -> int:
    """A new file that has its name only once it is locked: else a reader could take it for one that was left.

    Raises OSError.
    """
    for _ in range(_MAKING_ATTEMPTS - 1):
        with suppress(
            BlockingIOError, FileNotFoundError
        ):  # we slept, and it was removed as one that was left unfinished
            return _create_locked(path, flags, data)
    return _create_locked(path, flags, data)


def _create_locked(path: Path, flags: int, data: bytes) -> int:
    unlocked = path.with_suffix(".new")
    file = os.open(unlocked, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.write(file, data) != len(data):
            raise OSError("the disk is full")
        os.rename(unlocked, path)
    except BaseException:
        os.close(file)
        with suppress(OSError):
            os.unlink(unlocked)  # else no later attempt could make it
        raise
    return file


def take_if_left(path: Path) -> int | None:
    """The open, locked file if its writer has ended. The lock ends with the process of the writer, however it ends."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def running_writers(directory: RecordDirectory) -> frozenset[str]:
    """Those whose process may still write. A lock that is shared for a moment stops nobody for longer than that."""
    return frozenset(path.name for path in directory.head_files() if _is_locked(path))


def _is_locked(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _files(directory: Path) -> list[Path]:
    """Regular files only: whoever reads a pipe waits, and a directory or a link in place of a file is no record."""
    try:
        with os.scandir(directory) as entries:
            return [directory / entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
