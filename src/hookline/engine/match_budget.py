"""How long matching may take: no text may hold up an agent, and no busy machine may make a guard hold."""

from __future__ import annotations

from time import perf_counter, thread_time
from typing import Final

MATCH_SECONDS: Final = 0.1  # seconds that all matching for one event may take


class MatchBudget:
    """Three quarters of MATCHING by the clock, and once they have passed, the last one by the thread's own time.

    Only then does it matter who used them, and the thread's own time is too dear to look at before.
    """

    __slots__ = ("_ends", "deadline")

    def __init__(self) -> None:
        self.deadline = perf_counter() + MATCH_SECONDS * 3 / 4
        self._ends: float | None = None  # by the thread's own time

    def extend(self) -> bool:
        """True if the deadline has passed but not by matching; there is a new one then."""
        now = perf_counter()
        if now <= self.deadline:
            return False
        left = self.remaining()
        if left is None:
            left = self._set_remaining(MATCH_SECONDS / 4)
        if left <= 0:
            return False
        self.deadline = now + left
        return True

    def is_overdrawn(self) -> bool:
        """True once matching used up twice what it may: until then, what is easily decided still is."""
        if perf_counter() <= self.deadline + MATCH_SECONDS or self.extend():
            return False
        left = self.remaining()
        return left is not None and left < -MATCH_SECONDS

    def remaining(self) -> float | None:
        """What is left of the thread's own time, where that is looked at already."""
        return None if self._ends is None else self._ends - thread_time()

    def resume(self, waited: float, left: float | None) -> None:
        """After `waited` seconds in which something else was done; `left` is what was left before."""
        self.deadline += waited
        if left is not None:
            self._set_remaining(left)

    def _set_remaining(self, left: float) -> float:
        self._ends = thread_time() + left
        return left
