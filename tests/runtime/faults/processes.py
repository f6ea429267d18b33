"""Whether something that a test started still runs."""

from __future__ import annotations

import asyncio
from pathlib import Path


def running_with(marker: str) -> list[int]:
    """Processes that have the marker in their command line."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (place / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(place.name))
        except OSError:  # it has just ended
            continue
    return found


async def gone(marker: str) -> bool:
    """Within a while: a killed process is there until somebody has looked at it."""
    for _ in range(100):
        if not running_with(marker):
            return True
        await asyncio.sleep(0.05)
    return False


async def there(marker: str) -> None:
    while not running_with(marker):  # noqa: ASYNC110 (nobody tells us when it has begun)
        await asyncio.sleep(0.02)
