"""What the user has accepted, on disk: a JSON file, and a directory of copies beside it.

Only the user may read and write either. All of the user's processes share them.
"""

from __future__ import annotations

import os
from _thread import allocate_lock as Lock  # `threading` takes a millisecond to import
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import hashlib, json, lazy_logger
from hookline.project.private_file import write_private_file
from hookline.project.sources import SourceLayer

_log = lazy_logger("hookline")

TRUST_FILE_VERSION: Final = 2
_MAX_TRUST_FILE_BYTES: Final = 50_000_000
_COPIES_DIRECTORY: Final = "accepted"
EXECUTABLE: Final = "+x"
"""The end of the digest of a file that could be executed: a guard whose script cannot be executed any more is off."""
_warned: set[Hashable] = set()
_warned_lock = Lock()


@dataclass(frozen=True, slots=True)
class AcceptedVersion:
    """One file as the user accepted it, and the digest of each file that it runs, by its path from the project's root.

    `packs` has the digest of each pack that it extends, by the pack's key.
    """

    path: Path
    project: Path
    dialect: str | None
    layer: SourceLayer
    in_repository: bool  # its project had a .git: it counts in every directory below the project
    text: str  # the digest of its text
    runs: Mapping[str, str]
    packs: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "project": str(self.project),
            "dialect": self.dialect,
            "layer": str(self.layer),
            "repository": self.in_repository,
            "text": self.text,
            "runs": dict(self.runs),
            "packs": dict(self.packs),
        }


def content_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class TrustFile:
    """`{"version": 2, "files": {path: {…}}}`, and copies named by their digest. If it cannot be read, nothing is trusted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[object, dict[str, AcceptedVersion]] | None = None

    def get(self, file: Path) -> AcceptedVersion | None:
        return self.versions().get(str(file))

    def versions(self) -> dict[str, AcceptedVersion]:
        """Every accepted file, by its path."""
        stamp = self._stamp()
        if self._read is None or self._read[0] != stamp:
            files = self._read_files()
            self._read = stamp, {path: version for path, entry in files.items() if (version := _parse(path, entry))}
        return self._read[1]

    def read_copy(self, digest: str) -> bytes | None:
        """None if there is no copy, or if it was changed."""
        digest = digest.removesuffix(EXECUTABLE)
        try:
            data = (self._copies / digest).read_bytes()
        except (OSError, ValueError):
            return None
        return data if content_digest(data) == digest else None

    def copies_below(self, name: str) -> Path:
        """A private directory for copies that must have their own file names."""
        return self._copies / name

    @property
    def bytecode(self) -> Path:
        """A private directory for the compiled modules of Python programs that hooks run."""
        return self._copies.parent / "bytecode"

    def add(self, versions: Iterable[AcceptedVersion], copies: Iterable[bytes]) -> None:
        """Safe while other processes add too. Raises HooklineError if it cannot be written."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        new = {str(version.path): {**version.as_json(), "at": now} for version in versions}
        self._update(lambda files: {**files, **new}, copies)

    def remove(self, paths: Iterable[Path]) -> None:
        gone = set(map(str, paths))
        self._update(lambda files: {path: entry for path, entry in files.items() if path not in gone}, ())

    def _update(self, change: Callable[[dict[str, Any]], dict[str, Any]], copies: Iterable[bytes]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _file_lock(self.path.with_name(self.path.name + ".lock")):
                self._refuse_newer_version()
                self._copies.mkdir(exist_ok=True, mode=0o700)
                for data in copies:
                    _write_once(self._copies / content_digest(data), data)
                files = change(self._read_files())
                content = {"version": TRUST_FILE_VERSION, "files": files}
                write_private_file(self.path, json.dumps(content, indent=1, sort_keys=True).encode())
                self._remove_unused_copies(files)
        except OSError as error:
            raise HooklineError(f"{self.path} cannot be written: {error.strerror or error}") from error
        self._read = None

    def _remove_unused_copies(self, files: Mapping[str, Any]) -> None:
        versions = [version for path, entry in files.items() if (version := _parse(path, entry))]
        digests = (
            digest for version in versions for digest in (version.text, *version.runs.values(), *version.packs.values())
        )
        used = {digest.removesuffix(EXECUTABLE) for digest in digests}
        for copy in self._copies.iterdir():
            if copy.is_file() and copy.name not in used:
                with suppress(OSError):
                    copy.unlink()

    @property
    def _copies(self) -> Path:
        return self.path.parent / _COPIES_DIRECTORY

    def _stamp(self) -> object:
        try:
            status = os.stat(self.path)
        except OSError as error:
            return error.errno
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def _read_files(self) -> dict[str, Any]:
        try:
            content = self._read_json()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self._warn(f"cannot be read ({type(error).__name__})")
            return {}
        files = content.get("files") if isinstance(content, dict) else None
        if not isinstance(files, dict) or content.get("version") != TRUST_FILE_VERSION:
            self._warn(f"is not a trust file of version {TRUST_FILE_VERSION}")
            return {}
        return files

    def _refuse_newer_version(self) -> None:
        """Overwrites a broken file, but never the file of a newer hookline."""
        try:
            content = self._read_json()
        except (OSError, ValueError, RecursionError):
            return
        version = content.get("version") if isinstance(content, dict) else None
        if isinstance(version, int) and version > TRUST_FILE_VERSION:
            raise HooklineError(
                f"{self.path} has version {version}, but this hookline supports {TRUST_FILE_VERSION}. Upgrade hookline."
            )

    def _read_json(self) -> Any:
        with self.path.open("rb") as file:
            return json.loads(file.read(_MAX_TRUST_FILE_BYTES))

    def _warn(self, what: str) -> None:
        text = f"{self.path} {what}, so no project file is trusted. Run `hookline trust` to write it again."
        warn_once(str(self.path), text)


def warn_once(subject: Hashable, text: str) -> None:
    """Logs the text, unless this process has already warned about the subject."""
    with _warned_lock:
        if subject in _warned:
            return
        _warned.add(subject)
    _log.warning("%s", text)


def _parse(path: str, entry: Any) -> AcceptedVersion | None:
    """None for an entry that hookline cannot have written."""
    try:
        runs = {str(name): str(digest) for name, digest in entry["runs"].items()}
        packs = {str(key): str(digest) for key, digest in entry.get("packs", {}).items()}
        dialect = None if entry["dialect"] is None else str(entry["dialect"])
        layer, text = SourceLayer(entry["layer"]), str(entry["text"])
        return AcceptedVersion(
            Path(path), Path(entry["project"]), dialect, layer, entry["repository"] is True, text, runs, packs
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _write_once(path: Path, data: bytes) -> None:
    try:
        if content_digest(path.read_bytes()) == path.name:
            return
    except OSError:
        pass
    write_private_file(path, data)


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _lock_descriptor(descriptor)
        yield
    finally:
        os.close(descriptor)  # also releases the lock


def _lock_descriptor(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no fcntl: the last writer wins
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
