"""Text files on disk: read whole, replaced in one step, removed."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from hookline.config.reader import MAX_FILE_BYTES
from hookline.errors import HooklineError


def read_file_text(path: Path) -> str | None:
    """None if the file does not exist. Raises HooklineError if it cannot be edited as text."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise HooklineError(f"{path} is not a file")
        data = path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise HooklineError(f"{path} is a link to a file that does not exist") from None
        return None
    except OSError as error:
        raise HooklineError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise HooklineError(f"{path} is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise HooklineError(f"{path} is not UTF-8, so it cannot be edited") from None


def write_atomically(path: Path, text: str, mode: int | None = None) -> None:
    """Replaces the file, or the target of a link, in one step. Without a mode, it keeps the file's own."""
    target = Path(os.path.realpath(path))
    if mode is None:
        current = file_mode(target)
        mode = 0o666 & ~_current_umask() if current is None else current
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8"))
                os.fchmod(descriptor, mode)
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise HooklineError(f"{path} cannot be written: {error.strerror}") from None


def write_backup(path: Path, text: str, mode: int | None) -> None:
    """A link in its place is replaced: a repository could have put it there, to one of your own files."""
    if path.is_symlink():
        remove_file(path)
    write_atomically(path, text, mode)


def remove_file(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise HooklineError(f"{path} cannot be removed: {error.strerror}") from None


def make_directories(directory: Path) -> tuple[Path, ...]:
    """Returns the directories that it created, outermost first."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    try:
        for each in reversed(missing):
            each.mkdir()
    except OSError as error:
        raise HooklineError(f"{missing[0]} cannot be created: {error.strerror}") from None
    return tuple(reversed(missing))


def remove_empty_directories(directories: tuple[Path, ...]) -> None:
    for directory in reversed(directories):
        with suppress(OSError):  # it is not empty any more
            directory.rmdir()


def file_mode(path: Path) -> int | None:
    """None if the file does not exist."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def executable_mode() -> int:
    """The mode of a new program."""
    return 0o777 & ~_current_umask()


def _current_umask() -> int:
    """The umask of this process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
