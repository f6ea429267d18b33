"""Turns that start when files of the workspace change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from watchfiles import awatch

from hookline.errors import HooklineError
from hookline.patterns.globs import path_glob
from hookline.patterns.pattern import Pattern
from hookline.runtime.app import Trigger
from hookline.runtime.triggers.fired import Fire, fired
from hookline.runtime.triggers.tree import Changes, Tree

GATHER: Final = 200  # milliseconds within which changes are one
MOST_PATHS: Final = 100  # that are told; how many there were is told too
_LOOK: Final = 200  # milliseconds that ending the watch takes at most
_QUIET: Final = 2 * GATHER / 1000  # seconds without a change, after which a turn begins
_MOST_GATHERED: Final = 10  # times that it may come later because of one more change
_SETTLED: Final = 3 * GATHER / 1000  # seconds until what an agent wrote last has been told of
_NO_TEXT: Final = "Unable to decode path"  # what watchfiles says, and ends, when it meets such a name


def watchable(glob: str) -> bool:
    """True if it names files inside of a workspace."""
    return not os.path.isabs(glob) and ".." not in Path(glob).parts


@dataclass(slots=True)
class _Watch:
    trigger: Trigger
    glob: Pattern
    waiting: Changes = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, changes: Changes) -> None:
        for path, change in changes.items():
            if self.glob.search(path):
                self.waiting[path] = change
                self.woken.set()

    async def gathered(self) -> Changes:
        """Once something has changed, and nothing more does."""
        await self.woken.wait()
        for _ in range(_MOST_GATHERED):
            self.woken.clear()
            await asyncio.sleep(_QUIET)
            if not self.woken.is_set():
                break
        return self.taken()

    def taken(self) -> Changes:
        found, self.waiting = self.waiting, {}
        self.woken.clear()
        return found


class FileWatch:
    """All file triggers of one workspace. `watching` is set once changes are seen."""

    def __init__(self, triggers: Iterable[Trigger], workspace: Path, fire: Fire) -> None:
        self._watches = [_Watch(trigger, path_glob(trigger.at)) for trigger in triggers]
        self._tree = Tree(workspace, lambda path: any(watch.glob.search(path) for watch in self._watches))
        self._fire = fire
        self.watching = asyncio.Event()

    async def run(self) -> None:
        """Until it is cancelled. Raises HooklineError if the system cannot watch the workspace."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._look())
            for watch in self._watches:
                tasks.create_task(self._keep_firing(watch))

    async def _look(self) -> None:
        try:
            await asyncio.to_thread(self._tree.look)
            while True:
                await self._look_until_directories_change()
        except (OSError, RuntimeError, HooklineError) as error:
            raise HooklineError(f"changes in the workspace cannot be seen: {error}") from error

    async def _look_until_directories_change(self) -> None:
        """Each directory is watched by itself, for a link below it could lead anywhere."""
        watched = self._tree.directories
        async with aclosing(_changed_paths(watched)) as found:
            async for paths in found:
                if paths is None:  # at first: whatever came before the watch is in what it finds now
                    self._take(await asyncio.to_thread(self._tree.look))
                    self.watching.set()
                    if self._tree.directories != watched:
                        return
                elif self._tree.has_other_directories(paths):
                    return
                else:
                    self._take(self._tree.look_at(paths))

    def _take(self, changes: Changes) -> None:
        for watch in self._watches:
            watch.take(changes)

    async def _keep_firing(self, watch: _Watch) -> None:
        """What changes while a turn runs that it started is taken for the agent's own work, and starts none."""
        while True:
            changed = await watch.gathered()
            paths = sorted(changed)
            first = paths[0]
            await self._fire(
                fired(
                    watch.trigger,
                    datetime.now(UTC),
                    path=first,
                    change=changed[first],
                    paths=paths[:MOST_PATHS],
                    count=len(paths),
                )
            )
            await asyncio.sleep(_SETTLED)
            watch.taken()


async def _changed_paths(directories: Iterable[str]) -> AsyncGenerator[list[str] | None, None]:
    """None where all must be looked at: once they are watched, and before it ends because it must begin again."""
    changes = awatch(
        *sorted(directories),
        watch_filter=None,
        debounce=4 * GATHER,
        step=GATHER,
        rust_timeout=_LOOK,
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
    except (FileNotFoundError, ExceptionGroup) as failed:  # a directory went meanwhile, or a name is no text
        if isinstance(failed, ExceptionGroup) and _NO_TEXT not in str(failed.exceptions[0]):
            raise failed.exceptions[0] from None
        await asyncio.sleep(GATHER / 1000)
        yield None
