"""The host that runs programs and scripts on this machine."""

from __future__ import annotations

from _thread import allocate_lock as Lock  # `threading` takes a millisecond to import
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from hookline.errors import UnavailableError
from hookline.hooks.host import (
    Clock,
    Command,
    FireLimiter,
    Notice,
    NullHost,
    PostRequest,
    PostResponse,
    ProgramResult,
    ScriptCall,
    SystemClock,
    starts_without_task,
)
from hookline.lazy_imports import lazy_logger

if TYPE_CHECKING:
    from hookline.runners.background import BackgroundTasks
    from hookline.runners.process import ProcessLimit

_OTHER_LEVELS: Final = {"warn": "warning", "critical": "error"}

log = lazy_logger("hookline")


class LocalHost(NullHost):
    """Runs programs and scripts and keeps counts. It has no tools, no model, and no person to ask."""

    def __init__(
        self, limits: FireLimiter, clock: Clock | None = None, slots: ProcessLimit | None = None, *, warm: bool = True
    ) -> None:
        """With `warm`, Python files that run repeatedly run in forks of a running interpreter."""
        self._limits = limits
        self._warm = warm
        self._slots = slots
        self._tasks: BackgroundTasks | None = None  # most hooks are waited for
        self._tasks_lock = Lock()
        self.clock = clock or SystemClock()

    @property
    def limits(self) -> FireLimiter:
        return self._limits

    async def run_program(self, command: Command) -> ProgramResult:
        from hookline.runners.process import ProcessLimit, run_program  # most hooks run no program
        from hookline.runners.warm.pool import IS_AVAILABLE, interpreter_pool, warm_enabled

        if self._slots is None:
            self._slots = ProcessLimit()
        warm = interpreter_pool() if self._warm and IS_AVAILABLE and warm_enabled.get() else None
        return await run_program(command, slots=self._slots, warm=warm)

    @starts_without_task
    async def run_script(self, script: ScriptCall) -> Any:
        try:
            from hookline.runners.javascript import run_script
        except ImportError:
            raise UnavailableError("cannot run JavaScript: the package quickjs-ng is missing") from None
        return await run_script(script, self)

    async def post(self, request: PostRequest) -> PostResponse:
        from hookline.runners.http_post import post_json

        return await post_json(request)

    async def publish(self, notice: Notice) -> None:
        """Logs the notice as one line."""
        from hookline.hooks.actions.notify import LEVELS

        parts = (notice.hook, notice.title, notice.message)
        line = ": ".join(_one_line(part) for part in parts if part)
        level = notice.level.lower()
        log.log(LEVELS.get(_OTHER_LEVELS.get(level, level), LEVELS["info"]), "%s", line, extra={"notice": notice})

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        self._background().schedule(work, session)

    async def wait_for_background(self, timeout: timedelta, session: str) -> None:
        """Waits for the session's background work on this loop, without cancelling it."""
        await self._background().wait(timeout, session)

    async def drain(self, timeout: timedelta) -> int:
        """Waits for this loop's background work and cancels the rest. Returns how many tasks were cancelled."""
        return await self._background().drain(timeout)

    def _background(self) -> BackgroundTasks:
        from hookline.runners.background import BackgroundTasks

        with self._tasks_lock:
            if self._tasks is None:
                self._tasks = BackgroundTasks()
            return self._tasks


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
