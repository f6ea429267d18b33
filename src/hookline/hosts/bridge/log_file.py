"""The log file of the engine. Its stderr belongs to the agent, and some agents act on what is printed there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

LOG_NAME: Final = "bridge.log"
_MAX_LOG_SIZE: Final = 4 * 1024 * 1024  # bytes


def log_to_file(directory: Path) -> None:
    """Redirects this process's stderr to the log file, which starts over when it is large. Does nothing if it cannot be opened."""
    path = directory / LOG_NAME
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _MAX_LOG_SIZE:
            os.replace(path, path.with_suffix(".old"))
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        file = os.open(os.devnull, os.O_WRONLY)
    os.dup2(file, 2)
    os.close(file)


def truncate_log() -> None:
    """Starts the log file over when it is large; for long-lived processes."""
    if os.fstat(2).st_size > _MAX_LOG_SIZE:
        os.ftruncate(2, 0)
