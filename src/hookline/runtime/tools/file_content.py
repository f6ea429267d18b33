"""Reads files of the workspace up to a limit, and replaces them atomically."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from threading import Lock
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.tools.blocking import Deadline
from hookline.runtime.tools.workspace import ToolError, WorkspacePath, require_regular_file

MAX_FILE_BYTES: Final = 10 << 20  # bytes
_CHUNK: Final = 1 << 20
_SNIFFED_BYTES: Final = 8192  # bytes that are checked to tell text from binary data

_replace_lock = Lock()


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Identifies one state of a file."""

    device: int
    file: int
    size: int
    changed: int

    @classmethod
    def from_stat(cls, found: os.stat_result) -> FileVersion:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def read_content(
    target: WorkspacePath, deadline: Deadline, max_bytes: int = MAX_FILE_BYTES
) -> tuple[bytes, FileVersion]:
    """Raises ToolError for a file of more bytes than `max_bytes`."""
    with target.open() as file:
        version = FileVersion.from_stat(os.fstat(file.fileno()))
        if version.size > max_bytes:
            raise ToolError(f"{target.path} has {version.size:,} bytes; at most {max_bytes:,} are read at once")
        parts, remaining = [], max_bytes + 1
        while remaining > 0 and (part := file.read(min(_CHUNK, remaining))):
            deadline.check()
            parts.append(part)
            remaining -= len(part)
        if remaining <= 0:  # it grew, or the system does not know its size
            raise ToolError(f"{target.path} has more than {max_bytes:,} bytes")
    return b"".join(parts), version


def replace_content(
    target: WorkspacePath, data: bytes, deadline: Deadline, unless_changed: FileVersion | None = None
) -> bool:
    """Replaces the file atomically. True if there was no such file before.

    unless_changed: raises ToolError if the file has changed since this version.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"the content has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are allowed")
    before = _check_replaceable(target)
    mode = None if before is None else before.st_mode & 0o777
    name = f".{secrets.token_hex(8)}.tmp"
    try:
        _write_temporary(name, target.directory, data, mode, deadline)
        with _replace_lock:
            now = _check_replaceable(target)
            if unless_changed is not None and (now is None or FileVersion.from_stat(now) != unless_changed):
                raise ToolError(f"{target.path} has changed in the meantime; read it again")
            deadline.check()
            os.rename(name, target.name, src_dir_fd=target.directory, dst_dir_fd=target.directory)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=target.directory)
    return before is None


def is_text(start: bytes) -> bool:
    return b"\0" not in start[:_SNIFFED_BYTES]


def _check_replaceable(target: WorkspacePath) -> os.stat_result | None:
    found = target.lstat()
    if found is None:
        return None
    require_regular_file(found, target.path)
    if not os.access(target.name, os.W_OK, dir_fd=target.directory):
        raise ToolError(f"{target.path} is not writable")
    return found


def _write_temporary(name: str, directory: int, data: bytes, mode: int | None, deadline: Deadline) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666 if mode is None else 0o600, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        for start in range(0, len(data), _CHUNK):
            deadline.check()
            file.write(data[start : start + _CHUNK])
        if mode is not None:
            os.fchmod(file.fileno(), mode)
