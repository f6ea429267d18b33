"""This machine as a host, for somebody who does not wait for long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.host import Command, Finished, Function, Limits, Nobody, Notice, Script
from hookline.hooks.outcome import Failed, FailureKind
from hookline.runners.here import Here

_unhurried: Final[ContextVar[bool]] = ContextVar("unhurried", default=False)
_OVER: Final = "was not done when the agent stopped waiting for its hooks"


class Hurried(Nobody):
    """Whatever a hook waits for ends at the deadline, as a timeout of that hook: so its own on_error speaks.

    Background work is nobody's hurry and keeps its own time.
    """

    def __init__(self, here: Here, limits: Limits, until: float) -> None:
        """`until` is a time of the running loop."""
        self._here = here
        self._limits = limits
        self._until = until
        self.clock = here.clock

    @property
    def limits(self) -> Limits:
        return self._limits

    async def run_program(self, command: Command) -> Finished:
        return await self._here.run_program(replace(command, timeout=self._at_most(command.timeout)))

    async def run_script(self, script: Script) -> Any:
        return await self._here.run_script(replace(script, timeout=self._at_most(script.timeout)))

    async def run_function(self, call: Function) -> Any:
        if _unhurried.get():
            return await self._here.run_function(call)
        deadline: asyncio.Timeout | None = None
        try:
            async with asyncio.timeout_at(self._until) as deadline:
                return await self._here.run_function(call)
        except TimeoutError:
            if deadline is None or not deadline.expired():
                raise
            raise Failed(FailureKind.TIMEOUT, _OVER) from None

    async def publish(self, notice: Notice) -> None:
        await self._here.publish(notice)

    def later(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        async def in_its_own_time() -> None:
            _unhurried.set(True)
            await work()

        self._here.later(in_its_own_time, session)

    def _at_most(self, timeout: timedelta) -> timedelta:
        if _unhurried.get():
            return timeout
        left = self._until - asyncio.get_running_loop().time()
        if left <= 0:
            raise Failed(FailureKind.TIMEOUT, _OVER)
        return min(timeout, timedelta(seconds=left))
