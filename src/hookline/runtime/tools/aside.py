"""Work that blocks, on threads of its own: nobody on the event loop waits for a disk."""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from hookline.runners.threads import Threads
from hookline.runtime.tools.workspace import Refused

T = TypeVar("T")
_AT_ONCE: Final = 8
_TO_END: Final = 1.0  # seconds past its time in which work that looks at the clock ends by itself

_pools: dict[tuple[int, str], Threads] = {}


class Until:
    """How long a piece of work may go on; it ends early when nobody waits for it any more."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._unwanted = False

    @property
    def over(self) -> bool:
        return self._unwanted or time.monotonic() >= self._end

    def check(self) -> None:
        """Raises Refused once it is over."""
        if self.over:
            raise Refused(f"it took more than {self.seconds:g} s")

    def give_up(self) -> None:
        self._unwanted = True


async def aside(work: Callable[[Until], T], seconds: float = 30.0, pool: str = "files") -> T:
    """What the work returns or raises. Raises Refused if it does not end in time; cancelled, the work is told so."""
    until = Until(seconds)
    threads = _pools.setdefault((os.getpid(), pool), Threads(f"hookline-{pool}", _AT_ONCE))
    future = threads.submit(partial(contextvars.copy_context().run, work, until))
    try:
        async with asyncio.timeout(seconds + _TO_END):
            result: T = await asyncio.wrap_future(future)
            return result
    except TimeoutError:
        if future.done():
            raise  # its own
        raise Refused(f"it did not end within {seconds:g} s") from None
    finally:
        until.give_up()
        threads.give_up(future)
