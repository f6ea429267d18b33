"""One process at a time works on a session: two would run its tools twice."""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path

from hookline.errors import HooklineError


class Claims:
    """Locks of one file, a byte for each session. They end with the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def claim(self, session: str) -> None:
        """Raises HooklineError if another process on this machine has it."""
        try:
            if self._file is None:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_of(session))
        except (BlockingIOError, PermissionError):
            raise HooklineError(f"another hookline is at work on the session {session}; end it there first") from None

    def release(self, session: str) -> None:
        if self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte_of(session))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _byte_of(session: str) -> int:
    return int.from_bytes(hashlib.sha256(session.encode("utf-8", "surrogatepass")).digest()[:7], "big") >> 1
