"""Pauses an event loop while a thread does what the loop has just asked it to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_MAX_SECONDS: Final = 0.002
_AGAIN_SECONDS: Final = 0.1


class LoopPause:
    """Lets threads work alone for a moment, if what they do is usually done by then.

    Only one thread at a time runs Python, and each call of the system is an opportunity to switch. On several processors a
    loop and a thread that are both busy wake each other up so often that together they take twice the processor time.

    Work that takes longer, because its disk is slow or something is locked, does not hold up the loop: the loop goes on
    after a moment, and does not wait again for a while.
    """

    def __init__(self) -> None:
        self._again_at = 0.0  # on the monotonic clock

    def wait(self, wait_until_done: Callable[[float], bool]) -> None:
        """`wait_until_done` gets a number of seconds, and returns False if nothing was done within them."""
        if time.monotonic() >= self._again_at and not wait_until_done(_MAX_SECONDS):
            self._again_at = time.monotonic() + _AGAIN_SECONDS
