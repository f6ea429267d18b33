"""Turns that start when files of the workspace change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from watchfiles import Change, awatch

from hookline.errors import HooklineError
from hookline.patterns.globs import path_glob
from hookline.patterns.pattern import Pattern
from hookline.runtime.app import Trigger
from hookline.runtime.triggers.fired import Fire, fired

GATHER: Final = 200  # milliseconds within which changes are one
MOST_PATHS: Final = 100  # that are told; how many there were is told too
OURS: Final = frozenset((".git", ".hookline", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".mypy_cache"))
_LOOK: Final = 200  # milliseconds that ending the watch takes at most
_SETTLED: Final = 3 * GATHER / 1000  # seconds until what an agent wrote last has been told of


def watchable(glob: str) -> bool:
    """True if it names files inside of a workspace."""
    return not os.path.isabs(glob) and ".." not in Path(glob).parts


@dataclass(slots=True)
class _Watch:
    """Paths from the workspace, with what happened to each last."""

    trigger: Trigger
    glob: Pattern
    waiting: dict[str, str] = field(default_factory=dict)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, changes: Iterable[tuple[str, str]]) -> None:
        for path, change in changes:
            if self.glob.search(path):
                self.waiting[path] = change
                self.woken.set()

    def taken(self) -> dict[str, str]:
        found, self.waiting = self.waiting, {}
        self.woken.clear()
        return found


class FileWatch:
    """All file triggers of one workspace. `watching` is set once changes are seen."""

    def __init__(self, triggers: Iterable[Trigger], workspace: Path, fire: Fire) -> None:
        self._root = Path(os.path.realpath(workspace))
        self._watches = [_Watch(trigger, path_glob(trigger.at)) for trigger in triggers]
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
            await self._take_changes()
        except (OSError, RuntimeError) as error:
            raise HooklineError(f"changes in the workspace cannot be seen: {error}") from error

    async def _take_changes(self) -> None:
        changes = awatch(
            self._root,
            watch_filter=None,
            debounce=4 * GATHER,
            step=GATHER,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        async with aclosing(changes) as found:
            async for each in found:
                self.watching.set()
                told = [inside for change, path in sorted(each) if (inside := self._inside(change, path))]
                for watch in self._watches:
                    watch.take(told)

    async def _keep_firing(self, watch: _Watch) -> None:
        """What changes while a turn runs that it started is taken for the agent's own work, and starts none."""
        while True:
            await watch.woken.wait()
            changed = watch.taken()
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

    def _inside(self, change: Change, path: str) -> tuple[str, str] | None:
        """As the workspace calls it; None for what is nobody's business, or stands outside behind a link."""
        relative = os.path.relpath(path, self._root)
        parts = Path(relative).parts
        if not parts or parts[0] == ".." or OURS.intersection(parts) or os.path.isdir(path):
            return None
        if not Path(os.path.realpath(path)).is_relative_to(self._root):
            return None
        return relative, change.raw_str()
