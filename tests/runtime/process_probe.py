"""Whether something that a test started still runs."""

from __future__ import annotations

import asyncio
from pathlib import Path


def pids_with(marker: str) -> list[int]:
    """Processes that have the marker in their command line."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (place / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(place.name))
        except OSError:  # it has just ended
            continue
    return found


async def wait_until_gone(marker: str) -> bool:
    """Within a while: a killed process is there until somebody has looked at it."""
    for _ in range(100):
        if not pids_with(marker):
            return True
        await asyncio.sleep(0.05)
    return False


async def wait_until_running(command: str) -> None:
    """Once the command itself runs: a shell that will run it has it in its command line too."""
    while not _pids_of_command(command):  # noqa: ASYNC110 (nobody tells us when it has begun)
        await asyncio.sleep(0.02)


def _pids_of_command(command: str) -> list[int]:
    found = []
    for pid in pids_with(command):
        try:
            whole = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if whole.rstrip(b"\0").replace(b"\0", b" ") == command.encode():
            found.append(pid)
    return found
