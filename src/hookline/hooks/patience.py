"""A hook's time stands still while a person is asked about a call that it makes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Final


class _Watch:
    """One hook's time limit. It runs again when the last of those who hold it lets go."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self.over = False
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._left = 0.0  # seconds
        self._held = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing is held of another loop's hook, or of one whose time is up."""
        when = self._limit.when()
        if self._loop is not asyncio.get_running_loop() or not self._runs or (when is None and not self._held):
            yield
            return
        if when is not None:
            self._left = when - self._loop.time()
            self._limit.reschedule(None)
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if not self._held and self._runs:
                self._limit.reschedule(self._loop.time() + self._left)

    @property
    def _runs(self) -> bool:
        return not self.over and not self._limit.expired()


_watches: Final[ContextVar[tuple[_Watch, ...]]] = ContextVar("watches", default=())  # of hooks within hooks' calls


@contextmanager
def timed(limit: asyncio.Timeout) -> Iterator[None]:
    watch = _Watch(limit)
    token = _watches.set((*_watches.get(), watch))
    try:
        yield
    finally:
        watch.over = True
        _watches.reset(token)


@contextmanager
def patient() -> Iterator[None]:
    """The time of every hook that led here stands still."""
    with ExitStack() as held:
        for watch in _watches.get():
            held.enter_context(watch.held())
        yield
