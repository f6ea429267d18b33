"""Resolves a path from a model inside the workspace, or refuses it.

A path is never resolved as a whole: it is walked step by step from the workspace's own descriptor, and no step follows a
link by itself. The target of a link is walked like the rest, so links within the workspace work, and the kernel refuses
a link that appears between check and use. A WorkspacePath keeps its directory open, not its name.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from hookline.errors import HooklineError, UndecidedError
from hookline.hooks.path_spellings import normalize_path, resolve_links
from hookline.lazy_dataclasses import dataclass

MAX_PATH_LENGTH: Final = 4096  # characters
_MAX_STEPS: Final = 512
_MAX_LINKS: Final = 40
_FILE_TYPES: Final = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class ToolError(HooklineError):
    """A refusal or failure, worded for the model."""


@dataclass(frozen=True, slots=True)
class WorkspacePath:
    """A name in an open directory; "." for the directory itself."""

    directory: int
    name: str
    path: str  # as messages show it, from the workspace's root

    def lstat(self) -> os.stat_result | None:
        """None if it does not exist. Links are not followed."""
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open(self) -> BinaryIO:
        """The file's bytes. Raises ToolError unless it is a regular file; others are not opened."""
        require_regular_file(self.lstat(), self.path)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(self.name, flags, dir_fd=self.directory)
        try:
            require_regular_file(os.fstat(descriptor), self.path)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise


class Workspace:
    """`judged` has where paths led when hooks decided about the call: a path that leads elsewhere now is refused."""

    def __init__(self, root: Path, judged: Mapping[str, str | None] | None = None) -> None:
        self._given_root = os.path.abspath(root)
        self._judged = judged or {}
        self.root = Path(os.path.realpath(root))
        self._root_steps = (_split_path(os.path.abspath(root)), _split_path(str(self.root)))

    @contextmanager
    def resolve(self, path: str, *, make: bool = False, follow: bool = True) -> Iterator[WorkspacePath]:
        """Raises ToolError, also for an OSError inside the `with` block.

        make: creates missing directories of the path. follow: a link at the end is resolved too.
        """
        try:
            target = self._resolve_steps(self._relative_steps(path), make, follow)
            try:
                self._require_judged(path, target)
                yield target
            finally:
                os.close(target.directory)
        except OSError as error:
            raise ToolError(f"{_shorten_path(path)}: {_describe_os_error(error)}") from None

    @contextmanager
    def directory(self, path: str) -> Iterator[tuple[int, str]]:
        """A directory's descriptor, and its path from the workspace's root: "" for the root."""
        with self.resolve(path) as target:
            found = target.lstat()
            if found is not None and not stat.S_ISDIR(found.st_mode):
                raise ToolError(f"{target.path} is not a directory")
            descriptor = open_directory(target.name, target.directory)
            try:
                yield descriptor, "" if target.path == "." else target.path
            finally:
                os.close(descriptor)

    def real_path(self, path: str) -> Path:
        """The absolute path of a directory of the workspace."""
        with self.directory(path) as (_, found):
            return self.root / found

    def relative_path(self, path: str) -> str:
        """A path or glob; an absolute one becomes relative to the workspace. Raises ToolError if it leads outside."""
        return "/".join(self._relative_steps(path)) if path.startswith("/") else path

    def _require_judged(self, path: str, target: WorkspacePath) -> None:
        """Raises ToolError if links were changed since the decision."""
        real = self._judged.get(os.path.join(self._given_root, path))
        if real is None:
            return
        now = os.path.normpath(os.path.join(self.root, target.path))
        found = target.lstat()
        if found is not None and stat.S_ISLNK(found.st_mode):  # the link itself is meant: only its directory counts
            entry = self._judged.get(os.path.join(self._given_root, os.path.dirname(path)))
            real, now = entry or os.path.dirname(now), os.path.dirname(now)
        if now != real:
            raise ToolError(f"{_shorten_path(path)} led to another file when hooks decided about this call")

    def _relative_steps(self, path: str) -> list[str]:
        _check_path(path)
        steps = _split_path(path)
        if not path.startswith("/"):
            return steps
        for root in self._root_steps:
            if steps[: len(root)] == root:
                return steps[len(root) :]
        raise _outside_error(path)

    def _resolve_steps(self, steps: list[str], make: bool, follow: bool) -> WorkspacePath:
        if sys.platform == "win32":
            raise ToolError("file tools do not work on Windows")
        walk = _DirectoryStack(open_directory(str(self.root), None), "/".join(steps) or ".")
        try:
            return self._follow_steps(walk, deque(steps), make, follow)
        finally:
            walk.close()

    def _follow_steps(self, walk: _DirectoryStack, todo: deque[str], make: bool, follow: bool) -> WorkspacePath:
        links = 0
        while todo:
            step = todo.popleft()
            if step == "..":
                walk.leave()
                continue
            target = walk.read_link(step) if follow or todo else None
            if target is not None:
                links += 1
                if target.startswith("/"):
                    walk.reset()
                todo.extendleft(reversed(self._link_steps(target, walk.given)))
                if links > _MAX_LINKS or len(todo) > _MAX_STEPS:
                    raise ToolError(f"{_shorten_path(walk.given)} has too many links")
            elif todo:
                walk.enter(step, make)
            else:
                return walk.finish(step)
        return walk.finish(".")

    def _link_steps(self, target: str, given: str) -> list[str]:
        try:
            return self._relative_steps(target)
        except ToolError:
            raise _outside_error(given) from None


def resolve_input_path(input: Any, workspace: Path) -> None:
    """Follows the links of a call's path, within `ResolvingOnce`: its tool then acts on the file that hooks judge."""
    path = input.get("path") if isinstance(input, dict) else None
    if isinstance(path, str) and path:
        root = os.path.abspath(workspace)
        for each in (path, os.path.dirname(path)):
            joined = os.path.join(root, each)
            with suppress(
                UndecidedError
            ):  # too long to follow: guards on it stop the call, and no file has such a name
                resolve_links(joined, normalize_path(joined), root)


class _DirectoryStack:
    """The open directories from the root down to the current one: `..` never asks the file system."""

    def __init__(self, root: int, given: str) -> None:
        self.given = given
        self._descriptors = [root]
        self._names: list[str] = []

    def leave(self) -> None:
        if not self._names:
            raise _outside_error(self.given)
        self._names.pop()
        os.close(self._descriptors.pop())

    def reset(self) -> None:
        while self._names:
            self.leave()

    def read_link(self, step: str) -> str | None:
        """The target of a link; None if it is not a link."""
        try:
            return os.readlink(step, dir_fd=self._descriptors[-1])
        except OSError:  # EINVAL: not a link, ENOENT: missing; opening it reports other errors
            return None

    def enter(self, step: str, make: bool) -> None:
        if len(self._names) >= _MAX_STEPS:
            raise ToolError(f"{_shorten_path(self.given)} is too deep")
        if make:
            with suppress(FileExistsError):
                os.mkdir(step, dir_fd=self._descriptors[-1])
        self._descriptors.append(open_directory(step, self._descriptors[-1]))
        self._names.append(step)

    def finish(self, name: str) -> WorkspacePath:
        """The path; it now owns the descriptor of the last directory."""
        names = self._names if name == "." else [*self._names, name]
        return WorkspacePath(self._descriptors.pop(), name, "/".join(names) or ".")

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())


def require_regular_file(found: os.stat_result | None, path: str) -> None:
    """Raises ToolError unless it is a regular file."""
    if found is None:
        raise ToolError(f"there is no file {_shorten_path(path)}")
    if not stat.S_ISREG(found.st_mode):
        what = next((what for test, what in _FILE_TYPES if test(found.st_mode)), "a special file")
        raise ToolError(f"{_shorten_path(path)} is {what}, not a file")


def open_directory(name: str, directory: int | None) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK
    if directory is None:
        return os.open(name, flags)
    return os.open(name, flags | os.O_NOFOLLOW, dir_fd=directory)


def _split_path(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]


def _check_path(path: str) -> None:
    if not path:
        raise ToolError("the path is empty")
    if "\0" in path:
        raise ToolError("the path contains a NUL character")
    if len(path) > MAX_PATH_LENGTH or path.count("/") > _MAX_STEPS:
        raise ToolError(f"the path {_shorten_path(path)} is too long")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError(f"the path {_shorten_path(path)} has characters that a file name cannot have") from None


def _outside_error(path: str) -> ToolError:
    return ToolError(f"{_shorten_path(path)} is outside the workspace")


def _describe_os_error(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or directory"
    return (error.strerror or str(error)).lower()


def printable_name(name: str) -> str:
    """The name with every unprintable character replaced, so that it fits on one line."""
    return name if name.isprintable() else "".join(char if char.isprintable() else "�" for char in name)


def _shorten_path(path: str) -> str:
    text = printable_name(path)
    return text if len(text) <= 200 else f"{text[:199]}…"
