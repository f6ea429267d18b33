"""The content of the files that hooks run: what it was when the user accepted it, and whether it still is."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from hookline.config.reader import is_program_file
from hookline.hooks.actions.verified import FileChangedError, FileState
from hookline.lazy_dataclasses import dataclass
from hookline.project.referenced_files import OPEN_FLAGS, FileReferences, TooManyReferencesError, find_referenced_files
from hookline.project.trust_file import EXECUTABLE, content_digest

MAX_COPY_BYTES: Final = 1_000_000  # of one file; of larger ones only the digest is kept
_MAX_HASHED_BYTES: Final = 64_000_000  # larger files are identified by inode, size and times
_SETTLE_NANOSECONDS: Final = 20_000_000  # file systems count time in steps of up to 10 ms


@dataclass(frozen=True, slots=True)
class FileContent:
    digest: str  # of its bytes; a file that can be executed ends with EXECUTABLE
    stamp: tuple[int, ...]
    data: bytes | None = None  # None: it is too large, or cannot be read


def read_content(path: str | Path) -> FileContent:
    """Always reads the whole file: times alone would miss a write through a memory map."""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            is_small = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_HASHED_BYTES
            data = file.read(_MAX_HASHED_BYTES + 1) if is_small else None
    except (OSError, ValueError) as error:
        return FileContent(f"cannot be read: {getattr(error, 'errno', error)}", ())
    stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if data is None or len(data) > _MAX_HASHED_BYTES:
        return FileContent(" ".join(map(str, stamp)), stamp)
    mark = EXECUTABLE if os.access(path, os.X_OK) else ""
    return FileContent(content_digest(data) + mark, stamp, data)


def is_accepted(digest: str, accepted: str | None) -> bool:
    """Whether a file is as the user accepted it. A file that has become executable since is the same file."""
    return accepted is not None and accepted in (digest, digest.removesuffix(EXECUTABLE))


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files that one hook runs. `accepted` has the digest of each by its path from the project's root."""

    references: FileReferences
    root: Path
    directory: Path  # of the file that has the hook
    accepted: Mapping[str, str]
    document: Path  # the file itself is not one of them, unless it is a program
    private_bytecode: Path | None = None

    @property
    def bytecode(self) -> Path | None:
        """Where Python keeps the compiled form of these files, if any is Python: `__pycache__` is the agent's to write."""
        has_python = any(name.endswith((".py", ".pyw")) for name in self.accepted)
        return self.private_bytecode if has_python else None

    def paths(self, working_directories: Iterable[str] = ()) -> tuple[Path, ...]:
        """Raises TooManyReferencesError."""
        expected = [self.root / name for name in self.accepted]
        named = find_referenced_files(self.references, self.root, self.directory, expected, working_directories)
        own = None if is_program_file(self.document) else self.document
        run = [path for path in named if path != own]
        if not run:  # as in most files, which have no program
            return ()
        from hookline.project.script_imports import add_imported_files

        return tuple(path for path in add_imported_files(run, self.root, expected) if path != own)

    def read(self, working_directories: Iterable[str] = ()) -> FileState:
        try:
            paths = self.paths(working_directories)
        except TooManyReferencesError as too_many:
            raise FileChangedError(f"its files cannot be checked, because {too_many}") from None
        return check_contents(paths, self.root, self.accepted)


def check_contents(paths: Iterable[Path], root: Path, accepted: Mapping[str, str]) -> FileState:
    """Raises FileChangedError for the first file that is not as it was accepted."""
    stamps, newest = [], 0
    for path in paths:
        name = os.path.relpath(path, root)
        content = read_content(path)
        if not is_accepted(content.digest, accepted.get(name)):
            raise FileChangedError(f"the file {name} {_what_happened(name, content, accepted)}")
        stamps.append((name, *content.stamp))
        newest = max(newest, content.stamp[4] if content.stamp else 0)
    age = time.time_ns() - newest
    return FileState(tuple(stamps), is_settled=not 0 <= age < _SETTLE_NANOSECONDS)


def _what_happened(name: str, content: FileContent, accepted: Mapping[str, str]) -> str:
    if name not in accepted:
        return "is not among those that you trusted"
    if accepted[name] == content.digest + EXECUTABLE:
        return "cannot be executed any more since you trusted it"
    return f"{'was changed' if content.stamp else 'was deleted or cannot be read'} since you trusted it"
