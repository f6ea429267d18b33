"""What the user has accepted, in one file that every process of the user shares."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from hookline.errors import HooklineError

_log = logging.getLogger("hookline")

VERSION: Final = 1
_LARGEST: Final = 50_000_000  # bytes
_said: set[str] = set()
_saying = Lock()


class Accepted:
    """`{"version": 1, "files": {path: {"hash": …, "at": …}}}`. A file that cannot be read accepts nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def hash_of(self, file: Path) -> str | None:
        entry = self._files().get(str(file))
        found = entry.get("hash") if isinstance(entry, dict) else None
        return found if isinstance(found, str) else None

    def add(self, hashes: Mapping[Path, str]) -> None:
        """Safe beside other processes that do the same. Raises HooklineError if it cannot be written."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(self.path.with_name(self.path.name + ".lock")):
                self._refuse_newer()
                new = {str(file): {"hash": hash, "at": now} for file, hash in hashes.items()}
                _replace(self.path, {"version": VERSION, "files": {**self._files(), **new}})
        except OSError as error:
            raise HooklineError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def _files(self) -> dict[str, Any]:
        try:
            held = self._read()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self._say(f"cannot be read ({type(error).__name__})")
            return {}
        files = held.get("files") if isinstance(held, dict) else None
        if not isinstance(files, dict) or held.get("version") != VERSION:
            self._say(f"is not a list of version {VERSION}")
            return {}
        return files

    def _refuse_newer(self) -> None:
        """A newer hookline's list is not ours to overwrite; a broken one is."""
        try:
            held = self._read()
        except (OSError, ValueError, RecursionError):
            return
        version = held.get("version") if isinstance(held, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise HooklineError(f"{self.path} is of version {version}; this hookline knows {VERSION}")

    def _read(self) -> Any:
        with self.path.open("rb") as file:
            return json.loads(file.read(_LARGEST))

    def _say(self, what: str) -> None:
        with _saying:
            if str(self.path) in _said:
                return
            _said.add(str(self.path))
        _log.warning("%s %s, so no project's file counts as trusted; `hookline trust` writes it anew", self.path, what)


def _replace(path: Path, value: Any) -> None:
    descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)  # only its owner may read it
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has none; there the last writer wins
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
