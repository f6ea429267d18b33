"""The machine that we are on, as a host."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from hookline.errors import Unavailable
from hookline.hooks.host import Clock, Command, Finished, Limits, Nobody, Notice, Post, Posted, Script, SystemClock
from hookline.runners.background import Background
from hookline.runners.process import Slots, run
from hookline.runners.warm import AVAILABLE, interpreters, wanted

_LEVELS: Final = {
    "debug": logging.DEBUG,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.ERROR,
}

log = logging.getLogger("hookline")


class Here(Nobody):
    """Programs and scripts run, and counts are kept; there are no tools, no model and nobody to ask."""

    def __init__(
        self, limits: Limits, clock: Clock | None = None, slots: Slots | None = None, *, warm: bool = True
    ) -> None:
        """With `warm`, Python files that are asked again and again run in forks of an interpreter that has started."""
        self._limits = limits
        self._warm = warm and AVAILABLE
        self._slots = slots or Slots()
        self._background = Background()
        self.clock = clock or SystemClock()

    @property
    def limits(self) -> Limits:
        return self._limits

    async def run_program(self, command: Command) -> Finished:
        warm = interpreters() if self._warm and wanted.get() else None
        return await run(command, slots=self._slots, warm=warm)

    async def run_script(self, script: Script) -> Any:
        try:
            javascript = importlib.import_module("hookline.runners.javascript")
        except ImportError:
            raise Unavailable("scripts cannot be run here: there is no JavaScript engine") from None
        return await javascript.run(script, self)

    async def post(self, request: Post) -> Posted:
        from hookline.runners.posting import post

        return await post(request)

    async def publish(self, notice: Notice) -> None:
        """One line in the log, whatever the notice holds."""
        parts = (notice.hook, notice.title, notice.message)
        line = ": ".join(_one_line(part) for part in parts if part)
        log.log(_LEVELS.get(notice.level.lower(), logging.INFO), "%s", line, extra={"notice": notice})

    def later(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        self._background.later(work, session)

    async def drain(self, timeout: timedelta) -> int:
        """Waits for the background work of this loop; the rest is cancelled and its programs die. How many pieces were."""
        return await self._background.drain(timeout)


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
