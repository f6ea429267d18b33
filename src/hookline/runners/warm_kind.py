"""Which calls one warm interpreter can serve, and how to see that it no longer can."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

_STANDING: Final = re.compile(
    rb"^(?:Umask|Uid|Gid|Groups|NoNewPrivs|Seccomp|SigBlk|SigIgn|CapInh|CapAmb|Cpus_allowed):.*", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Kind:
    """Calls that one interpreter can serve."""

    name: str
    executable: str
    directory: str  # where it must start; only a relative name depends on it
    shell: str  # that starts it, or empty
    env: frozenset[tuple[bytes, bytes]]
    standing: tuple[bytes, ...]  # what a new process inherits from this one at this moment


def mark(path: str) -> tuple[int, ...] | None:
    """Another one once the file has changed."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def standing() -> tuple[bytes, ...]:
    """Mask, limits, signals and rights of this process: a new one gets those of now, a fork those of then."""
    with open("/proc/thread-self/status", "rb", 0) as file:
        lines = _STANDING.findall(file.read())
    with open("/proc/self/limits", "rb", 0) as file:
        return (*lines, file.read(), b"%d" % os.getpriority(os.PRIO_PROCESS, 0))
