"""Runs all triggers of an app: routes, crons and file watches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from hookline.errors import HooklineError
from hookline.runtime.triggers.trigger import Activation, ActivationHandler, ActivationResult, Trigger, TriggerKind

if TYPE_CHECKING:
    from hookline.runtime.triggers.cron import WallClock
    from hookline.runtime.triggers.http_routes import ListenOptions, Routes


_log = logging.getLogger("hookline")
_READY_TIMEOUT: Final = 10.0  # seconds to wait until file changes are seen


class Triggers:
    """Calls `fire` whenever a trigger fires.

    For a cron or file trigger `fire` may take as long as the turn: what happens meanwhile waits. For a route the client
    waits for its result, so it should return once the turn has started.

        async with Triggers(app.triggers, workspace, fire) as triggers: ...
    """

    def __init__(
        self,
        triggers: Iterable[Trigger],
        workspace: Path,
        fire: ActivationHandler,
        *,
        listen: ListenOptions | None = None,  # None: any free port on localhost and a new token
        clock: WallClock | None = None,  # None: the system clock
    ) -> None:
        self._triggers = tuple(triggers)
        self._workspace = workspace
        self._fire = fire
        self._listen = listen
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._routes: Routes | None = None
        self.address: str | None = None  # of the routes, such as http://127.0.0.1:8123
        self.token: str | None = None  # bearer token that requests need

    async def __aenter__(self) -> Self:
        """Raises HooklineError if the address is not available; then nothing runs."""
        self._start_routes()
        self._start_crons()
        try:
            await self._start_files()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    def _triggers_of(self, kind: TriggerKind) -> list[Trigger]:
        return [trigger for trigger in self._triggers if trigger.kind is kind]

    def _start_routes(self) -> None:
        triggers = self._triggers_of(TriggerKind.HTTP)
        if not triggers:
            return
        from hookline.runtime.triggers.http_routes import ListenOptions, Routes

        listen = self._listen or ListenOptions()
        routes = Routes(triggers, listen, self._fire)
        self.address, self.token = routes.bind(), listen.token
        self._start(routes.run)
        self._routes = routes

    def _start_crons(self) -> None:
        triggers = self._triggers_of(TriggerKind.CRON)
        if not triggers:
            return
        from hookline.runtime.triggers.cron import SystemWallClock, run_cron

        clock = self._clock or SystemWallClock()
        for trigger in triggers:
            self._start(partial(run_cron, trigger, self._fire_and_log, clock))

    async def _start_files(self) -> None:
        triggers = self._triggers_of(TriggerKind.FILE)
        if not triggers:
            return
        from hookline.runtime.triggers.file_changes import FileWatch

        watch = FileWatch(triggers, self._workspace, self._fire_and_log)
        running = self._start(watch.run)
        ready = asyncio.ensure_future(watch.watching.wait())
        try:
            await asyncio.wait((running, ready), timeout=_READY_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()

    def _start(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._log_failure(work))
        self._tasks.append(task)
        return task

    async def _log_failure(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except* HooklineError as errors:
            _log.error("a trigger stopped: %s", errors.exceptions[0])

    async def _fire_and_log(self, activation: Activation) -> ActivationResult:
        """No client waits for the result: errors go to the log, and the trigger stays active."""
        try:
            answer = await self._fire(activation)
        except HooklineError as error:
            _log.warning("trigger %s: %s", activation.trigger.id, error)
            return ActivationResult()
        if answer.denied is not None:
            _log.warning("trigger %s was denied: %s", activation.trigger.id, answer.denied)
        return answer

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        if self._routes is not None:  # its task may have been cancelled before it ran
            self._routes.close()
        for each in ended:
            if isinstance(each, Exception):
                raise each
