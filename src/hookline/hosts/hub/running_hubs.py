"""Hubs of this user on this machine: each has a file in `hubs`, and holds a lock on it while it runs.

The kernel frees the lock of a process that was killed, so a file without one is of a hub that has ended. It stays until a
hub on the same database starts, which takes its key over: hosts may still wait for an answer to what they asked with it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.hub.hub_file import JoinedHub, encode_hub, read_hub_file, read_joined_hub
from hookline.lazy_dataclasses import replace

DIRECTORY: Final = "hubs"
_MAX_ENDED: Final = 10  # files of hubs that have ended, on other databases
_LEFTOVER_SECONDS: Final = 60.0


def find_hub(state: Path) -> JoinedHub | None:
    """The hub to ask: the one that was joined, else of those on this machine the one that has run longest.

    If none runs, the one that was started last, with `runs` false. None if there never was one.
    """
    joined = read_joined_hub(state)
    if joined is not None:
        return joined
    found = local_hubs(state)
    running = [hub for hub in found if hub.runs]
    if running:
        return running[0]
    return found[-1] if found else None


def local_hubs(state: Path) -> list[JoinedHub]:
    """In the order in which they started."""
    return sorted(_hubs_by_file(state).values(), key=lambda hub: hub.started)


@contextmanager
def announce_hub(state: Path, id: str, hub: JoinedHub) -> Iterator[None]:
    """Hosts find the hub until the end of the block. Raises HooklineError."""
    path = state / DIRECTORY / f"{id}.json"
    try:
        descriptor = _create_locked(path, encode_hub(hub))
    except OSError as error:
        raise HooklineError(f"{path} cannot be written: {error.strerror}") from error
    try:
        _remove_ended(state, hub.store)
        yield
    finally:
        os.close(descriptor)


def _create_locked(path: Path, data: bytes) -> int:
    """Locked before it has its name: nobody takes the hub for one that has ended."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.replace(new, path)
    except BaseException:
        os.close(descriptor)
        with suppress(OSError):
            os.unlink(new)
        raise
    return descriptor


def _hubs_by_file(state: Path) -> dict[Path, JoinedHub]:
    try:
        paths = list((state / DIRECTORY).glob("*.json"))
    except OSError:
        return {}
    found = {path: hub for path in paths if (hub := read_hub_file(path)) is not None}
    return {path: replace(hub, runs=_is_locked(path)) for path, hub in found.items()}


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove_ended(state: Path, store: str) -> None:
    """Those whose key was taken over, the oldest of the others, and files that are no hub's."""
    known = _hubs_by_file(state)
    ended = {path: hub for path, hub in known.items() if not hub.runs}
    others = sorted((path for path in ended if ended[path].store != store), key=lambda path: ended[path].started)
    kept = others[-_MAX_ENDED:]
    for path in ended:
        if path not in kept:
            path.unlink(missing_ok=True)
    for path in (state / DIRECTORY).iterdir():
        if path not in known and _is_leftover(path):
            path.unlink(missing_ok=True)


def _is_leftover(path: Path) -> bool:
    """Of a hub that was killed while it wrote its file: a hub that starts now has a new one."""
    try:
        age = time.time() - path.lstat().st_mtime
    except OSError:
        return False
    return path.suffix in (".new", ".json") and age > _LEFTOVER_SECONDS and not _is_locked(path)
