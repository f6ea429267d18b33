"""File triggers: snapshots of the workspace, and the watch that fires when matching files change."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from watchfiles import awatch

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass, field
from hookline.patterns.matchers import path_glob
from hookline.patterns.pattern import Pattern
from hookline.runtime.triggers.trigger import ActivationHandler, Trigger, build_activation

IGNORED_DIRECTORIES: Final = frozenset(
    (".git", ".hookline", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".mypy_cache")
)
_VENV_MARKER: Final = "pyvenv.cfg"  # marks a virtual environment, whatever its name
MAX_DIRECTORIES: Final = 50_000

Changes: TypeAlias = dict[str, str]
"""Paths from the workspace, each with `added`, `modified` or `deleted`."""

_Stamp: TypeAlias = tuple[int, int, int]


class WorkspaceSnapshot:
    """The regular files whose relative path is `wanted`. Links are followed only to files inside the workspace."""

    def __init__(self, root: Path, wanted: Callable[[str], bool]) -> None:
        self.directories: frozenset[str] = frozenset()  # that may contain such files
        self._root = os.path.realpath(root)
        self._wanted = wanted
        self._files: dict[str, _Stamp] = {}

    def scan(self) -> Changes:
        """Compares the whole workspace with the last scan. Raises HooklineError if it is gone or too large."""
        if not os.path.isdir(self._root):
            raise HooklineError(f"{self._root} is gone")
        before, self._files, directories = self._files, {}, set[str]()
        for directory, entries in _walk_directories(self._root):
            directories.add(directory)
            if len(directories) > MAX_DIRECTORIES:
                raise HooklineError(f"{self._root} has more than {MAX_DIRECTORIES:,} directories")
            for path in entries:
                self._record(path)
        self.directories = frozenset(directories)
        return _differences(before, self._files)

    def scan_paths(self, paths: Iterable[str]) -> Changes:
        """Compares only these paths."""
        named = {os.path.relpath(path, self._root): path for path in paths}
        before = {name: self._files.pop(name) for name in named if name in self._files}
        for path in named.values():
            self._record(path)
        return _differences(before, {name: self._files[name] for name in named if name in self._files})

    def has_directory_changes(self, paths: Iterable[str]) -> bool:
        """True if one of the paths is a directory that was added or removed."""
        return any(
            (path in self.directories) != (os.path.isdir(path) and not os.path.islink(path))
            for path in paths
            if not IGNORED_DIRECTORIES.intersection(Path(os.path.relpath(path, self._root)).parts)
        )

    def _record(self, path: str) -> None:
        name = os.path.relpath(path, self._root)
        if not self._wanted(name) or IGNORED_DIRECTORIES.intersection(Path(name).parts):
            return
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(found.st_mode) and Path(os.path.realpath(path)).is_relative_to(self._root):
            self._files[name] = (found.st_mtime_ns, found.st_size, found.st_ino)


def _walk_directories(root: str) -> Iterator[tuple[str, list[str]]]:
    """Each directory with its other entries. Names that are not valid text are left out."""
    left = [root]
    while left:
        directory, others = left.pop(), []
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError:  # it was removed or is not readable
            continue
        if any(entry.name == _VENV_MARKER for entry in entries) and directory != root:
            continue
        for entry in entries:
            if not _is_encodable(entry.name):
                continue
            if not entry.is_dir(follow_symlinks=False):
                others.append(entry.path)
            elif entry.name not in IGNORED_DIRECTORIES:
                left.append(entry.path)
        yield directory, others


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _differences(before: dict[str, _Stamp], now: dict[str, _Stamp]) -> Changes:
    changes = {name: "deleted" for name in before if name not in now}
    for name, stamp in now.items():
        if name not in before:
            changes[name] = "added"
        elif before[name] != stamp:
            changes[name] = "modified"
    return changes


DEBOUNCE_MILLISECONDS: Final = 200  # changes within this time are reported together
MAX_PATHS: Final = 100  # paths in the facts; `count` has the total
_POLL_MILLISECONDS: Final = 200  # ending the watch takes at most this long
_QUIET_SECONDS: Final = 2 * DEBOUNCE_MILLISECONDS / 1000  # without a change before a turn starts
_MAX_DELAYS: Final = 10  # how often one more change may delay the turn
_SETTLE_SECONDS: Final = 3 * DEBOUNCE_MILLISECONDS / 1000  # until the agent's last writes have been reported
_UNDECODABLE_PATH: Final = "Unable to decode path"  # the error with which watchfiles stops at such a name


@dataclass(slots=True)
class _Watch:
    trigger: Trigger
    glob: Pattern
    waiting: Changes = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, changes: Changes) -> None:
        for path, change in changes.items():
            if self.glob.search(path):
                self.waiting[path] = change
                self.woken.set()

    async def wait_for_changes(self) -> Changes:
        """Waits for a change, and then until no further change comes."""
        await self.woken.wait()
        for _ in range(_MAX_DELAYS):
            self.woken.clear()
            await asyncio.sleep(_QUIET_SECONDS)
            if not self.woken.is_set():
                break
        return self.take_all()

    def take_all(self) -> Changes:
        found, self.waiting = self.waiting, {}
        self.woken.clear()
        return found


class FileWatch:
    """All file triggers of one workspace. `watching` is set as soon as changes are seen."""

    def __init__(self, triggers: Iterable[Trigger], workspace: Path, fire: ActivationHandler) -> None:
        self._watches = [_Watch(trigger, path_glob(trigger.at)) for trigger in triggers]
        self._tree = WorkspaceSnapshot(workspace, lambda path: any(watch.glob.search(path) for watch in self._watches))
        self._fire = fire
        self.watching = asyncio.Event()

    async def run(self) -> None:
        """Runs until it is cancelled. Raises HooklineError if the system cannot watch the workspace."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_workspace())
            for watch in self._watches:
                tasks.create_task(self._keep_firing(watch))

    async def _watch_workspace(self) -> None:
        try:
            await asyncio.to_thread(self._tree.scan)
            while True:
                await self._watch_until_directories_change()
        except (OSError, RuntimeError, HooklineError) as error:
            raise HooklineError(f"cannot watch the workspace: {error}") from error

    async def _watch_until_directories_change(self) -> None:
        """Watches each directory by itself: a link below it could lead anywhere."""
        watched = self._tree.directories
        async with aclosing(_changed_paths(watched)) as found:
            async for paths in found:
                if paths is None:  # watching has started: a full scan finds what changed before
                    self._dispatch(await asyncio.to_thread(self._tree.scan))
                    self.watching.set()
                    if self._tree.directories != watched:
                        return
                elif self._tree.has_directory_changes(paths):
                    return
                else:
                    self._dispatch(self._tree.scan_paths(paths))

    def _dispatch(self, changes: Changes) -> None:
        for watch in self._watches:
            watch.add(changes)

    async def _keep_firing(self, watch: _Watch) -> None:
        """Changes during a turn that the watch started count as the agent's own work and start no further turn."""
        while True:
            changed = await watch.wait_for_changes()
            paths = sorted(changed)
            first = paths[0]
            await self._fire(
                build_activation(
                    watch.trigger,
                    datetime.now(UTC),
                    path=first,
                    change=changed[first],
                    paths=paths[:MAX_PATHS],
                    count=len(paths),
                )
            )
            await asyncio.sleep(_SETTLE_SECONDS)
            watch.take_all()


async def _changed_paths(directories: Iterable[str]) -> AsyncGenerator[list[str] | None, None]:
    """The changed paths. None means scan everything: when watching starts, and before it has to restart."""
    changes = awatch(
        *sorted(directories),
        watch_filter=None,
        debounce=4 * DEBOUNCE_MILLISECONDS,
        step=DEBOUNCE_MILLISECONDS,
        rust_timeout=_POLL_MILLISECONDS,
        yield_on_timeout=True,
        recursive=False,
        ignore_permission_denied=True,
    )
    begun = False
    try:
        async with aclosing(changes) as found:
            async for each in found:
                if not begun:
                    begun = True
                    yield None
                if each:
                    yield sorted({path for _, path in each})
    except (FileNotFoundError, ExceptionGroup) as failed:  # a directory was removed, or a name is not valid text
        if isinstance(failed, ExceptionGroup) and _UNDECODABLE_PATH not in str(failed.exceptions[0]):
            raise failed.exceptions[0] from None
        await asyncio.sleep(DEBOUNCE_MILLISECONDS / 1000)
        yield None
