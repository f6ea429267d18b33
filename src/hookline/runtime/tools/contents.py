"""What stands in a file of the workspace: read in bounds, replaced as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Final

from hookline.runtime.tools.aside import Until
from hookline.runtime.tools.workspace import Refused, Spot, check_plain

MOST_WRITTEN: Final = 10 << 20  # bytes
_CHUNK: Final = 1 << 20
_LOOKED_AT: Final = 8192  # bytes that tell text from other data

_replacing = Lock()


@dataclass(frozen=True, slots=True)
class Version:
    """What tells one state of a file from another."""

    device: int
    file: int
    size: int
    changed: int

    @classmethod
    def of(cls, found: os.stat_result) -> Version:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def whole(spot: Spot, until: Until, most: int = MOST_WRITTEN) -> tuple[bytes, Version]:
    """Raises Refused for a file of more bytes than `most`."""
    with spot.open() as file:
        version = Version.of(os.fstat(file.fileno()))
        if version.size > most:
            raise Refused(f"{spot.path} has {version.size:,} bytes; at most {most:,} are read at once")
        parts, room = [], most + 1
        while room > 0 and (part := file.read(min(_CHUNK, room))):
            until.check()
            parts.append(part)
            room -= len(part)
        if room <= 0:  # it grew, or the system does not know its size
            raise Refused(f"{spot.path} has more than {most:,} bytes")
    return b"".join(parts), version


def replace(spot: Spot, data: bytes, until: Until, unless_changed: Version | None = None) -> bool:
    """Nobody ever sees half of it. True if there was no such file before.

    unless_changed: raises Refused if the file is not any more what it was then.
    """
    if len(data) > MOST_WRITTEN:
        raise Refused(f"that is {len(data):,} bytes; at most {MOST_WRITTEN:,} are written")
    before = _check_replaceable(spot)
    mode = None if before is None else before.st_mode & 0o777
    name = f".{secrets.token_hex(8)}.tmp"
    try:
        _write(name, spot.directory, data, mode, until)
        with _replacing:
            now = _check_replaceable(spot)
            if unless_changed is not None and (now is None or Version.of(now) != unless_changed):
                raise Refused(f"{spot.path} was changed meanwhile; read it again")
            until.check()
            os.rename(name, spot.name, src_dir_fd=spot.directory, dst_dir_fd=spot.directory)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=spot.directory)
    return before is None


def is_text(start: bytes) -> bool:
    return b"\0" not in start[:_LOOKED_AT]


def _check_replaceable(spot: Spot) -> os.stat_result | None:
    found = spot.look()
    if found is None:
        return None
    check_plain(found, spot.path)
    if not os.access(spot.name, os.W_OK, dir_fd=spot.directory):
        raise Refused(f"{spot.path} may not be written")
    return found


def _write(name: str, directory: int, data: bytes, mode: int | None, until: Until) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666 if mode is None else 0o600, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        for start in range(0, len(data), _CHUNK):
            until.check()
            file.write(data[start : start + _CHUNK])
        if mode is not None:
            os.fchmod(file.fileno(), mode)
