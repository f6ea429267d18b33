"""One runtime for each workspace, opened when it is first used. All share the hub's store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings

SettingsFor = Callable[[Path], Awaitable[Settings]]


@dataclass(frozen=True, slots=True)
class _OpenRuntime:
    ready: asyncio.Future[Runtime]
    task: asyncio.Task[None]
    stop: asyncio.Event


class Runtimes:
    """`settings_for` gives the settings for a workspace; its store is the hub's."""

    def __init__(self, settings_for: SettingsFor) -> None:
        self._settings_for = settings_for
        self._open: dict[Path, _OpenRuntime] = {}

    async def get(self, workspace: Path) -> Runtime:
        """With its agent as it is now: somebody may have changed it since the runtime was opened.

        Raises HooklineError or ConfigError if the workspace cannot be used; the next call tries again.
        """
        place = workspace.resolve()
        known = self._open.get(place)
        if known is None or (known.task.done() and known.ready.done()):
            known = self._open[place] = self._start(place)
            return await asyncio.shield(known.ready)
        runtime = await asyncio.shield(known.ready)
        app = (await self._settings_for(place)).app
        if app is not None:
            runtime.use_app(app)
        return runtime

    @property
    def running(self) -> list[Runtime]:
        """Those that are open now."""
        done = [each.ready for each in self._open.values() if each.ready.done() and not each.task.done()]
        return [ready.result() for ready in done if ready.exception() is None]

    async def close(self) -> None:
        """Ends all, with their sessions' programs."""
        for each in self._open.values():
            each.stop.set()
        await asyncio.gather(*(each.task for each in self._open.values()), return_exceptions=True)
        self._open.clear()

    def _start(self, workspace: Path) -> _OpenRuntime:
        ready: asyncio.Future[Runtime] = asyncio.get_running_loop().create_future()
        ready.add_done_callback(lambda future: future.cancelled() or future.exception())  # marks it as retrieved
        stop = asyncio.Event()
        return _OpenRuntime(ready, asyncio.ensure_future(self._hold(workspace, ready, stop)), stop)

    async def _hold(self, workspace: Path, ready: asyncio.Future[Runtime], stop: asyncio.Event) -> None:
        """In a task of its own: what a runtime starts must be ended by the task that started it."""
        try:
            async with Runtime.open(workspace, await self._settings_for(workspace)) as runtime:
                ready.set_result(runtime)
                await stop.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)
