"""heads/<writer>: how far a writer's chain came, kept apart from its records, so that the end of a chain cannot be cut off.

A writer notes a record's hash before it writes the record, and then that the record is written. So if it is killed between the
two, its last record may be there or not; but none may follow it, and none before it may be missing.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import FIRST, BrokenChain, Head
from hookline.record.segment import RecordDirectory, create_locked

WRITING: Final = "w"  # after the number and hash of the next record, and the hash of the one before
WRITTEN: Final = b"d"
STATE_OFFSET: Final = 20 + 1 + 64 + 1 + 64 + 1
_FORMAT: Final = re.compile(r"(\d{20}) ([0-9a-f]{64}) ([0-9a-f]{64}) ([wd])\n(.*)\n")
_MAX_BYTES: Final = 512
_READ_ATTEMPTS: Final = 1000
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def create_head_file(path: Path) -> int:
    """Of a chain without records, and locked, as long as its writer lives. Raises OSError."""
    return create_locked(path, data=f"{0:020} {FIRST} {FIRST} d\n{read_boot_id()}\n".encode())


def read_boot_id() -> str:
    """Another one after each start of the machine; "" where the system has none."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class NotedHead:
    """What a writer noted."""

    last: Head
    previous: Head  # the record before it
    is_written: bool  # False: `last` may be there or not
    boot: str

    @property
    def least(self) -> Head:
        """The last record that must be there."""
        return self.last if self.is_written else self.previous

    @property
    def is_of_earlier_boot(self) -> bool:
        """If the machine lost its power, records and heads are on the disk as far as the system had written them."""
        return self.boot != read_boot_id()


def read_heads(directory: RecordDirectory) -> dict[str, NotedHead]:
    """Of writers that were not archived as a whole. Raises BrokenChain."""
    heads = {}
    for path in directory.head_files():
        with suppress(FileNotFoundError):
            heads[path.name] = read_head(path)
    return heads


def read_head(path: Path) -> NotedHead:
    """Raises FileNotFoundError or BrokenChain."""
    data = _read_settled(path)
    found = _FORMAT.fullmatch(data.decode(errors="replace"))
    if found is None:
        raise BrokenChain(f"heads/{path.name}", "this is not a file that hookline wrote")
    number = int(found[1])
    previous = Head(max(0, number - 1), found[3])
    return NotedHead(Head(number, found[2]), previous, found[4] == WRITTEN.decode(), found[5])


def _read_settled(path: Path) -> bytes:
    """Twice the same: a writer may be just about to change it, and a read can see half of that."""
    before = b""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for _ in range(_READ_ATTEMPTS):
            data = os.pread(file, _MAX_BYTES, 0)
            if data == before:
                break
            before = data
        return before
    finally:
        os.close(file)
